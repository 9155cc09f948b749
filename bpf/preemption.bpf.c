/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Whether a program at a tracepoint that is reached with preemption enabled may be preempted: reads the kernel's count
 * of reasons not to (include/linux/preempt.h) in such programs. An object of its own, loaded by
 * userspace/recording/card/preemption.cpp.
 */
#include "kernel.bpf.h"

#define PREEMPT_MASK 0xff /* the rest counts interrupts, and a bit asks for a switch */

__s32 count_at_call = -1;   /* of any thread's system call */
__s32 count_at_switch = -1; /* where it is never 0, unless this kernel counts nothing and preempts nothing */

#ifdef __TARGET_ARCH_x86
struct pcpu_hot___count { /* 6.2 to 6.14 */
	int preempt_count;
} CORE;

extern const struct pcpu_hot___count pcpu_hot __ksym __weak;
extern const int __preempt_count __ksym __weak;

static __s32 preempt_count(void)
{
	if (bpf_core_field_exists(struct pcpu_hot___count, preempt_count)) {
		const struct pcpu_hot___count *hot = bpf_this_cpu_ptr(&pcpu_hot);

		return hot->preempt_count & PREEMPT_MASK;
	}
	return *(const int *)bpf_this_cpu_ptr(&__preempt_count) & PREEMPT_MASK;
}
#else
struct thread_info___count {
	__u64 preempt_count;
} CORE;

struct task_struct___count {
	struct thread_info___count thread_info;
} CORE;

static __s32 preempt_count(void)
{
	const struct task_struct___count *task = (void *)bpf_get_current_task_btf();

	return task->thread_info.preempt_count & PREEMPT_MASK;
}
#endif

SEC("tp_btf/sys_enter")
int at_call(void *context)
{
	count_at_call = preempt_count();
	return 0;
}

SEC("tp_btf/sched_switch")
int at_switch(void *context)
{
	count_at_switch = preempt_count();
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
