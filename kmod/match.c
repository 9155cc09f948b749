// SPDX-License-Identifier: GPL-2.0-only
/*
 * The matcher of record --filter, --count and --time (include/monitor/matcher.h, timing.h): tables that the recorder
 * made, and the judgement of an event. Posters use them with preemption disabled, so a grace period ends the use of
 * those that were replaced. Nothing in them is trusted: the matcher masks every index.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "monitor/matcher.h"

#include "module.h"

struct edc_matcher *edc_matching;

/* The starts that wait for an end, of each time. Its life is longer than that of the tables: see edc_match_set(). */
static struct edc_begun *begun;
static u32 times_begun;

static void time_event(const struct edc_matcher *matcher, struct edc_cpu *cpu, const u64 *value, u32 slot, u32 times)
{
	while (times) {
		/* ends first: an event may end one and start the next */
		const u32 ends = times >> EDC_TIMES, number = edc_lowest_bit(ends ?: times);
		const u32 of = ends ? number + EDC_TIMES : number;
		const u64 key = edc_match_key_of(matcher, of, slot, value);

		times &= ~(1u << of);
		if (number >= times_begun)
			continue;
		if (ends)
			edc_timed_end(&cpu->timed[number], &begun[number], key, value[EDC_VALUE_TIME]);
		else
			edc_timed_start(&cpu->timed[number], &begun[number], key, value[EDC_VALUE_TIME]);
	}
}

/* As the token will have it. */
static u64 time_of_token(struct edc_ring *ring)
{
	const u64 time = get_cycles();

	if (time >= ring->last_time)
		return time;
	ring->clamped++;
	return ring->last_time;
}

bool edc_judge(const struct edc_matcher *matcher, struct edc_cpu *cpu, u32 level, u32 id, u32 arg, const u64 *words,
	       u32 count, u64 *time)
{
	const u32 slot = id - EDC_ID_KERNEL_FIRST;
	const struct edc_match_class *cls = &matcher->cls[slot];
	struct edc_level *at = &cpu->level[level];
	u64 *value = at->value;
	u32 times = cls->timed, i;
	bool kept = cls->decision == EDC_MATCH_KEEP;

	if (cls->whole != EDC_MATCH_ASK)
		return cls->whole == EDC_MATCH_KEEP;
	if (cls->counted)
		edc_match_count_all(cls->counted, at->count);
	value[EDC_VALUE_ARGUMENT] = (u16)arg;
	for (i = 0; i < count && i < EDC_MAX_WORDS; i++)
		value[EDC_VALUE_WORD + i] = words[i];
	value[EDC_VALUE_CPU] = raw_smp_processor_id();
	value[EDC_VALUE_LEVEL] = level;
	value[EDC_VALUE_TID] = current->pid;
	if (cls->wanted >> EDC_VALUE_TIME & 1)
		value[EDC_VALUE_TIME] = *time = time_of_token(&at->ring);
	if (cls->wanted & EDC_VALUE_NAMES) {
		if (current->pid)
			memcpy(&value[EDC_VALUE_NAME], current->comm, 16);
		else
			edc_name_idle(&value[EDC_VALUE_NAME]);
	}
	if (cls->asks && edc_match(matcher, slot, value, at->hit)) {
		times |= edc_match_count(matcher, cls, at->hit, at->count);
		kept = edc_match_keeps(cls, at->hit);
	}
	time_event(matcher, cpu, value, slot, times);
	return kept;
}

/*
 * Starts are forgotten when a matcher is set, and when the last one is removed. Not by a reset: no probe is attached
 * then, and the recorder sets the matcher anew before it attaches them.
 */
int edc_match_set(const struct edc_device_matcher *wanted)
{
	struct edc_matcher *made = NULL, *before = edc_matching;

	if (wanted->times > EDC_TIMES || (wanted->bytes && wanted->bytes != sizeof(*made)))
		return -EINVAL;
	smp_store_release(&edc_matching, NULL);
	synchronize_rcu();
	vfree(before);
	vfree(begun);
	begun = NULL;
	times_begun = 0;
	if (!wanted->bytes)
		return 0;
	made = vmalloc(sizeof(*made));
	if (wanted->times)
		begun = vzalloc(array_size(wanted->times, sizeof(*begun)));
	if (!made || (wanted->times && !begun)) {
		vfree(made);
		return -ENOMEM;
	}
	if (copy_from_user(made, (const void __user *)(unsigned long)wanted->address, sizeof(*made))) {
		vfree(made);
		return -EFAULT;
	}
	times_begun = wanted->times;
	smp_store_release(&edc_matching, made); /* posters see the tables filled */
	return 0;
}
