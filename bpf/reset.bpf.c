/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Selective reset (record --reset-on), as REMS has it: at an event of the user's choice the counters are read, which
 * closes a segment, and a token says that the next one begins. Nothing is set to zero, for others read them too.
 * Included by card.bpf.c; attached by userspace/card/bpf_card.cpp. Next in the flow: analyze/segments.cpp.
 *
 * A uprobe's program may be preempted (its thread only stays on the CPU), so it cannot post as other probes do: it
 * takes a lane, and a reading counts only if no other one began on this CPU between its first counter and its time.
 *
 * From 6.13 on the kernel gives a function with more than 48 bytes of stack a private stack, one for each CPU: threads
 * that preempt each other in a uprobe's program would write over each other's (seen as an oops on 7.2). So frames are
 * small here, also that of open_block(), and what is read lies in the lane; tests/bpf/stack_sizes.sh watches over it.
 */
#include "pmu.bpf.h"

static __attribute__((noinline)) __u32 read_in_lane(struct edc_cpu *cpu, __u32 lane, __u32 set)
{
	if (!cpu || lane >= EDC_CARD_LANES)
		return 0;
	return read_set(set, (struct bpf_perf_event_value *)cpu->lane[lane].value, cpu->lane[lane].words);
}

static __attribute__((noinline)) __u64 room_in_lane(struct edc_cpu *cpu, __u32 lane, __u64 time, __u32 count)
{
	if (!cpu || lane >= EDC_CARD_LANES)
		return 0;
	return room(cpu, EDC_CARD_LEVELS + lane, time, count);
}

/* `id`: and in the upper half the argument. The payload: what was read, with its times only if `id` wants them. */
static __attribute__((noinline)) int put_in_lane(struct edc_cpu *cpu, __u32 lane, __u64 time, __u32 id, __u32 count)
{
	__u64 pos = room_in_lane(cpu, lane, time, count);
	__u32 arg = id >> 16, depth = EDC_CARD_LEVELS + lane, first;

	id &= 0xffff;
	first = id >= EDC_ID_counters_scaled ? 0 : 2;
	if (!cpu || lane >= EDC_CARD_LANES || first + count > COUNTER_WORDS ||
	    id - EDC_ID_KERNEL_FIRST >= EDC_CARD_CLASSES)
		return 0;
	cpu->level[depth].seen[id - EDC_ID_KERNEL_FIRST]++;
	if (!pos)
		refuse(cpu, depth, id);
	else if (pos <= last_record)
		store(cpu, depth, pos, id, arg, cpu->lane[lane].words + first, count);
	return 1;
}

/* One set. Returns 0 if another reading began since `ticket`: the thread was preempted, or interrupted. */
static __attribute__((noinline)) int count_in_lane(struct edc_cpu *cpu, __u32 lane, __u32 set, __u64 ticket)
{
	__u32 count = read_in_lane(cpu, lane, set);

	if (!count || !cpu || lane >= EDC_CARD_LANES)
		return 1; /* this CPU has not such counters */

	__u64 time = now();

	if (READ(cpu->readings) != ticket)
		return 0;
	if (cpu->lane[lane].words[0] == cpu->lane[lane].words[1])
		return put_in_lane(cpu, lane, time, EDC_ID_counters + set, count);
	return put_in_lane(cpu, lane, time, EDC_ID_counters_scaled + set, 2 + count);
}

/* All sets and the reset itself, all in one stretch of time in which nobody else read. */
static __attribute__((noinline)) int reset_in_lane(struct edc_cpu *cpu, __u32 lane, __u32 event)
{
	if (!cpu)
		return 0;

	__u64 ticket = __sync_fetch_and_add(&cpu->readings, 1) + 1;

	for (__u32 set = 0; set < EDC_COUNTER_SETS; set++) {
		if (set >= counter_sets)
			break;
		if (!count_in_lane(cpu, lane, set, ticket))
			return 0;
	}

	__u64 time = now();

	if (READ(cpu->readings) != ticket)
		return 0;
	return put_in_lane(cpu, lane, time, EDC_ID_counters_reset | event << 16, 0);
}

#define RESET_TRIES 4 /* a thread that is preempted so often is not in a hurry; then the reset is lost, and counted */

static __attribute__((noinline)) int reset_counters(__u32 event)
{
	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);
	bool done = 0;

	if (!cpu || READ(cpu->reader.stopped) || (filtering && !is_traced(current_process())))
		return 0;
	for (__u32 lane = 0; lane < EDC_CARD_LANES; lane++) {
		if (__sync_lock_test_and_set(&cpu->lane[lane].taken, 1))
			continue;
		for (int i = 0; i < RESET_TRIES && !done; i++)
			done = reset_in_lane(cpu, lane, event);
		barrier();
		WRITE(cpu->lane[lane].taken, 0);
		break;
	}
	if (!done)
		__sync_fetch_and_add(&cpu->too_deep[EDC_ID_counters_reset - EDC_ID_KERNEL_FIRST], 1);
	return 0;
}

/* Tracepoint k of those that were asked for is event k; a uprobe bears its event's number as its cookie. */
#define RESET_ON(k)                                \
	SEC("?raw_tp")                             \
	int reset_at_tracepoint_##k(void *context) \
	{                                          \
		return reset_counters(k);          \
	}

RESET_ON(0)
RESET_ON(1)
RESET_ON(2)
RESET_ON(3)

SEC("?uprobe")
int reset_at_uprobe(struct pt_regs *context)
{
	return reset_counters(bpf_get_attach_cookie(context));
}
