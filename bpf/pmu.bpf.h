/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Counters: at each switch (and with --every at a timer interrupt) the current values of each set on this CPU become
 * one token, posted before the switch's own. So what was counted since the previous token belongs to the thread that
 * ran. Values count from the opening of the counter and are not differences, so the sum across a loss is still exact.
 *
 * A set is a group that the kernel schedules together. Its short token holds the counts. If the set has not been
 * counting all the time (more counters requested than available), the long token also has its enabled and running
 * times. A probe that may be preempted (reset.bpf.c) also reads the counters; edc_cpu.readings shows whether it was.
 * Opened and put into the map by userspace/recording/record/counters.cpp. Next in the flow:
 * reading/analyze/counter_fold.cpp.
 */
#ifndef MONITOR_BPF_PMU_H
#define MONITOR_BPF_PMU_H

#include "post.bpf.h"

#include "monitor/ratio.h"

/* Set by the loader before the program is verified, constants to the verifier. */
const volatile __u32 counter_sets = 0;
const volatile __u32 counters_in_set[EDC_COUNTER_SETS] = {};
const volatile __u32 counter_cpus = 1;
const volatile __u64 counters_every_ns = 0; /* 0: at switches only */
const volatile __u8 counters_reset = 0;     /* --reset-on */
const volatile __u32 ratio_bits = 0;        /* EDC_RATIO_BITS_*: ratios are posted instead of counts */
const volatile __u32 ratio_pairs = 0;
const volatile __u32 ratio_counter[2 * EDC_RATIO_PAIRS] = {}; /* numerator, denominator: s * EDC_COUNTERS_IN_SET + k */

/* Counter k of set s on CPU c: (s * EDC_COUNTERS_IN_SET + k) * counter_cpus + c. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} counters SEC(".maps");

#define NO_COUNT (~0ull - 4096) /* values above are errors of bpf_perf_event_read() */

#define TIME_WORDS 2 /* enabled and running, before the counts */
#define COUNTER_WORDS (TIME_WORDS + EDC_COUNTERS_IN_SET)

/* Reads one set: enabled, running, the counts. Returns the number of counts; 0: this CPU has no such counter. */
INLINE __u32 read_set(__u32 set, struct bpf_perf_event_value *value, __u64 *words)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (set >= EDC_COUNTER_SETS)
		return 0;

	__u32 count = counters_in_set[set];

	/* The times apply to the whole set. Read them from the first counter only, since that costs more. */
	if (bpf_perf_event_read_value(&counters, set * EDC_COUNTERS_IN_SET * counter_cpus + cpu, value, sizeof(*value)))
		return 0;
	words[0] = value->enabled;
	words[1] = value->running;
	words[2] = value->counter;
	for (__u32 i = 1; i < EDC_COUNTERS_IN_SET; i++) {
		if (i >= count)
			break;
		words[2 + i] = bpf_perf_event_read(&counters, (set * EDC_COUNTERS_IN_SET + i) * counter_cpus + cpu);
		if (words[2 + i] > NO_COUNT)
			return 0;
	}
	return count;
}

/* Posts one set. Returns the time of its token; 0: there is none. */
static __attribute__((noinline)) __u64 post_counters(__u32 set)
{
	struct bpf_perf_event_value value = {};
	__u64 words[COUNTER_WORDS] = {};
	__u32 count = read_set(set, &value, words);

	if (!count || count > EDC_COUNTERS_IN_SET)
		return 0;

	__u64 time = now();

	if (words[0] == words[1])
		post(0, time, EDC_ID_COUNTERS + set, EDC_FILTER_NONE, 0, words + 2, count);
	else
		post(0, time, EDC_ID_COUNTERS_SCALED + set, EDC_FILTER_NONE, 0, words, 2 + count);
	return time;
}

/* Posts one token with the ratio of each pair since the previous token; the first time only saves the counts. */
static __attribute__((noinline)) __u64 post_ratios(void)
{
	__u64 words[EDC_RATIO_PAIRS / 2] = {};
	__u32 cpu_id = bpf_get_smp_processor_id(), first = 0;
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);

	if (!cpu)
		return 0;
	for (__u32 i = 0; i < EDC_RATIO_PAIRS; i++) {
		if (i >= ratio_pairs)
			break;

		__u64 n = bpf_perf_event_read(&counters, ratio_counter[2 * i] * counter_cpus + cpu_id);
		__u64 d = bpf_perf_event_read(&counters, ratio_counter[2 * i + 1] * counter_cpus + cpu_id);

		if (n > NO_COUNT || d > NO_COUNT)
			return 0;

		__u32 code = edc_ratio_encode(n - cpu->ratio_last[2 * i], d - cpu->ratio_last[2 * i + 1], ratio_bits);

		cpu->ratio_last[2 * i] = n;
		cpu->ratio_last[2 * i + 1] = d;
		if (ratio_bits == EDC_RATIO_BITS_32)
			words[i / 2] |= (__u64)code << 32 * (i % 2);
		else if (i == 0)
			first = code;
		else
			words[(i - 1) / 4] |= (__u64)code << 16 * ((i - 1) % 4);
	}
	if (!READ(cpu->ratio_known)) {
		WRITE(cpu->ratio_known, 1);
		return 0;
	}

	__u64 time = now();

	post(0, time, EDC_ID_RATIOS, EDC_FILTER_NONE, first, words,
	     ratio_bits == EDC_RATIO_BITS_32 ? (ratio_pairs + 1) / 2 : (ratio_pairs + 2) / 4);
	return time;
}

/* Posts all sets. Returns the time of the last token, or 0. */
INLINE __u64 read_counters(void)
{
	__u64 time = 0;

	if (counters_reset) {
		__u32 cpu_id = bpf_get_smp_processor_id();
		struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);

		if (cpu)
			__sync_fetch_and_add(&cpu->readings, 1);
	}

	if (ratio_pairs)
		return post_ratios();
	for (__u32 set = 0; set < EDC_COUNTER_SETS; set++) {
		if (set >= counter_sets)
			break;
		time = post_counters(set);
	}
	return time;
}

/* Called at a switch. Returns the time, if it read the clock, for the switch's own token. */
INLINE __u64 count_switch(void)
{
	__u64 time;

	if (!counter_sets)
		return 0;
	time = read_counters();
	if (counters_every_ns) {
		__u32 cpu_id = bpf_get_smp_processor_id();
		struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);

		if (cpu)
			WRITE(cpu->counted_ns, bpf_ktime_get_ns());
	}
	return time;
}

/* Called at an interrupt: reads the counters if there was no switch for counters_every_ns. */
INLINE void count_every(void)
{
	if (!counter_sets || !counters_every_ns)
		return;

	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);
	__u64 ns = bpf_ktime_get_ns();

	if (!cpu || ns - READ(cpu->counted_ns) < counters_every_ns)
		return;
	WRITE(cpu->counted_ns, ns);
	read_counters();
}

#endif
