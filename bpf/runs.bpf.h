/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The current thread of each CPU, and whether it is in a system call, as seen by the probes.
 *
 * The kernel may hide threads from BPF, and so their switches. The first system call or fault in a thread other than
 * the last switch's target posts a thread_runs token. A system call refused by seccomp or a tracer has an exit event
 * without an entry.
 */
#ifndef MONITOR_RUNS_BPF_H
#define MONITOR_RUNS_BPF_H

#include "post.bpf.h"

INLINE void switched_to(struct edc_cpu *cpu, __s32 pid)
{
	if (cpu)
		WRITE(cpu->runs, (__u32)pid);
}

/* Posts the current thread. Not filtered: the token of the call or fault needs it. Omitted only with --no-tokens. */
static __attribute__((noinline)) int post_current_thread(struct edc_cpu *cpu)
{
	__u64 id = bpf_get_current_pid_tgid(), words[] = {id << 32 >> 32 | id >> 32 << 32};

	if ((decisions[EDC_ID_THREAD_RUNS - EDC_ID_KERNEL_FIRST] & 0xff) == EDC_MATCH_NONE)
		return 0;
	return post_on(cpu, 0, 0, EDC_ID_THREAD_RUNS, EDC_FILTER_CURRENT, 0, words, 1);
}

/* For events of the current thread that are no system calls. */
INLINE struct edc_cpu *found(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct edc_cpu *cpu = this_cpu();
	__u32 pid = (__u32)task->pid;

	if (cpu && !counting_only && __builtin_expect((READ(cpu->runs) & ~EDC_IN_CALL) != pid, 0)) {
		post_current_thread(cpu);
		WRITE(cpu->runs, pid);
	}
	return cpu;
}

INLINE void note_entry(struct edc_cpu *cpu, const struct task_struct *task)
{
	__u32 pid = (__u32)task->pid;

	if (!cpu || counting_only)
		return;
	if (__builtin_expect((READ(cpu->runs) & ~EDC_IN_CALL) != pid, 0))
		post_current_thread(cpu);
	WRITE(cpu->runs, pid | EDC_IN_CALL);
}

/* At the exit of a system call: whether it may have had no entry event. */
INLINE bool note_exit(struct edc_cpu *cpu, const struct task_struct *task)
{
	__u32 pid = (__u32)task->pid, runs;

	if (!cpu)
		return 0;
	runs = READ(cpu->runs);
	WRITE(cpu->runs, pid);
	if (__builtin_expect(runs == (pid | EDC_IN_CALL), 1))
		return 0;
	if ((runs & ~EDC_IN_CALL) != pid)
		post_current_thread(cpu);
	return task->ptrace || (bpf_core_field_exists(task->seccomp.mode) && task->seccomp.mode);
}

#endif
