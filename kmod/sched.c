// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family sched: which thread runs, which becomes runnable and who wakes it; creation, names and exit of threads. The
 * scheduler's own tracepoints are hit with a run-queue lock held and interrupts off.
 *
 * Under -p, on_new() also selects a new process if the process that created it is selected, and otherwise deselects it.
 */
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "monitor/task_state.h"

#include "compat.h"
#include "module.h"

#include "checked.h" /* the last include: what follows must not convert silently */

static struct edc_comm comm_of(const char *name)
{
	struct edc_comm comm = {};

	strscpy_pad((char *)comm.word, name, sizeof(comm.word));
	return comm;
}

static u32 throttle_count; /* its offset in struct cfs_rq, which no header declares; 0: unknown */

int edc_sched_describe(const struct edc_device_create *wanted)
{
	const u32 max_offset = 1024; /* the structure has about 500 bytes */

	if (wanted->throttle_count >= max_offset || wanted->throttle_count % sizeof(int))
		return -EINVAL;
	throttle_count = wanted->throttle_count;
	return 0;
}

static u32 flags_of(const struct task_struct *task, u32 state)
{
	bool is_ready = !state || state == EDC_STATE_PREEMPTED;
	u32 flags = 0;

	if (is_ready ? edc_is_throttled(task, throttle_count) : task->in_iowait)
		flags = is_ready ? EDC_SWITCH_THROTTLED : EDC_SWITCH_IOWAIT;
#ifdef CONFIG_PSI
	if (task->in_memstall)
		flags |= EDC_SWITCH_MEMSTALL;
#endif
	return flags;
}

static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	bool dead = prev_state & EDC_TASK_DEAD;
	u32 state = EDC_STATE_PREEMPTED;

	if (!preempt)
		state = prev_state ? edc_reported_state(prev_state, dead ? prev->exit_state : 0) : 0;
	edc_runs(next->pid);
	post_sched_switch_of(EDC_FILTER_NONE, state, flags_of(prev, state), prev->pid, next->pid);
	if (dead) /* the thread's last switch: the kernel's own counts are final */
		post_exit_counts(EDC_WHEN_EXIT, prev->pid, prev->tgid, prev->nvcsw, prev->nivcsw,
				 prev->se.sum_exec_runtime, prev->min_flt, prev->maj_flt, prev->se.nr_migrations);
}

static void on_waking(void *data, struct task_struct *task)
{
	post_sched_waking_of(task->tgid, task_cpu(task), task->pid, task->prio);
}

static void on_migrate(void *data, struct task_struct *task, int to)
{
	post_sched_migrate_task_of(task->tgid, to, task->pid, (u16)task_cpu(task), (u16)task->prio);
}

static void post_cgroup(struct task_struct *task, bool threadgroup, struct cgroup *to)
{
	post_cgroup_attach_task_of(task->tgid, threadgroup, task->pid, to->root->hierarchy_id, cgroup_id(to), to->level,
				   0);
}

static void on_new(void *data, struct task_struct *task)
{
	struct edc_comm comm = comm_of(task->comm);
	struct cgroup *in = task_dfl_cgroup(task);

	if (task->pid == task->tgid)
		edc_traced_set(task->tgid, edc_traced_has(current->tgid));
	post_sched_wakeup_new_of(task->tgid, task_cpu(task), task->pid, task->tgid, current->pid, task->prio, &comm);
	if (in != task_dfl_cgroup(current)) /* CLONE_INTO_CGROUP: no tracepoint */
		post_cgroup(task, false, in);
}

/* A change of the TID is posted for all processes, as every switch is. */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *unused)
{
	struct edc_comm comm = comm_of(task->comm);

	post_sched_process_exec_of(task->pid == old_pid ? EDC_FILTER_CURRENT : EDC_FILTER_NONE, raw_smp_processor_id(),
				   task->pid, old_pid, &comm);
}

static void on_exit(void *data, struct task_struct *task)
{
	const bool group_dead = atomic_read(&task->signal->live) == 0;

	if (edc_rings_overwrite()) { /* an earlier token with its name may be overwritten */
		struct edc_comm comm = comm_of(task->comm);

		post_sched_process_exit_named(group_dead, task->pid, task->tgid, &comm);
		return;
	}
	post_sched_process_exit(group_dead, task->pid, task->tgid);
}

static void on_rename(void *data, struct task_struct *task, const char *name)
{
	struct edc_comm comm = comm_of(name);

	post_task_rename_of(task->tgid, task->signal->oom_score_adj, task->pid, task->tgid, &comm);
}

static void on_cgroup(void *data, struct cgroup *to, const char *path, struct task_struct *task, bool threadgroup)
{
	post_cgroup(task, threadgroup, to);
}

struct edc_probe edc_sched_probes[] = {
	{ EDC_ID_SCHED_SWITCH, "sched_switch", on_switch },
	{ EDC_ID_SCHED_WAKING, "sched_waking", on_waking },
	{ EDC_ID_SCHED_MIGRATE_TASK, "sched_migrate_task", on_migrate },
	{ EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new", on_new },
	{ EDC_ID_SCHED_PROCESS_EXEC, "sched_process_exec", on_exec },
	{ EDC_ID_SCHED_PROCESS_EXIT, "sched_process_exit", on_exit },
	{ EDC_ID_TASK_RENAME, "task_rename", on_rename },
	{ EDC_ID_CGROUP_ATTACH_TASK, "cgroup_attach_task", on_cgroup },
	{},
};
