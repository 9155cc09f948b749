/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which thread runs on this CPU, and whether it is in a system call, as the probes saw it.
 *
 * An exit whose entry was not seen since the switch to its thread may have none: a filter (seccomp) or a tracer refuses
 * a call before the tracepoint of its entry, but not that of its exit. Used by sched.bpf.c and syscall.bpf.c.
 */
#ifndef MONITOR_RUNS_BPF_H
#define MONITOR_RUNS_BPF_H

#include "post.bpf.h"

INLINE void switched_to(struct edc_cpu *cpu, __s32 pid)
{
	if (cpu)
		WRITE(cpu->runs, (__u32)pid);
}

INLINE void entered(struct edc_cpu *cpu, const struct task_struct *task)
{
	__u32 pid = (__u32)task->pid;

	if (cpu)
		WRITE(cpu->runs, pid | EDC_IN_CALL);
}

/* Whether the call that ends may have had no entry. */
INLINE bool left(struct edc_cpu *cpu, const struct task_struct *task)
{
	__u32 pid = (__u32)task->pid, runs;

	if (!cpu)
		return 0;
	runs = READ(cpu->runs);
	WRITE(cpu->runs, pid);
	if (__builtin_expect(runs == (pid | EDC_IN_CALL), 1))
		return 0;
	return task->ptrace || (bpf_core_field_exists(task->seccomp.mode) && task->seccomp.mode);
}

#endif
