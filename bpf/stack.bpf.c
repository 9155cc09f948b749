/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stacks at a timer: where each CPU is, record --rate times a second (stack.bpf.h). Nothing is posted while it is idle.
 * Included by card.bpf.c. The timer is a perf event of each CPU, opened by userspace/recording/card/stack_probes.cpp;
 * as an event of the hardware it would be a non-maskable interrupt, so nothing here takes a lock.
 */
#include "post.bpf.h"

SEC("?perf_event")
int stack_sample(struct bpf_perf_event_data *context)
{
	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);

	if (!cpu || READ(cpu->reader.stopped) || !current_process())
		return 0;

	__u32 depth = READ(cpu->depth);
	struct edc_stack_cpu *own = bpf_map_lookup_elem(&stack_cpus, &cpu_id);
	__u64 ns = bpf_ktime_get_ns();

	WRITE(cpu->depth, depth + 1);
	barrier();
	if (depth >= EDC_CARD_LEVELS) {
		__sync_fetch_and_add(&cpu->too_deep[EDC_ID_STACK_SAMPLE - EDC_ID_KERNEL_FIRST], 1);
	} else if (pausing && is_paused()) {
		cpu->level[depth].seen[EDC_ID_STACK_SAMPLE - EDC_ID_KERNEL_FIRST]++;
		leave_out(cpu, depth, EDC_ID_STACK_SAMPLE);
	} else if (!filtering || is_traced(current_process())) {
		if (pausing)
			leave_pause(cpu, depth);
		write_stack(cpu, depth, now(), EDC_STACK_AT_TIMER, context, INTERRUPTED_USER(context));
		if (own)
			own->timer_taken++;
	}
	barrier();
	WRITE(cpu->depth, depth);
	if (own)
		own->timer_ns += bpf_ktime_get_ns() - ns;
	return 0;
}
