/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The floors that bench `kernel` compares the card with, of the same attach type: a program that does nothing, and one
 * that reads the clock and stores eight bytes to a place of its CPU. Loaded by attach.cpp.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define MAX_CPUS 1024

struct {
	__u64 value;
	__u64 pad[7];
} place[MAX_CPUS] SEC(".bss");

#define PROGRAMS(tracepoint)                                                                                 \
	SEC("?tp_btf/" #tracepoint) int empty_##tracepoint(void *context)                                    \
	{                                                                                                    \
		return 0;                                                                                    \
	}                                                                                                    \
	SEC("?tp_btf/" #tracepoint) int minimal_##tracepoint(void *context)                                  \
	{                                                                                                    \
		*(volatile __u64 *)&place[bpf_get_smp_processor_id() & (MAX_CPUS - 1)] = bpf_ktime_get_ns(); \
		return 0;                                                                                    \
	}

PROGRAMS(sys_enter)
PROGRAMS(sys_exit)
PROGRAMS(sched_switch)
PROGRAMS(sched_waking)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
