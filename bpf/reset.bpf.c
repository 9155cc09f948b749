/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Selective reset (record --reset-on, and triggers that read or reset), as in REMS: at an event that the user chooses
 * the counters are read, which closes a segment, and a token marks the start of the next one. Nothing is set to zero,
 * since others read them too.
 * Included by card.bpf.c; attached by userspace/recording/card/bpf_card.cpp. Next in the flow:
 * reading/analyze/segments.cpp.
 *
 * A uprobe program is preemptible, although migration is disabled, so it cannot use post() and the rings of levels.
 * It takes a slot and calls reserve(), commit() and discard() on the slot's ring; the raw tracepoint programs share
 * this code. A reading is valid only if no other one started on this CPU between its first counter and its time.
 *
 * Since 6.13 the kernel gives a function with more than 48 bytes of stack a private stack, one per CPU: threads that
 * preempt each other in a uprobe program would overwrite it (seen as an oops on 7.2). So stack frames are small here,
 * including that of open_block(), and values are read into the slot; tests/bpf/stack_sizes.sh checks this.
 */
#include "pmu.bpf.h"

#define ARG_SHIFT 16 /* a BPF function has at most five arguments: the token's argument is above its id in one */

static __attribute__((noinline)) __u32 read_in_slot(struct edc_cpu *cpu, __u32 slot, __u32 set)
{
	if (!cpu || slot >= EDC_CARD_SLOTS)
		return 0;
	return read_set(set, (struct bpf_perf_event_value *)cpu->slot[slot].value, cpu->slot[slot].words);
}

static __attribute__((noinline)) __u64 reserve_in_slot(struct edc_cpu *cpu, __u32 slot, __u64 time, __u32 count)
{
	if (!cpu || slot >= EDC_CARD_SLOTS)
		return 0;
	return reserve(cpu, EDC_CARD_LEVELS + slot, time, count);
}

/*
 * Writes the token, or counts it as discarded. The payload is what was read, with the times only if the class has them.
 * Returns 0 only if an argument is out of bounds, which the verifier requires to be checked.
 */
static __attribute__((noinline)) int write_in_slot(struct edc_cpu *cpu, __u32 slot, __u64 time, __u32 id_and_arg,
						   __u32 count)
{
	__u64 pos = reserve_in_slot(cpu, slot, time, count);
	__u32 id = id_and_arg & ((1 << ARG_SHIFT) - 1), arg = id_and_arg >> ARG_SHIFT;
	__u32 ring = EDC_CARD_LEVELS + slot, first = id >= EDC_ID_COUNTERS_SCALED ? 0 : TIME_WORDS;

	if (!cpu || slot >= EDC_CARD_SLOTS || first + count > COUNTER_WORDS ||
	    id - EDC_ID_KERNEL_FIRST >= EDC_CARD_CLASSES)
		return 0;
	cpu->level[ring].seen[id - EDC_ID_KERNEL_FIRST]++;
	if (!pos)
		discard(cpu, ring, id);
	else if (pos <= last_start)
		commit(cpu, ring, pos, id, arg, cpu->slot[slot].words + first, count);
	return 1;
}

/* Posts one set. Returns 0 if a reading of a later generation started: the thread was preempted or interrupted. */
static __attribute__((noinline)) int post_set_in_slot(struct edc_cpu *cpu, __u32 slot, __u32 set, __u64 generation)
{
	__u32 count = read_in_slot(cpu, slot, set);

	if (!count || !cpu || slot >= EDC_CARD_SLOTS)
		return 1; /* this CPU has no such counters */

	__u64 time = now();

	if (READ(cpu->readings) != generation)
		return 0;
	if (cpu->slot[slot].words[0] == cpu->slot[slot].words[1])
		return write_in_slot(cpu, slot, time, EDC_ID_COUNTERS + set, count);
	return write_in_slot(cpu, slot, time, EDC_ID_COUNTERS_SCALED + set, TIME_WORDS + count);
}

/*
 * Posts all sets and, unless it is NO_RESET, the reset itself, all within one period without another reading; else
 * returns 0, to be tried again. Sets that were posted by then remain: each is a valid reading, so the next one counts
 * from there.
 */
static __attribute__((noinline)) int post_reset_in_slot(struct edc_cpu *cpu, __u32 slot, __u32 event)
{
	if (!cpu)
		return 0;

	__u64 generation = __sync_fetch_and_add(&cpu->readings, 1) + 1;

	for (__u32 set = 0; set < EDC_COUNTER_SETS; set++) {
		if (set >= counter_sets)
			break;
		if (!post_set_in_slot(cpu, slot, set, generation))
			return 0;
	}

	__u64 time = now();

	if (READ(cpu->readings) != generation)
		return 0;
	return event == NO_RESET || write_in_slot(cpu, slot, time, EDC_ID_COUNTERS_RESET | event << ARG_SHIFT, 0);
}

#define RESET_TRIES 4 /* bounds the loop for the verifier; a reset that fails as often is lost, and counted */

/* Global, so that it is verified once, and not in each probe. */
__attribute__((noinline)) int post_reset(__u32 event)
{
	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);
	bool done = 0;

	if (!counters_reset || !cpu || READ(cpu->reader.stopped))
		return 0;
	for (__u32 slot = 0; slot < EDC_CARD_SLOTS; slot++) {
		if (__sync_lock_test_and_set(&cpu->slot[slot].taken, 1))
			continue;
		for (int i = 0; i < RESET_TRIES && !done; i++)
			done = post_reset_in_slot(cpu, slot, event);
		barrier();
		WRITE(cpu->slot[slot].taken, 0);
		break;
	}
	if (!done) /* no slot was free, or the thread was preempted at each try */
		__sync_fetch_and_add(
		    &cpu->too_deep[(event == NO_RESET ? EDC_ID_COUNTERS : EDC_ID_COUNTERS_RESET) - EDC_ID_KERNEL_FIRST],
		    1);
	return 0;
}

INLINE int reset_on(__u32 event)
{
	return filtering && !is_traced(current_process()) ? 0 : post_reset(event);
}

/* Tracepoint k of those requested is event k; a uprobe has its event's number as its cookie. */
#define RESET_ON(k)                                \
	SEC("?raw_tp")                             \
	int reset_at_tracepoint_##k(void *context) \
	{                                          \
		return reset_on(k);                \
	}

RESET_ON(0)
RESET_ON(1)
RESET_ON(2)
RESET_ON(3)

EDC_ASSERT(EDC_RESET_TRACEPOINTS == 4);

SEC("?uprobe")
int reset_at_uprobe(struct pt_regs *context)
{
	return reset_on((__u32)bpf_get_attach_cookie(context));
}
