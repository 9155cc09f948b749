/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which thread runs on this CPU, and whether it is in a system call, as the probes saw it.
 *
 * The kernel may hide threads from BPF, and with them the switch to whatever runs next: the first call or fault that
 * finds another thread than the last switch said posts who runs. An exit whose entry was not seen since the switch to
 * its thread may have none: a filter (seccomp) or a tracer refuses a call before the tracepoint of its entry, but not
 * that of its exit. Used by sched.bpf.c, syscall.bpf.c and fault.bpf.c.
 */
#ifndef MONITOR_RUNS_BPF_H
#define MONITOR_RUNS_BPF_H

#include "post.bpf.h"

INLINE void switched_to(struct edc_cpu *cpu, __s32 pid)
{
	if (cpu)
		WRITE(cpu->runs, (__u32)pid);
}

/* Past the matcher: it belongs to the token of the call or fault, and is left out only with these (--no-tokens). */
static __attribute__((noinline)) int say_who_runs(struct edc_cpu *cpu)
{
	__u64 id = bpf_get_current_pid_tgid(), words[] = {id << 32 >> 32 | id >> 32 << 32};

	if ((decisions[EDC_ID_THREAD_RUNS - EDC_ID_KERNEL_FIRST] & 0xff) == EDC_MATCH_NONE)
		return 0;
	return post_on(cpu, 0, 0, EDC_ID_THREAD_RUNS, EDC_FILTER_CURRENT, 0, words, 1);
}

/* Of what the running thread does outside of calls. */
INLINE struct edc_cpu *found(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct edc_cpu *cpu = this_cpu();
	__u32 pid = (__u32)task->pid;

	if (cpu && !counting_only && __builtin_expect((READ(cpu->runs) & ~EDC_IN_CALL) != pid, 0)) {
		say_who_runs(cpu);
		WRITE(cpu->runs, pid);
	}
	return cpu;
}

INLINE void entered(struct edc_cpu *cpu, const struct task_struct *task)
{
	__u32 pid = (__u32)task->pid;

	if (!cpu || counting_only)
		return;
	if (__builtin_expect((READ(cpu->runs) & ~EDC_IN_CALL) != pid, 0))
		say_who_runs(cpu);
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
	if ((runs & ~EDC_IN_CALL) != pid)
		say_who_runs(cpu);
	return task->ptrace || (bpf_core_field_exists(task->seccomp.mode) && task->seccomp.mode);
}

#endif
