/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Judges given values with the matcher, without an event: for the test that compares it with the offline filter
 * (tests/match), and to measure what a judgement costs. Included by card.bpf.c; run by BPF_PROG_TEST_RUN.
 */
#include "post.bpf.h"

#include "monitor/matcher_trial.h"

#define TRIAL_RING 0

/* A global function: verified once, not for each round. */
__attribute__((noinline)) int judge_noted(__u32 slot)
{
	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);

	return cpu ? judge(cpu, TRIAL_RING, slot) : 0;
}

SEC("?syscall")
int judge_values(struct edc_matcher_trial *trial)
{
	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);
	__u32 slot = trial->slot & (EDC_CARD_CLASSES - 1);
	__u64 start = bpf_ktime_get_ns();

	if (!cpu)
		return 1;
	for (__u32 round = 0; round < EDC_TRIAL_ROUNDS; round++) {
		if (round >= trial->rounds)
			break;
		for (__u32 i = 0; i < EDC_MATCH_VALUES; i++)
			WRITE(cpu->level[TRIAL_RING].value[i], trial->value[i]);
		trial->kept = judge_noted(slot);
	}
	trial->ns = bpf_ktime_get_ns() - start;
#pragma clang loop unroll(full) /* a context is accessed at constant offsets */
	for (__u32 i = 0; i < EDC_TRIAL_COUNTS; i++) {
		trial->count[i] = READ(cpu->level[TRIAL_RING].count[i]);
		WRITE(cpu->level[TRIAL_RING].count[i], 0);
	}
	return 0;
}
