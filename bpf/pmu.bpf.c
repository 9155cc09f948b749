/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Counters that are read beside another probe. Included by card.bpf.c.
 *
 * Of a thread that runs for long: at an interrupt if no switch came (record --every). x86's local timer has a
 * tracepoint of its own; elsewhere the timer is a device interrupt like others. Where the kernel module probes the
 * switches: ahead of its probe, which is attached later and so runs later; and ahead of its samples.
 */
#include "pmu.bpf.h"

static __attribute__((noinline)) int post_counters_to_module(__u32 set)
{
	struct bpf_perf_event_value value = {};
	__u64 words[COUNTER_WORDS] = {};
	__u32 count = read_set(set, &value, words);

	if (!count || count > EDC_COUNTERS_IN_SET)
		return 0;
	if (words[0] == words[1])
		return edc_post_payload(EDC_ID_counters + set, 0, words + 2, count * sizeof(words[0]));
	return edc_post_payload(EDC_ID_counters_scaled + set, 0, words, (2 + count) * sizeof(words[0]));
}

INLINE int count_for_module(void)
{
	for (__u32 set = 0; set < EDC_COUNTER_SETS; set++) {
		if (set >= counter_sets)
			break;
		post_counters_to_module(set);
	}
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(counters_sched_switch)
{
	return count_for_module();
}

SEC("?tp_btf/edc_sample")
int BPF_PROG(counters_sample)
{
	return count_for_module();
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(every_local_timer_entry, int vector)
{
	count_every();
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(every_irq_handler_entry, int irq)
{
	count_every();
	return 0;
}
