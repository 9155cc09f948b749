/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The matcher: which of many patterns an event matches, in a time that hardly depends on how many there are. It is that
 * of REMS (NBSIR 87-3663, 3.3 to 3.6): a value of the event is replaced by the number of the interval that it is in,
 * each interval has a row of bits, one for each pattern, and the rows of all values are ANDed. A pattern that does not
 * care about a value has its bit set in every row of it.
 *
 *     class -> its values -> number of the interval -> row of bits --AND--> patterns that match -> kept or not
 *              (dimensions)  (direct, or a search)
 *
 * A pattern is of one class, and says for some values of its events in which ranges they must be. Tables are made by
 * userspace/answers/matcher/ from an expression, and used by the BPF card (bpf/judge.bpf.h), the kernel module
 * (kmod/match.c), the drain of programs' events (userspace/recording/user_card/user_filter.h) and the tests.
 *
 * Plain C for BPF, kernel and user space. Invariant: whatever the tables hold, nothing outside of them is read: every
 * index is masked. Wrong tables give wrong answers.
 */
#ifndef MONITOR_MATCHER_H
#define MONITOR_MATCHER_H

#include "card.h"

/* Capacities. All but the first are of all classes together; EDC_MATCH_PATTERNS is in card.h. */
#define EDC_MATCH_VALUES_USED 8 /* values of a class that its patterns look at: dimensions */
#define EDC_MATCH_DIMENSIONS 512
#define EDC_MATCH_BOUNDS 8192
#define EDC_MATCH_ROWS 8192
#define EDC_MATCH_TARGETS 8192

/*
 * What a pattern is for, if not for the filter: a count, by number, the starts or ends of a time (timing.h), or the
 * inputs of triggers (trigger.h). Those but the counts are also bits, from EDC_TARGET_STARTS on.
 */
#define EDC_TARGET_STARTS EDC_MATCH_COUNTS
#define EDC_TARGET_ENDS (EDC_TARGET_STARTS + EDC_TIMES)
#define EDC_TARGET_INPUTS (EDC_TARGET_ENDS + EDC_TIMES)
#define EDC_TARGETS (EDC_TARGET_INPUTS + EDC_TRIGGER_INPUTS)
#define EDC_FIRST_INPUT (EDC_TARGET_INPUTS - EDC_TARGET_STARTS) /* as a bit */

#define EDC_MATCH_STEPS 10   /* of a search: at most 1023 bounds of a dimension */
#define EDC_MATCH_DIRECT 512 /* a dimension whose last bound is at most this needs no search */

/* Which events of a class are kept. */
#define EDC_MATCH_KEEP 0 /* all of them */
#define EDC_MATCH_ASK 1  /* those that match a pattern of `keeping` */
#define EDC_MATCH_NONE 2 /* none */

/* For a class that is decided as a whole: its events also count, as this number. */
#define EDC_MATCH_COUNTS_ALL(number, decision) ((decision) | ((number) + 1) << 8)

struct edc_match_class {
	__u32 whole; /* EDC_MATCH_ASK: look at each event; else what becomes of all, which are neither counted nor timed
		      */
	__u32 decision;    /* EDC_MATCH_* above */
	__u32 asks;        /* whether there are patterns to look at */
	__u32 wanted;      /* bits of EDC_VALUE_*: the values that must be fetched */
	__u32 texts;       /* bits of EDC_VALUE_*: words of texts */
	__u32 text_starts; /* of these, the first words of texts */
	__u32 first, dimensions;
	__u32 words;        /* words of each row that are in use */
	__u32 first_target; /* in edc_matcher.target: of pattern 0 */
	__u32 in_probe;     /* `whole`; EDC_MATCH_COUNTS_ALL() if one count of all events is everything else there is */
	__u32 pad;
	__u64 counted; /* bits of counts: all events of the class count */
	__u64 belongs; /* bits from EDC_TARGET_STARTS on: all of its events are starts, ends or inputs of these */
	__u64 patterns[EDC_MATCH_WORDS]; /* of this class */
	__u64 keeping[EDC_MATCH_WORDS];  /* of these, the filter's; the others are of counts */
};

struct edc_match_dimension {
	__u64 mask, flip; /* key = (value >> shift & mask) ^ flip */
	__u32 value, shift;
	__u32 first_bound, steps; /* 0 steps: the key is the row's number */
	__u32 first_row, last;    /* number of the last row, from first_row */
};

/* By what a start and its end belong together: a number in the values of an event. No bits: always 0. */
struct edc_match_key {
	__u8 value, shift, bits;
	__u8 is_signed;
};

struct edc_matcher {
	struct edc_match_class cls[EDC_CARD_CLASSES];
	struct edc_match_key key[EDC_TARGETS - EDC_TARGET_STARTS][EDC_CARD_CLASSES]; /* by slot */
	struct edc_match_dimension dimension[EDC_MATCH_DIMENSIONS];
	__u64 bound[EDC_MATCH_BOUNDS]; /* of each dimension: where its intervals 1, 2, ... begin; then ~0 */
	__u64 row[EDC_MATCH_ROWS][EDC_MATCH_WORDS];
	__u8 target[EDC_MATCH_TARGETS]; /* of each pattern: EDC_TARGET_* */
	struct edc_trigger trigger[EDC_TRIGGERS];
	__u64 zero; /* 0, which the verifier does not know: from a constant it would follow all 2^10 ways of a search */
};

/*
 * The number of the lowest bit that is set, without a branch: BPF has no instruction for it, and the verifier follows
 * each way of a search. A de Bruijn sequence: its 64 windows of 6 bits are all different (Leiserson et al., "Using de
 * Bruijn Sequences to Index a 1 in a Computer Word", 1998).
 */
#define EDC_DE_BRUIJN 0x03f79d71b4cb0a89ull
static const __u8 edc_bit_numbers[64] = {0,  1,  48, 2,  57, 49, 28, 3,  61, 58, 50, 42, 38, 29, 17, 4,
					 62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
					 63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11,
					 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,  13, 8,  7,  6};

EDC_MATCH_INLINE __u32 edc_lowest_bit(__u64 bits)
{
	return edc_bit_numbers[(bits & -bits) * EDC_DE_BRUIJN >> 58];
}

/* Makes each text's words comparable as big-endian numbers, and clears what follows its first NUL. */
EDC_MATCH_INLINE void edc_match_texts(__u64 *value, __u32 texts, __u32 starts)
{
	const __u64 ones = 0x0101010101010101ull;
	__u64 kept = ~0ull;

	for (__u32 words = 0; words < EDC_MATCH_VALUES && texts; words++) {
		__u32 i = edc_lowest_bit(texts) & (EDC_MATCH_VALUES - 1);
		__u64 word, nul;

		texts &= texts - 1;
		if (starts >> i & 1)
			kept = ~0ull;
		word = value[i] & kept;
		nul = (word - ones) & ~word & ones << 7;
		if (nul) {
			word &= (nul & -nul) - 1; /* the lowest NUL is the first, and its own bits are 0 */
			kept = 0;
		}
		value[i] = __builtin_bswap64(word);
	}
}

EDC_MATCH_INLINE const __u64 *edc_match_row(const struct edc_matcher *matcher, const struct edc_match_dimension *of,
					    __u64 key)
{
	__u64 number = key;

	if (of->steps) {
		number = *(const volatile __u64 *)&matcher->zero;
		for (__u32 i = 0; i < EDC_MATCH_STEPS; i++) {
			__u64 further;

			if (i >= of->steps)
				break;
			further = number + (1u << ((of->steps - 1 - i) & 31));
			if (key >= matcher->bound[(of->first_bound + further - 1) & (EDC_MATCH_BOUNDS - 1)])
				number = further;
		}
	}
	if (number > of->last)
		number = of->last;
	return matcher->row[(of->first_row + number) & (EDC_MATCH_ROWS - 1)];
}

/*
 * Which patterns match an event of the class in `slot`, as bits in the class's words of `hit`; returns whether there is
 * any. `value` is indexed by EDC_VALUE_*, and its texts are changed.
 */
EDC_MATCH_INLINE int edc_match(const struct edc_matcher *matcher, __u32 slot, __u64 *value, __u64 *hit)
{
	const struct edc_match_class *cls = &matcher->cls[slot & (EDC_CARD_CLASSES - 1)];
	__u64 any = cls->patterns[0];

	hit[0] = any;
	if (cls->words > 1)
		for (__u32 word = 1; word < EDC_MATCH_WORDS; word++)
			any |= hit[word] = cls->patterns[word];
	if (cls->texts)
		edc_match_texts(value, cls->texts, cls->text_starts);
	for (__u32 i = 0; i < EDC_MATCH_VALUES_USED; i++) {
		const struct edc_match_dimension *of;
		const __u64 *row;

		if (i >= cls->dimensions)
			break;
		of = &matcher->dimension[(cls->first + i) & (EDC_MATCH_DIMENSIONS - 1)];
		row = edc_match_row(
		    matcher, of, (value[of->value & (EDC_MATCH_VALUES - 1)] >> (of->shift & 63) & of->mask) ^ of->flip);
		any = hit[0] &= row[0];
		if (cls->words > 1)
			for (__u32 word = 1; word < EDC_MATCH_WORDS; word++)
				any |= hit[word] &= row[word];
		if (!any)
			return 0;
	}
	return any != 0;
}

/* Whether an event of the class is kept, after edc_match() or, if the class asks nothing, without it. */
EDC_MATCH_INLINE int edc_match_keeps(const struct edc_match_class *cls, const __u64 *hit)
{
	__u64 any = 0;

	if (cls->decision != EDC_MATCH_ASK)
		return cls->decision == EDC_MATCH_KEEP;
	for (__u32 word = 0; word < EDC_MATCH_WORDS && word < cls->words; word++)
		any |= hit[word] & cls->keeping[word];
	return any != 0;
}

/*
 * Adds 1 to the counts of the patterns that were hit, and returns what else it belongs to, as in
 * edc_match_class.belongs. Each target has at most one of the patterns that an event matches.
 */
EDC_MATCH_INLINE __u64 edc_match_count(const struct edc_matcher *matcher, const struct edc_match_class *cls,
				       const __u64 *hit, __u64 *count)
{
	__u64 belongs = 0;

	for (__u32 word = 0; word < EDC_MATCH_WORDS && word < cls->words; word++) {
		__u64 bits = hit[word] & ~cls->keeping[word];

		for (__u32 i = 0; i < 64 && bits; i++) {
			__u32 pattern = 64 * word + edc_lowest_bit(bits);
			__u32 target = matcher->target[(cls->first_target + pattern) & (EDC_MATCH_TARGETS - 1)];
			__u64 is_other = target >= EDC_TARGET_STARTS;

			belongs |= is_other << ((target - EDC_TARGET_STARTS) & 63);
			count[target & (EDC_MATCH_COUNTS - 1)] += 1 - is_other;
			bits &= bits - 1;
		}
	}
	return belongs;
}

/* The same for those that all events of the class belong to. */
EDC_MATCH_PART void edc_match_count_all(__u64 counted, __u64 *count)
{
	for (__u32 i = 0; i < EDC_MATCH_COUNTS && counted; i++) {
		count[edc_lowest_bit(counted) & (EDC_MATCH_COUNTS - 1)]++;
		counted &= counted - 1;
	}
}

/* `of`: a bit, as in edc_match_class.belongs. */
EDC_MATCH_INLINE __u64 edc_match_key_of(const struct edc_matcher *matcher, __u32 of, __u32 slot, const __u64 *value)
{
	const struct edc_match_key *key =
	    &matcher->key[of & (EDC_TARGETS - EDC_TARGET_STARTS - 1)][slot & (EDC_CARD_CLASSES - 1)];
	__u32 bits = key->bits;
	__u64 number, sign;

	if (!bits)
		return 0;
	number = value[key->value & (EDC_MATCH_VALUES - 1)] >> (key->shift & 63) & ~0ull >> ((64 - bits) & 63);
	sign = (__u64)key->is_signed << ((bits - 1) & 63);
	return (number ^ sign) - sign;
}

/*
 * Whether all events of a kernel class are kept because others cannot be understood without them: which threads run and
 * their names, and what belongs to another token (readings of counters, stacks, firings of triggers).
 */
#define EDC_ALWAYS_KEPT(id)                                                                                        \
	(((id) <= EDC_ID_SCHED_PROCESS_EXIT_NAMED && (id) != EDC_ID_SCHED_WAKING &&                                \
	  (id) != EDC_ID_SCHED_MIGRATE_TASK) ||                                                                    \
	 ((id) >= EDC_ID_COUNTERS && (id) < EDC_ID_COUNTERS_SCALED + EDC_COUNTER_SETS) || (id) == EDC_ID_RATIOS || \
	 (id) == EDC_ID_COUNTERS_RESET || ((id) >= EDC_ID_STACK_SAMPLE && (id) <= EDC_ID_STACK_END) ||             \
	 (id) == EDC_ID_TRIGGER_FIRED)

/* These are posted past the matcher: they belong to other tokens. */
#define EDC_NEVER_COUNTED(id) (EDC_ALWAYS_KEPT(id) && (id) > EDC_ID_SCHED_PROCESS_EXIT_NAMED)

/* Thread 0 of every CPU, as readers name it. */
EDC_MATCH_INLINE void edc_name_idle(__u64 *name)
{
	name[0] = 'i' | 'd' << 8 | 'l' << 16 | 'e' << 24;
	name[1] = 0;
}

EDC_ASSERT(EDC_MATCH_WORDS == 4);
EDC_ASSERT(EDC_MATCH_VALUES == 16);
EDC_ASSERT(EDC_MATCH_COUNTS <= 64);
EDC_ASSERT(sizeof(struct edc_match_class) == 128);
EDC_ASSERT(sizeof(struct edc_match_key) == 4);
EDC_ASSERT(EDC_TARGETS - EDC_TARGET_STARTS == 64); /* as bits */
EDC_ASSERT(sizeof(struct edc_match_dimension) == 40);
EDC_ASSERT((EDC_MATCH_DIMENSIONS & (EDC_MATCH_DIMENSIONS - 1)) == 0);
EDC_ASSERT((EDC_MATCH_BOUNDS & (EDC_MATCH_BOUNDS - 1)) == 0);
EDC_ASSERT((EDC_MATCH_ROWS & (EDC_MATCH_ROWS - 1)) == 0);
EDC_ASSERT((EDC_MATCH_TARGETS & (EDC_MATCH_TARGETS - 1)) == 0);

#endif
