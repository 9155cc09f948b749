/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The task iterators: every thread that the kernel does not hide from BPF, with its state and the kernel's own counts
 * (read at start and end of a recording); and what selects the descendants of the processes that -p names.
 * Included by card.bpf.c. They run when the recorder reads the descriptor of an iterator, so they may be preempted, and
 * they never touch a ring.
 */
#include "post.bpf.h"

__u64 newly_selected = 0; /* processes that the last run of select_descendants added; the recorder repeats it until 0 */

/* The module has a set of traced processes of its own, which programs can read that may call kfuncs: iterators may. */
INLINE bool card_traces(__s32 process)
{
	return posts_to_module ? edc_is_traced(process) : is_traced(process);
}

INLINE __u16 syscall_of(struct task_struct *task)
{
	long number = SYSCALL_NUMBER(bpf_task_pt_regs((void *)task));

	return number < 0 || number >= EDC_NO_SYSCALL ? EDC_NO_SYSCALL : (__u16)number;
}

SEC("?iter/task")
int list_tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct edc_task record = {};
	__u8 on_cpu = 0;

	if (!task)
		return 0;
	bpf_core_read(&on_cpu, sizeof(on_cpu), &task->on_cpu);
	record.pid = task->pid;
	record.tgid = task->tgid;
	record.ppid = task->real_parent->tgid;
	record.state = (__u16)edc_reported_state(task->__state, task->exit_state);
	record.cpu = (__u16)task->thread_info.cpu;
	record.prio = task->prio;
	record.cgroup = task->cgroups->dfl_cgrp->kn->id;
	record.syscall = EDC_NO_SYSCALL;
	if (on_cpu)
		record.flags |= EDC_THREAD_RUNNING;
	if (task->flags & PF_KTHREAD)
		record.flags |= EDC_THREAD_KERNEL;
	else if (!on_cpu)
		record.syscall = syscall_of(task);
	if (filtering && !card_traces(record.tgid))
		record.flags |= EDC_THREAD_FILTERED;
	bpf_probe_read_kernel(record.comm, sizeof(record.comm), task->comm);
	record.nvcsw = task->nvcsw;
	record.nivcsw = task->nivcsw;
	record.sum_exec_runtime = task->se.sum_exec_runtime;
	record.min_flt = task->min_flt;
	record.maj_flt = task->maj_flt;
	record.nr_migrations = task->se.nr_migrations;
	record.start_ns = task->start_time;
	record.time = now();
	bpf_seq_write(context->meta->seq, &record, sizeof(record));
	return 0;
}

SEC("?iter/task")
int select_descendants(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task)
		return 0;

	__s32 process = task->tgid;

	if (card_traces(process) || !card_traces(task->real_parent->tgid))
		return 0;
	if (posts_to_module)
		edc_trace(process);
	else
		set_traced(process, 1);
	__sync_fetch_and_add(&newly_selected, 1);
	return 0;
}
