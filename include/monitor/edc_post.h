/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card's fast path: stores a token in the current CPU's ring in one restartable sequence (rseq(2)).
 * Included by edc.h. Next in the flow: edc_connect.h if this path fails; userspace/card/user_drain.cpp reads the rings.
 *
 * The sequence follows the conventions of librseq and of the C library, which has registered the rseq area: read
 * cpu_id, select its ring, check the ring's state, read the clock, store the token, store the state. If the thread is
 * preempted, migrated or receives a signal in between, the kernel restarts the sequence. So no other thread stores into
 * this ring in between, and since the clock is read inside the sequence, every ring is sorted by time. The last store
 * commits. The sequence fails if another thread wrote last, the token does not fit into the block, the block is 2^31
 * ticks old, or the CPU has no ring.
 *
 * Invariant: a token is complete once the state is stored, and does not exist before.
 */
#ifndef MONITOR_EDC_POST_H
#define MONITOR_EDC_POST_H

#include "edc_card.h"

#ifdef __cplusplus
extern "C" {
#endif

void edc_slow_(struct edc_class *cls, uint32_t arg, uint32_t count, const uint64_t *words);

#if defined(__x86_64__)

#ifndef EDC_RSEQ_BEGIN_ /* a test removes the protection and must see the damage */
#define EDC_RSEQ_BEGIN_                                                                        \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                   \
	".balign 32\n"                                                                         \
	"3:\n\t"                                                                               \
	".long 0, 0\n\t"                                                                       \
	".quad 1f, 2f - 1f, 4f\n\t"                                                            \
	".popsection\n\t"                                                                      \
	".pushsection __rseq_failure, \"ax\"\n\t"                                              \
	".byte 0x0f, 0xb9, 0x3d\n\t" /* ud1: makes the signature decode as its displacement */ \
	".long 0x53053053\n"                                                                   \
	"4:\n\t"                                                                               \
	"jmp %l[again]\n\t"                                                                    \
	".popsection\n\t"                                                                      \
	"leaq 3b(%%rip), %%rax\n\t"                                                            \
	"movq %%rax, %%fs:8(%[rseq])\n"                                                        \
	"1:\n\t"
#endif

#define EDC_WORD_(number)                                 \
	"movq (" #number " - 1) * 8(%[words]), %%rdx\n\t" \
	"movq %%rdx, %c[blocks] + " #number " * 8(%%rcx, %%r9, 8)\n\t"

enum edc_outcome { EDC_POSTED_, EDC_AGAIN_, EDC_SLOW_ };

/* The sequence for a token with `count` payload words; `head` is the token without its time. */
#define EDC_DEFINE_TRY_(count, stores)                                                                               \
	static inline                                                                                                \
	    __attribute__((always_inline)) enum edc_outcome edc_try_##count##_(uint64_t head, const uint64_t *words) \
	{                                                                                                            \
		struct edc_card *card = &edc_card_page_.card;                                                        \
                                                                                                                     \
		__asm__ goto(                                                                                        \
		    EDC_RSEQ_BEGIN_ "movl %%fs:4(%[rseq]), %%ecx\n\t" /* cpu_id */                                   \
				    "cmpl %[rings], %%ecx\n\t"                                                       \
				    "jae %l[slow]\n\t"                                                               \
				    "imulq %[ring_bytes], %%rcx\n\t"                                                 \
				    "addq %[first], %%rcx\n\t"                                                       \
				    "movq (%%rcx), %%r8\n\t" /* state */                                             \
				    "movq %%r8, %%r9\n\t"                                                            \
				    "xorq %[self], %%r9\n\t" /* the position, if we wrote last */                    \
				    "movq %%r9, %%rdx\n\t"                                                           \
				    "shrq %[position_bits], %%rdx\n\t"                                               \
				    "jnz %l[slow]\n\t"                                                               \
				    "leal -1(%%r9), %%edx\n\t" /* if no block is open, all ones after the mask */    \
				    "andl %[word_mask], %%edx\n\t"                                                   \
				    "cmpl %[last], %%edx\n\t"                                                        \
				    "ja %l[slow]\n\t"                                                                \
				    "andq %[mask], %%r9\n\t"                                                         \
				    "rdtsc\n\t"                                                                      \
				    "shlq $32, %%rdx\n\t"                                                            \
				    "orq %%rdx, %%rax\n\t"                                                           \
				    "movq %%rax, %%rdx\n\t"                                                          \
				    "subq 8(%%rcx), %%rdx\n\t" /* begin_time */                                      \
				    "shrq %[max_ticks], %%rdx\n\t"                                                   \
				    "jnz %l[slow]\n\t" stores "movl %%eax, %%eax\n\t"                                \
				    "shlq %[time_shift], %%rax\n\t"                                                  \
				    "orq %[head], %%rax\n\t"                                                         \
				    "movq %%rax, %c[blocks](%%rcx, %%r9, 8)\n\t"                                     \
				    "addq $1 + " #count ", %%r8\n\t"                                                 \
				    "movq %%r8, (%%rcx)\n" /* commits */                                             \
				    "2:\n\t"                                                                         \
		    :                                                                                                \
		    : [rseq] "r"(card->rseq), [rings] "m"(card->rings), [ring_bytes] "m"(card->ring_bytes),          \
		      [first] "m"(card->first), [mask] "m"(card->mask), [self] "r"(edc_self_), [head] "r"(head),     \
		      [words] "r"(words), [blocks] "i"(EDC_BLOCK_SIZE), [position_bits] "i"(EDC_USER_POSITION_BITS), \
		      [word_mask] "i"(EDC_USER_BLOCK_WORDS - 1), [last] "i"(EDC_USER_BLOCK_WORDS - 2 - count),       \
		      [max_ticks] "i"(EDC_BLOCK_MAX_TICKS_SHIFT), [time_shift] "i"(EDC_TIME_SHIFT)                   \
		    : "rax", "rcx", "rdx", "r8", "r9", "memory", "cc"                                                \
		    : again, slow);                                                                                  \
		return EDC_POSTED_;                                                                                  \
	again:                                                                                                       \
		return EDC_AGAIN_;                                                                                   \
	slow:                                                                                                        \
		return EDC_SLOW_;                                                                                    \
	}

#define EDC_WORDS_2_ EDC_WORD_(1) EDC_WORD_(2)
#define EDC_WORDS_4_ EDC_WORDS_2_ EDC_WORD_(3) EDC_WORD_(4)
EDC_DEFINE_TRY_(0, "")
EDC_DEFINE_TRY_(1, EDC_WORD_(1))
EDC_DEFINE_TRY_(2, EDC_WORDS_2_)
EDC_DEFINE_TRY_(3, EDC_WORDS_2_ EDC_WORD_(3))
EDC_DEFINE_TRY_(4, EDC_WORDS_4_)
EDC_DEFINE_TRY_(5, EDC_WORDS_4_ EDC_WORD_(5))
EDC_DEFINE_TRY_(6, EDC_WORDS_4_ EDC_WORD_(5) EDC_WORD_(6))
EDC_DEFINE_TRY_(7, EDC_WORDS_4_ EDC_WORD_(5) EDC_WORD_(6) EDC_WORD_(7))

/* `count` is a compile-time constant where it matters: one case remains. */
static inline __attribute__((always_inline)) enum edc_outcome edc_try_(uint64_t head, uint32_t count,
								       const uint64_t *words)
{
	switch (count) {
	case 0:
		return edc_try_0_(head, words);
	case 1:
		return edc_try_1_(head, words);
	case 2:
		return edc_try_2_(head, words);
	case 3:
		return edc_try_3_(head, words);
	case 4:
		return edc_try_4_(head, words);
	case 5:
		return edc_try_5_(head, words);
	case 6:
		return edc_try_6_(head, words);
	default:
		return edc_try_7_(head, words);
	}
}

#endif /* __x86_64__ */

/* Posts one event. `count` is a constant, 0 to EDC_MAX_WORDS. */
static inline __attribute__((always_inline)) void edc_post_(struct edc_class *cls, uint32_t arg, uint32_t count,
							    const uint64_t *words)
{
	uint32_t word = __atomic_load_n(&edc_card_page_.card.word, __ATOMIC_ACQUIRE);

	if (__builtin_expect(word == EDC_OFF_, 1))
		return;

#if defined(__x86_64__)
	uint32_t id = cls->id ^ count << 16; /* leaves the id if the class has `count` payload words */

	if (__builtin_expect(word == EDC_ON_ && id - 1 < EDC_ID_LAST, 1)) {
		enum edc_outcome outcome;

		do
			outcome = edc_try_((uint64_t)(uint16_t)arg << EDC_ARG_SHIFT | id, count, words);
		while (__builtin_expect(outcome == EDC_AGAIN_, 0));
		if (__builtin_expect(outcome == EDC_POSTED_, 1))
			return;
	}
#endif
	edc_slow_(cls, arg, count, words);
}

#ifdef __cplusplus
}
#endif

#endif
