/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the supported kernels, 6.1 and later: only here. */
#ifndef MONITOR_KMOD_COMPAT_H
#define MONITOR_KMOD_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#ifndef __bpf_kfunc
#define __bpf_kfunc noinline __used
#endif
#define __bpf_kfunc_start_defs() \
	__diag_push();           \
	__diag_ignore_all("-Wmissing-prototypes", "BPF programs call them, by BTF")
#define __bpf_kfunc_end_defs() __diag_pop()
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/*
 * Whether the task is throttled by a CPU quota. Before 6.18 a run queue counts its throttled ancestors, at this offset
 * (0: unknown). Only the fair class is throttled.
 */
static inline bool edc_is_throttled(const struct task_struct *task, u32 throttle_count)
{
#ifndef CONFIG_CFS_BANDWIDTH
	return false;
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
	return throttle_count && task->prio >= MAX_RT_PRIO &&
	       READ_ONCE(*(const int *)((const char *)task->se.cfs_rq + throttle_count));
#else
	return task->throttled;
#endif
}

#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#endif

#endif
