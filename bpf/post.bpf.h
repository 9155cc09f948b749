/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * post(): the way from a probe into a ring. Every probe of this card calls it, except those of reset.bpf.c, which
 * may be preempted and have rings of their own, into which they write with reserve() and commit().
 *
 * It counts the event as seen, selects the ring of this CPU's nesting level, checks the filter, reads the clock and
 * stores the token. Precondition: a probe is not preempted (then probes on one CPU nest last-in-first-out,
 * so a plain depth counter gives each a separate ring and every ring has one writer at a time). The preflight finds
 * out which attach type guarantees that on the running kernel, see userspace/recording/calibration/preflight.h.
 *
 * Cost by part: the lookups and stores are not measurable next to bpf_ktime_get_ns() and the attachment itself.
 */
#ifndef MONITOR_BPF_POST_H
#define MONITOR_BPF_POST_H

#include "fire.bpf.h"
#include "judge.bpf.h"
#include "stack.bpf.h"

#include "monitor/kernel_events.h"
#include "monitor/kernel_post.h"

INLINE bool passes_filter(__s32 target)
{
	return !filtering || target == EDC_FILTER_NONE || is_traced(current_process()) ||
	       (target > 0 && is_traced(target));
}

/*
 * post() with --count-only. `filtered` is written first and read last, so a concurrent reader never has a rejected
 * event in `seen` that is not in `filtered`.
 */
INLINE void only_count(struct edc_cpu *cpu, __u32 depth, __u32 id, __s32 target)
{
	if (depth >= EDC_CARD_LEVELS) {
		__sync_fetch_and_add(&cpu->too_deep[id - EDC_ID_KERNEL_FIRST], 1);
		return;
	}

	__u64 *filtered = &cpu->level[depth].filtered[id - EDC_ID_KERNEL_FIRST];
	__u64 *seen = &cpu->level[depth].seen[id - EDC_ID_KERNEL_FIRST];

	if (!passes_filter(target))
		WRITE(*filtered, READ(*filtered) + 1);
	WRITE(*seen, READ(*seen) + 1);
}

#define JUDGED(id) (decisions[(id)-EDC_ID_KERNEL_FIRST] != EDC_MATCH_KEEP)
/* Compiled out where the caller knows that no event of the class is judged. */
#define MAY_FIRE(judged, id) (!(__builtin_constant_p(judged) && !(judged)) && JUDGED(id))
/* Not at a switch: counters are read there anyway, and its probe has no stack left. */
#define MAY_READ(id) ((id) != EDC_ID_SCHED_SWITCH && (id) != EDC_ID_THREAD_COUNTS)

#ifndef IS_KNOWN /* tests may define it */
#define IS_KNOWN(id) __builtin_constant_p(id)
#endif
/* A class id that is no constant is never plain: the probe would contain both paths. */
#define PLAIN(id) (IS_KNOWN(id) && plain[((id)-EDC_ID_KERNEL_FIRST) / 64] >> ((id)-EDC_ID_KERNEL_FIRST) % 64 & 1)

/* The post() of plain events. */
INLINE void post_plain(struct edc_cpu *cpu, __u32 depth, __u64 time, __u32 id, __u32 arg, const __u64 *words,
		       __u32 count)
{
	if (__builtin_expect(depth < EDC_CARD_LEVELS, 1)) {
		cpu->level[depth].seen[id - EDC_ID_KERNEL_FIRST]++;
		write_token(cpu, depth, time, id, arg, words, count);
	} else {
		__sync_fetch_and_add(&cpu->too_deep[id - EDC_ID_KERNEL_FIRST], 1);
	}
}

/*
 * `judged`: events of the class are judged; recomputed where saving it would take stack. `target`: the process that the
 * event is about, or EDC_FILTER_*; see kernel_events.h.
 */
INLINE int post_on(struct edc_cpu *cpu, bool judged, __u64 time, __u32 id, __s32 target, __u32 arg, const __u64 *words,
		   __u32 count)
{
	if (!cpu || READ(cpu->stopped))
		return 0;

	__u32 depth = READ(cpu->depth);

	WRITE(cpu->depth, depth + 1);
	barrier();
	if (PLAIN(id)) {
		post_plain(cpu, depth, time, id, arg, words, count);
	} else if (counting_only) {
		only_count(cpu, depth, id, target);
	} else if (depth < EDC_CARD_LEVELS) {
		cpu->level[depth].seen[id - EDC_ID_KERNEL_FIRST]++;
		if (passes_filter(target) && (!judged || keeps(0, cpu, depth, &time, id, arg, words, count))) {
			if (!pausing || !leaves_out(cpu, depth, id,
						    MAY_FIRE(judged, id) && cpu->level[depth].fires & start_triggers)) {
				write_token(cpu, depth, time, id, arg, words, count);
				if (stacks_on && (has_stack(id, arg) ||
						  (MAY_FIRE(judged, id) && fires_stack(READ(cpu->level[depth].fires)))))
					write_stack_of_event(depth, READ(cpu->level[depth].ring.last_time), id);
			}
		} else {
			cpu->level[depth].filtered[id - EDC_ID_KERNEL_FIRST]++;
		}
		if (triggering && MAY_FIRE(judged, id) && cpu->level[depth].fires) {
			__u64 due = MAY_READ(id) ? cpu->level[depth].fires & reading_triggers : 0;

			fire_all(cpu, depth);
			if (MAY_READ(id))
				read_counters_for(due);
		}
	} else {
		__sync_fetch_and_add(&cpu->too_deep[id - EDC_ID_KERNEL_FIRST], 1);
	}
	barrier();
	WRITE(cpu->depth, depth);
	return 0;
}

INLINE struct edc_cpu *this_cpu(void)
{
	__u32 cpu_id = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu_id);
}

INLINE int post(bool judged, __u64 time, __u32 id, __s32 target, __u32 arg, const __u64 *words, __u32 count)
{
	return post_on(this_cpu(), judged, time, id, target, arg, words, count);
}

/*
 * post_NAME() and its variants, from card.h's table: kernel_events.h. post_NAME_at() takes the time, 0 for now,
 * post_NAME_on() the result of this_cpu(). post_NAME_any_card() posts to the card that owns the rings, this one or the
 * module. It is for tp_btf programs whose classes the module does not probe: programs of other types must not even name
 * a kfunc, or the kernel rejects them while the module is loaded. EDC_PACK() declares `arg_` and `words_`; `words` is
 * the number of payload words.
 */
#define POST_FUNCTIONS(id, IDENT, ident, name, family, words, fields)                                             \
	INLINE int post_##ident(EDC_PARAMETERS(fields))                                                           \
	{                                                                                                         \
		EDC_PACK(words, fields);                                                                          \
		return post(JUDGED(EDC_ID_##IDENT), 0, EDC_ID_##IDENT, EDC_FILTER_CURRENT, arg_, words_, words);  \
	}                                                                                                         \
	INLINE int post_##ident##_on(struct edc_cpu *cpu_, EDC_PARAMETERS(fields))                                \
	{                                                                                                         \
		EDC_PACK(words, fields);                                                                          \
		return post_on(cpu_, JUDGED(EDC_ID_##IDENT), 0, EDC_ID_##IDENT, EDC_FILTER_CURRENT, arg_, words_, \
			       words);                                                                            \
	}                                                                                                         \
	INLINE int post_##ident##_of(__s32 target_, EDC_PARAMETERS(fields))                                       \
	{                                                                                                         \
		EDC_PACK(words, fields);                                                                          \
		return post(JUDGED(EDC_ID_##IDENT), 0, EDC_ID_##IDENT, target_, arg_, words_, words);             \
	}                                                                                                         \
	INLINE int post_##ident##_at(__u64 time_, __s32 target_, EDC_PARAMETERS(fields))                          \
	{                                                                                                         \
		EDC_PACK(words, fields);                                                                          \
		return post(JUDGED(EDC_ID_##IDENT), time_, EDC_ID_##IDENT, target_, arg_, words_, words);         \
	}                                                                                                         \
	INLINE int post_##ident##_any_card(EDC_PARAMETERS(fields))                                                \
	{                                                                                                         \
		EDC_PACK(words, fields);                                                                          \
		if (!posts_to_module)                                                                             \
			return post(JUDGED(EDC_ID_##IDENT), 0, EDC_ID_##IDENT, EDC_FILTER_CURRENT, arg_, words_,  \
				    words);                                                                       \
		return words ? edc_post_payload(EDC_ID_##IDENT, arg_, words_, 8 * words)                          \
			     : edc_post(EDC_ID_##IDENT, arg_);                                                    \
	}
EDC_KERNEL_CLASSES(POST_FUNCTIONS)
#undef POST_FUNCTIONS

#ifdef __clang__ /* tests compile this with gcc */
/* From here on a value that is wider than its field does not compile. */
#pragma clang diagnostic error "-Wimplicit-int-conversion"
#pragma clang diagnostic error "-Wshorten-64-to-32"
#endif

#endif
