/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family sched: which thread runs, which becomes runnable and who wakes it; creation, names and exit of threads.
 * Included by card.bpf.c. The scheduler's own tracepoints hold a run-queue lock with interrupts off; exec, exit and
 * rename may be preempted where tracepoints are preemptible, and have a variant of type tracepoint (tp_*).
 *
 * Under -p it also selects a new process if the process that created it is selected, and otherwise deselects it.
 */
#include "pmu.bpf.h"

#include "space.bpf.h"

#include "monitor/task_state.h"

INLINE struct edc_comm comm_of(const char *comm)
{
	struct edc_comm words = {};

	bpf_probe_read_kernel(&words, sizeof(words), comm);
	return words;
}

INLINE struct edc_comm comm_of_current(void)
{
	struct edc_comm words = {};

	bpf_get_current_comm(&words, sizeof(words));
	return words;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__s32 prev_pid = prev->pid;
	__u32 state = EDC_STATE_PREEMPTED;
	bool dead = prev_state & EDC_TASK_DEAD;

	if (!preempt)
		state = prev_state ? edc_reported_state(prev_state, dead ? prev->exit_state : 0) : 0;
	post_sched_switch_at(count_switch(), EDC_FILTER_NONE, state, prev_pid, next->pid);
	if (dead) /* the thread's last switch: the kernel's own counts are final */
		post_exit_counts(EDC_WHEN_EXIT, prev_pid, prev->tgid, prev->nvcsw, prev->nivcsw,
				 prev->se.sum_exec_runtime, prev->min_flt, prev->maj_flt, prev->se.nr_migrations);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	return post_sched_waking_of(task->tgid, task->thread_info.cpu, task->pid, task->prio);
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int dest_cpu)
{
	return post_sched_migrate_task_of(task->tgid, dest_cpu, task->pid, (__u16)task->thread_info.cpu,
					  (__u16)task->prio);
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	struct edc_comm comm = comm_of(task->comm);
	__s32 parent = (__s32)bpf_get_current_pid_tgid();

	if (filtering && task->pid == task->tgid)
		set_traced(task->tgid, is_traced(current_process()));
	if (stacks_on && task->pid == task->tgid)
		share_space(task->tgid);
	return post_sched_wakeup_new_of(task->tgid, task->thread_info.cpu, task->pid, task->tgid, parent, task->prio,
					&comm);
}

INLINE int on_exec(__s32 pid, __s32 old_pid)
{
	struct edc_comm comm = comm_of_current();

	return post_sched_process_exec(bpf_get_smp_processor_id(), pid, old_pid, &comm);
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, __s32 old_pid)
{
	return on_exec(task->pid, old_pid);
}

SEC("?tp/sched/sched_process_exec")
int tp_sched_process_exec(struct trace_event_raw_sched_process_exec *context)
{
	return on_exec(context->pid, context->old_pid);
}

INLINE int on_exit(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	bool group_dead = BPF_CORE_READ(task, signal, live.counter) == 0;

	if (stacks_on && group_dead)
		end_space();
	if (overwriting) { /* what named it before may be overwritten */
		struct edc_comm comm = comm_of_current();

		return post_sched_process_exit_named(group_dead, (__s32)id, (__s32)(id >> 32), &comm);
	}
	return post_sched_process_exit(group_dead, (__s32)id, (__s32)(id >> 32));
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	return on_exit();
}

SEC("?tp/sched/sched_process_exit")
int tp_sched_process_exit(void *context)
{
	return on_exit();
}

SEC("?tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *newcomm)
{
	struct edc_comm comm = {};

	bpf_probe_read_kernel_str(&comm, sizeof(comm), newcomm);
	end_space_at_exec();
	return post_task_rename_of(task->tgid, BPF_CORE_READ(task, signal, oom_score_adj), task->pid, task->tgid,
				   &comm);
}

SEC("?tp/task/task_rename")
int tp_task_rename(struct trace_event_raw_task_rename *context)
{
	struct edc_comm comm = comm_of(context->newcomm);
	__s32 tgid = (__s32)(bpf_get_current_pid_tgid() >> 32); /* a thread renames itself or another of its process */

	end_space_at_exec();
	return post_task_rename(context->oom_score_adj, context->pid, tgid, &comm);
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup_attach_task, struct cgroup *to, const char *path, struct task_struct *task, bool threadgroup)
{
	return post_cgroup_attach_task_of(task->tgid, threadgroup, task->pid, to->level, to->kn->id);
}
