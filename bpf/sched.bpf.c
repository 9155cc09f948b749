/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family sched: who runs, who becomes runnable and by whom, births, names and deaths of threads.
 * Included by card.bpf.c. The scheduler's own tracepoints hold a run-queue lock with interrupts off; exec, exit and
 * rename may be preempted where tracepoints are preemptible and have a classic twin (classic_*).
 *
 * Under -p a birth also says whether the new process is selected: as the one that made it is.
 */
#include "pmu.bpf.h"

#include "monitor/task_state.h"

struct comm_words {
	__u64 word[2];
};

INLINE struct comm_words comm_of(const char *comm)
{
	struct comm_words words = {};

	bpf_probe_read_kernel(&words, sizeof(words), comm);
	return words;
}

INLINE struct comm_words comm_of_current(void)
{
	struct comm_words words = {};

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
	const __u64 word = pair(prev_pid, next->pid);

	post_at(count_switch(), 256, KEEP_ALWAYS, state, &word, 1);
	if (dead) /* the thread's last switch: the kernel's own counts are final */
		POST(263, KEEP_BY_CURRENT, EDC_WHEN_EXIT, pair(prev_pid, prev->tgid), prev->nvcsw, prev->nivcsw,
		     prev->se.sum_exec_runtime, prev->min_flt, prev->maj_flt, prev->se.nr_migrations);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	return POST(257, task->tgid, task->thread_info.cpu, pair(task->pid, task->prio));
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int dest_cpu)
{
	return POST(258, task->tgid, dest_cpu,
		    pair(task->pid, (task->thread_info.cpu & 0xffff) | (__u32)task->prio << 16));
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	struct comm_words comm = comm_of(task->comm);
	__s32 parent = (__s32)bpf_get_current_pid_tgid();

	if (filtering && task->pid == task->tgid)
		set_traced(task->tgid, is_traced(current_process()));
	return POST(259, task->tgid, task->thread_info.cpu, pair(task->pid, task->tgid), pair(parent, task->prio),
		    comm.word[0], comm.word[1]);
}

INLINE int on_exec(__s32 pid, __s32 old_pid)
{
	struct comm_words comm = comm_of_current();

	return POST(260, KEEP_BY_CURRENT, bpf_get_smp_processor_id(), pair(pid, old_pid), comm.word[0], comm.word[1]);
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, __s32 old_pid)
{
	return on_exec(task->pid, old_pid);
}

SEC("?tp/sched/sched_process_exec")
int classic_sched_process_exec(struct trace_event_raw_sched_process_exec *context)
{
	return on_exec(context->pid, context->old_pid);
}

INLINE int on_exit(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	bool group_dead = BPF_CORE_READ(task, signal, live.counter) == 0;

	return POST(261, KEEP_BY_CURRENT, group_dead, pair((__u32)id, (__u32)(id >> 32)));
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	return on_exit();
}

SEC("?tp/sched/sched_process_exit")
int classic_sched_process_exit(void *context)
{
	return on_exit();
}

SEC("?tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *newcomm)
{
	struct comm_words comm = {};

	bpf_probe_read_kernel_str(&comm, sizeof(comm), newcomm);
	return POST(262, task->tgid, BPF_CORE_READ(task, signal, oom_score_adj), pair(task->pid, task->tgid),
		    comm.word[0], comm.word[1]);
}

SEC("?tp/task/task_rename")
int classic_task_rename(struct trace_event_raw_task_rename *context)
{
	struct comm_words comm = comm_of(context->newcomm);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32; /* a thread renames itself or one of its own process */

	return POST(262, KEEP_BY_CURRENT, context->oom_score_adj, pair(context->pid, tgid), comm.word[0], comm.word[1]);
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup_attach_task, struct cgroup *to, const char *path, struct task_struct *task, bool threadgroup)
{
	return POST(264, task->tgid, threadgroup, pair(task->pid, to->level), to->kn->id);
}
