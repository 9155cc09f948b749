/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family irq: device interrupts, softirqs and, on x86, the vectors that are no device's: timer, reschedule,
 * call-function, irq_work. Included by card.bpf.c. Hard interrupts run with interrupts off.
 */
#include "post.bpf.h"

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	return POST(280, KEEP_BY_CURRENT, irq);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq)
{
	return POST(281, KEEP_BY_CURRENT, irq);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	return POST(282, KEEP_BY_CURRENT, vec);
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	return POST(283, KEEP_BY_CURRENT, vec);
}

#define VECTOR(name, id)                                  \
	SEC("?tp_btf/" #name)                             \
	int BPF_PROG(name, int vector)                    \
	{                                                 \
		return POST(id, KEEP_BY_CURRENT, vector); \
	}

/*
 * The timer also tells whether it met user mode: for a thread that only computes no other token does. The kernel keeps
 * the interrupted registers in a per-CPU variable (include/asm-generic/irq_regs.h); where its symbol is not to be found
 * (no CONFIG_KALLSYMS_ALL) the plain twin is loaded: it asks how the running thread came into the kernel. An interrupt
 * or an exception leaves no system call number (x86: orig_ax is -1), so a tick that meets user mode has none; one that
 * meets a page fault has none either, but that is bracketed by tokens of its own.
 */
extern struct pt_regs___entry *__irq_regs __ksym __weak;

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(local_timer_entry, int vector)
{
	struct pt_regs___entry **regs = bpf_this_cpu_ptr(&__irq_regs);
	__u32 user = FROM_USER(*regs);

	return POST(284, KEEP_BY_CURRENT, (vector & 0xfff) | user << 12);
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(plain_local_timer_entry, int vector)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 user = 0;

	if (!(task->flags & PF_KTHREAD))
		user = CALL_NUMBER(bpf_task_pt_regs((void *)task)) < 0;
	return POST(284, KEEP_BY_CURRENT, (vector & 0xfff) | user << 12);
}

VECTOR(local_timer_exit, 285)
VECTOR(reschedule_entry, 286)
VECTOR(reschedule_exit, 287)
VECTOR(call_function_entry, 288)
VECTOR(call_function_exit, 289)
VECTOR(call_function_single_entry, 290)
VECTOR(call_function_single_exit, 291)
VECTOR(irq_work_entry, 292)
VECTOR(irq_work_exit, 293)
