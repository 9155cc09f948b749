/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The floors that the benches compare the card with, of the same attach type, for each tracepoint of a default
 * recording: a program that does nothing, and one that reads the clock and stores eight bytes to a place of its CPU.
 * Loaded by attach.cpp.
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

#define PAIR(tracepoint)             \
	PROGRAMS(tracepoint##_entry) \
	PROGRAMS(tracepoint##_exit)

PROGRAMS(sys_enter)
PROGRAMS(sys_exit)
PROGRAMS(sched_switch)
PROGRAMS(sched_waking)
PROGRAMS(sched_migrate_task)
PROGRAMS(sched_wakeup_new)
PROGRAMS(sched_process_exec)
PROGRAMS(sched_process_exit)
PROGRAMS(task_rename)
PROGRAMS(cgroup_attach_task)
PAIR(irq_handler)
PAIR(softirq)
PAIR(local_timer)
PAIR(reschedule)
PAIR(call_function)
PAIR(call_function_single)
PAIR(irq_work)
PROGRAMS(page_fault_user)
PROGRAMS(page_fault_kernel)
PROGRAMS(cpu_idle)
PROGRAMS(cpu_frequency)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
