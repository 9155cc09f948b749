/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family irq: device interrupts, softirqs and, on x86, the vectors that belong to no device: timer, reschedule,
 * call-function, irq_work. Included by card.bpf.c. Hard interrupts run with interrupts off.
 */
#include "post.bpf.h"

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	return post_irq_handler_entry(irq);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq)
{
	return post_irq_handler_exit(irq);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	return post_softirq_entry(vec);
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	return post_softirq_exit(vec);
}

#define VECTOR(name)                        \
	SEC("?tp_btf/" #name)               \
	int BPF_PROG(name, int vector)      \
	{                                   \
		return post_##name(vector); \
	}

/*
 * The timer's token also says whether it interrupted user mode: for a thread that only computes, no other token does.
 * The kernel keeps the interrupted registers in a per-CPU variable (include/asm-generic/irq_regs.h). Where its symbol
 * is not available (no CONFIG_KALLSYMS_ALL), the plain_ variant is loaded; it checks how the running thread entered the
 * kernel. An interrupt or an exception leaves no system call number (x86: orig_ax is -1), so a tick in user mode has
 * none. A tick in a page fault has none either, but the fault is bracketed by tokens.
 */
extern struct pt_regs___entry *__irq_regs __ksym __weak;

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(local_timer_entry, int vector)
{
	struct pt_regs___entry **regs = bpf_this_cpu_ptr(&__irq_regs);
	__u32 user = FROM_USER(*regs);

	return post_local_timer_entry(vector, user);
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(plain_local_timer_entry, int vector)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 user = 0;

	if (!(task->flags & PF_KTHREAD))
		user = CALL_NUMBER(bpf_task_pt_regs((void *)task)) < 0;
	return post_local_timer_entry(vector, user);
}

VECTOR(local_timer_exit)
VECTOR(reschedule_entry)
VECTOR(reschedule_exit)
VECTOR(call_function_entry)
VECTOR(call_function_exit)
VECTOR(call_function_single_entry)
VECTOR(call_function_single_exit)
VECTOR(irq_work_entry)
VECTOR(irq_work_exit)
