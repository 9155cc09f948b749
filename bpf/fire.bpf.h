/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Triggers that fire (record --trigger): each leaves a token after that of its event, holds the rings of a flight
 * recorder if it is to, and tells the recorder. Included by post.bpf.h; judge.bpf.h decides which fire. Next in the
 * flow: userspace/recording/record/triggers.cpp.
 *
 * In its order: the token is in the past that a hold keeps.
 */
#ifndef MONITOR_BPF_FIRE_H
#define MONITOR_BPF_FIRE_H

#include "judge.bpf.h"

/* Returns whether this began the hold. */
static __attribute__((noinline, unused)) bool hold_rings(__u64 time)
{
	__u32 first = 0;
	struct edc_cpu *holder = bpf_map_lookup_elem(&rings, &first);

	/* The time is a number that no hold before had. */
	return overwriting && holder && !READ(holder->reader.hold) &&
	       __sync_val_compare_and_swap(&holder->reader.hold, 0, time) == 0;
}

/* Stops storing, or resumes it and posts the length of the pause. */
static __attribute__((noinline, unused)) int stop_or_start(struct edc_cpu *cpu, __u32 ring_index, __u32 acts)
{
	__u32 first = 0;
	struct edc_cpu *holder = bpf_map_lookup_elem(&rings, &first);
	__u64 since, time, pos;

	FORGET(ring_index);
	if (!cpu || !holder || ring_index >= EDC_CARD_RINGS)
		return 0;

	struct edc_level *level = &cpu->level[ring_index];

	time = level->value[EDC_VALUE_TIME];
	if (acts & EDC_ACT_STOP)
		return edc_pause(&holder->reader.paused, time);
	since = edc_resume(&holder->reader.paused);
	if (!since)
		return 0;
	level->payload[0] = since;
	level->payload[1] = time > since ? time - since : 0; /* two CPUs' events can have changed places */
	__sync_fetch_and_add(&cpu->firings.pauses, 1);
	__sync_fetch_and_add(&cpu->firings.paused, level->payload[1]);
	level->seen[EDC_ID_PAUSED - EDC_ID_KERNEL_FIRST]++;
	pos = reserve_apart(cpu, ring_index, time);
	if (pos && pos <= last_start)
		commit(cpu, ring_index, pos, EDC_ID_PAUSED, 0, level->payload, 2);
	else
		discard(cpu, ring_index, EDC_ID_PAUSED);
	return 0;
}

/*
 * If it is to sample: what this CPU does, as its part of a sample of all; the recorder has the others answer. At most
 * once in a tick, for each sample interrupts all CPUs. Sets the level's `sample`.
 */
static __attribute__((noinline, unused)) int begin_sample(struct edc_cpu *cpu, __u32 ring_index, __u32 acts)
{
	__u32 first = 0;
	struct edc_cpu *holder = bpf_map_lookup_elem(&rings, &first);
	__u64 pos, thread = bpf_get_current_pid_tgid();

	FORGET(ring_index);
	if (!cpu || !holder || ring_index >= EDC_CARD_RINGS)
		return 0;

	struct edc_level *level = &cpu->level[ring_index];
	__u64 tick = bpf_jiffies64(), before = READ(holder->reader.sampled_in);

	level->sample = 0;
	if (!(acts & EDC_ACT_SAMPLE))
		return 0;
	if (tick == before || __sync_val_compare_and_swap(&holder->reader.sampled_in, before, tick) != before) {
		__sync_fetch_and_add(&cpu->firings.unsampled, 1);
		return 0;
	}
	level->sample = __sync_fetch_and_add(&holder->reader.sampled, 1) + 1;
	level->payload[0] = thread; /* tid, and above it tgid */
	level->payload[1] = level->sample;
	level->seen[EDC_ID_SAMPLE - EDC_ID_KERNEL_FIRST]++;
	pos = reserve_apart(cpu, ring_index, level->value[EDC_VALUE_TIME]);
	if (pos && pos <= last_start)
		commit(cpu, ring_index, pos, EDC_ID_SAMPLE, (__u32)thread ? EDC_DOING_KERNEL : EDC_DOING_IDLE,
		       level->payload, 2);
	else
		discard(cpu, ring_index, EDC_ID_SAMPLE);
	return 0;
}

/* Notes the firing for the recorder. `trigger`: number and flags. */
static __attribute__((noinline, unused)) int tell_recorder(struct edc_cpu *cpu, __u32 ring_index, __u32 trigger)
{
	__u32 number = trigger & (EDC_TRIGGERS - 1);
	__u64 before, thread;

	FORGET(ring_index);
	if (!cpu || ring_index >= EDC_CARD_RINGS)
		return 0;

	const struct edc_level *level = &cpu->level[ring_index];
	struct edc_firing *entry;

	if (READ(cpu->firings.count) - READ(cpu->reader.firings) >= EDC_FIRINGS)
		return 0;
	before = __sync_fetch_and_add(&cpu->firings.count, 1);
	entry = &cpu->firings.entry[before % EDC_FIRINGS];
	WRITE(entry->number, 0);
	barrier();
	thread = bpf_get_current_pid_tgid();
	entry->time = level->value[EDC_VALUE_TIME];
	entry->began = level->fired[number].began;
	entry->key = level->fired[number].key;
	entry->event = (__u32)level->event;
	entry->sample = level->sample;
	entry->trigger = trigger;
	entry->tid = (__s32)thread;
	entry->tgid = (__s32)(thread >> 32);
	for (__u32 i = 0; i < EDC_MAX_WORDS; i++)
		entry->words[i] = level->value[EDC_VALUE_WORD + i];
	__sync_lock_test_and_set(&entry->number,
				 before + 1); /* full barrier: after the rest, before `firings` is read */
	if (READ(cpu->reader.firings) == before)
		ring_firing_bell();
	return 0;
}

/*
 * One trigger, because of the event in `value`. Global, so that it is verified once; then an argument would be an area
 * without its blocks.
 */
__attribute__((noinline)) int fire(__u32 ring_index, __u32 number)
{
	__u32 cpu_id = bpf_get_smp_processor_id(), acts;
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);
	__u64 pos;

	if (posts_to_module || !cpu || ring_index >= EDC_CARD_RINGS || number >= EDC_TRIGGERS)
		return 0; /* the module's areas are larger than the one that these programs have */

	struct edc_level *level = &cpu->level[ring_index];

	acts = READ(matcher.trigger[number].acts);
	__sync_fetch_and_add(&cpu->firings.fired[number], 1);
	level->payload[0] = (level->event & 0xffff) | bpf_get_current_pid_tgid() << 32;
	level->payload[1] = level->fired[number].began;
	level->payload[2] = level->fired[number].key;
	level->seen[EDC_ID_TRIGGER_FIRED - EDC_ID_KERNEL_FIRST]++;
	pos = reserve_apart(cpu, ring_index, level->value[EDC_VALUE_TIME]);
	if (pos && pos <= last_start)
		commit(cpu, ring_index, pos, EDC_ID_TRIGGER_FIRED, number, level->payload, 3);
	else
		discard(cpu, ring_index, EDC_ID_TRIGGER_FIRED);
	if (acts & EDC_ACT_HOLD && hold_rings(level->value[EDC_VALUE_TIME]))
		number |= EDC_FIRING_HELD;
	if (sampling)
		begin_sample(cpu, ring_index, acts);
	if (pausing && acts & (EDC_ACT_STOP | EDC_ACT_START))
		stop_or_start(cpu, ring_index, acts);
	if (acts & EDC_ACT_TELL)
		tell_recorder(cpu, ring_index, number);
	return 0;
}

/* After the event's token, or, if it has none, where it would be. */
static __attribute__((noinline, unused)) void fire_all(struct edc_cpu *cpu, __u32 ring_index)
{
	FORGET(ring_index);
	if (!cpu || ring_index >= EDC_CARD_RINGS)
		return;
	for (__u32 i = 0; i < EDC_TRIGGERS; i++) {
		__u64 fires = cpu->level[ring_index].fires;

		if (!fires)
			break;
		cpu->level[ring_index].fires = fires & (fires - 1);
		fire(ring_index, edc_lowest_bit(fires) & (EDC_TRIGGERS - 1));
	}
}

#endif
