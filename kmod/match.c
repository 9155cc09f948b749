// SPDX-License-Identifier: GPL-2.0-only
/*
 * The matcher of record --filter, --count, --time and --trigger (include/monitor/matcher.h, timing.h, trigger.h):
 * the recorder's tables, and their evaluation for an event. Posters read them with preemption disabled, so replaced
 * tables are freed after a grace period. The tables are untrusted: the matcher masks every index.
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

/* Pending starts of each --time. Outlives the tables: see edc_match_set(). */
static struct edc_pending_starts *pending;
static u32 times_begun;

/* State of each trigger; likewise. */
static struct edc_trigger_state *states;
static u32 triggers;

/* Passes the event to triggers. Returns whether any fires. */
static noinline bool step_triggers(const struct edc_matcher *matcher, struct edc_cpu *cpu, struct edc_level *at,
				   u32 slot, u32 inputs)
{
	const u32 seconds = 0xaaaaaaaa; /* second events first: an event may be both */

	while (inputs) {
		const u32 of = edc_lowest_bit(inputs & seconds ?: inputs), number = of / 2;
		struct edc_fired *fired = &at->fired[number];

		inputs &= ~(1u << of);
		if (number >= triggers)
			continue;
		fired->key = edc_match_key_of(matcher, EDC_FIRST_INPUT + of, slot, at->value);
		if (edc_trigger_step(&matcher->trigger[number], &states[number], of & 1, fired->key,
				     at->value[EDC_VALUE_TIME], &fired->began, &cpu->firings.forgotten))
			at->fires |= 1u << number;
	}
	return at->fires;
}

int edc_triggers_overdue(struct edc_device_overdue *overdue)
{
	u32 i, found = 0;

	if (overdue->trigger >= triggers)
		return -EINVAL;
	for (i = 0; i < EDC_PENDING_STARTS && found < EDC_DEVICE_OVERDUE_MAX; i++) {
		struct edc_pending_start *entry = &states[overdue->trigger].pending.entry[i];
		struct edc_pending_start *to = &overdue->entry[found];

		to->begin = edc_pending_start_overdue(entry, overdue->before, &to->key);
		if (to->begin)
			found++;
	}
	overdue->found = found;
	return 0;
}

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
			edc_timed_end(&cpu->timed[number], &pending[number], key, value[EDC_VALUE_TIME]);
		else
			edc_timed_start(&cpu->timed[number], &pending[number], key, value[EDC_VALUE_TIME]);
	}
}

/* The time that the token will have. */
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
	u64 belongs = cls->belongs;
	u32 i;
	bool kept = cls->decision == EDC_MATCH_KEEP;

	if (cls->whole != EDC_MATCH_EVALUATE)
		return cls->whole == EDC_MATCH_KEEP;
	if (cls->counted)
		edc_match_count_all(cls->counted, at->count);
	at->event = id | (u32)(u16)arg << 16;
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
	if (cls->tests)
		return edc_match_tests(cls, value, at->count);
	if (cls->has_patterns && edc_match(matcher, slot, value, at->hit)) {
		belongs |= edc_match_count(matcher, cls, at->hit, at->count);
		kept = edc_match_keeps(cls, at->hit);
	}
	time_event(matcher, cpu, value, slot, (u32)belongs);
	if (belongs >> EDC_FIRST_INPUT)
		kept |= step_triggers(matcher, cpu, at, slot, belongs >> EDC_FIRST_INPUT); /* the cause is kept */
	return kept;
}

/*
 * Clears pending starts and trigger state when a matcher is set, and when the last one is removed. A reset need not:
 * the recorder sets the matcher again before it attaches probes.
 */
int edc_match_set(const struct edc_device_matcher *wanted)
{
	struct edc_matcher *made = NULL, *before = edc_matching;

	if (wanted->times > EDC_TIMES || wanted->triggers > EDC_TRIGGERS ||
	    (wanted->bytes && wanted->bytes != sizeof(*made)))
		return -EINVAL;
	smp_store_release(&edc_matching, NULL);
	synchronize_rcu();
	vfree(before);
	vfree(pending);
	vfree(states);
	pending = NULL;
	states = NULL;
	times_begun = triggers = 0;
	if (!wanted->bytes)
		return 0;
	made = vmalloc(sizeof(*made));
	if (wanted->times)
		pending = vzalloc(array_size(wanted->times, sizeof(*pending)));
	if (wanted->triggers)
		states = vzalloc(array_size(wanted->triggers, sizeof(*states)));
	if (!made || (wanted->times && !pending) || (wanted->triggers && !states)) {
		vfree(made);
		return -ENOMEM;
	}
	if (copy_from_user(made, (const void __user *)(unsigned long)wanted->address, sizeof(*made))) {
		vfree(made);
		return -EFAULT;
	}
	times_begun = wanted->times;
	triggers = wanted->triggers;
	smp_store_release(&edc_matching, made); /* posters see the tables filled */
	return 0;
}
