// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family sched: who runs, who becomes runnable and by whom, births, names and deaths of threads. The scheduler's own
 * tracepoints hold a run-queue lock with interrupts off.
 *
 * Under -p a birth also says whether the new process is selected: as the one that made it is.
 */
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "monitor/task_state.h"

#include "module.h"

static struct edc_comm comm_of(const char *name)
{
	struct edc_comm comm = {};

	strscpy_pad((char *)comm.word, name, sizeof(comm.word));
	return comm;
}

static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	bool dead = prev_state & EDC_TASK_DEAD;
	u32 state = EDC_STATE_PREEMPTED;

	if (!preempt)
		state = prev_state ? edc_reported_state(prev_state, dead ? prev->exit_state : 0) : 0;
	EDC_POST(256, EDC_KEEP_ALWAYS, state, edc_pair(prev->pid, next->pid));
	if (dead) /* the thread's last switch: the kernel's own counts are final */
		EDC_POST(263, EDC_KEEP_BY_CURRENT, EDC_WHEN_EXIT, edc_pair(prev->pid, prev->tgid), prev->nvcsw,
			 prev->nivcsw, prev->se.sum_exec_runtime, prev->min_flt, prev->maj_flt, prev->se.nr_migrations);
}

static void on_waking(void *data, struct task_struct *task)
{
	EDC_POST(257, task->tgid, task_cpu(task), edc_pair(task->pid, task->prio));
}

static void on_migrate(void *data, struct task_struct *task, int to)
{
	EDC_POST(258, task->tgid, to, edc_pair(task->pid, (task_cpu(task) & 0xffff) | (u32)task->prio << 16));
}

static void on_new(void *data, struct task_struct *task)
{
	struct edc_comm comm = comm_of(task->comm);

	if (task->pid == task->tgid)
		edc_filter_set(task->tgid, edc_filter_has(current->tgid));
	EDC_POST(259, task->tgid, task_cpu(task), edc_pair(task->pid, task->tgid), edc_pair(current->pid, task->prio),
		 comm.word[0], comm.word[1]);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *unused)
{
	struct edc_comm comm = comm_of(task->comm);

	EDC_POST(260, EDC_KEEP_BY_CURRENT, raw_smp_processor_id(), edc_pair(task->pid, old_pid), comm.word[0],
		 comm.word[1]);
}

static void on_exit(void *data, struct task_struct *task)
{
	EDC_POST(261, EDC_KEEP_BY_CURRENT, atomic_read(&task->signal->live) == 0, edc_pair(task->pid, task->tgid));
}

static void on_rename(void *data, struct task_struct *task, const char *name)
{
	struct edc_comm comm = comm_of(name);

	EDC_POST(262, task->tgid, task->signal->oom_score_adj, edc_pair(task->pid, task->tgid), comm.word[0],
		 comm.word[1]);
}

static void on_cgroup(void *data, struct cgroup *to, const char *path, struct task_struct *task, bool threadgroup)
{
	EDC_POST(264, task->tgid, threadgroup, edc_pair(task->pid, to->level), cgroup_id(to));
}

struct edc_probe edc_sched_probes[] = {
	{ 256, "sched_switch", on_switch },
	{ 257, "sched_waking", on_waking },
	{ 258, "sched_migrate_task", on_migrate },
	{ 259, "sched_wakeup_new", on_new },
	{ 260, "sched_process_exec", on_exec },
	{ 261, "sched_process_exit", on_exit },
	{ 262, "task_rename", on_rename },
	{ 264, "cgroup_attach_task", on_cgroup },
	{},
};
