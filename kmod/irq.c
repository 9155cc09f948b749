// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family irq: device interrupts, softirqs and, on x86, the vectors that belong to no device. The timer's token also
 * says whether it interrupted user mode: for a thread that only computes, no other token does.
 */
#include <linux/interrupt.h>
#include <linux/ptrace.h>

#include <asm/irq_regs.h>

#include "module.h"

#include "checked.h" /* the last include: what follows must not convert silently */

static void on_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	post_irq_handler_entry(irq);
}

static void on_irq_handler_exit(void *data, int irq, struct irqaction *action, int result)
{
	post_irq_handler_exit(irq);
}

static void on_softirq_entry(void *data, unsigned int number)
{
	post_softirq_entry(number);
}

static void on_softirq_exit(void *data, unsigned int number)
{
	post_softirq_exit(number);
}

static void on_softirq_raise(void *data, unsigned int number)
{
	if (number == EDC_SOFTIRQ_NET_RX || number == EDC_SOFTIRQ_NET_TX)
		post_softirq_raise(number);
}

/* For x86: the token's argument is the vector. */
#define PROBE(name)                                                  \
	static void __maybe_unused on_##name(void *data, int vector) \
	{                                                            \
		post_##name(vector);                                 \
	}

PROBE(local_timer_exit)
PROBE(reschedule_entry)
PROBE(reschedule_exit)
PROBE(call_function_entry)
PROBE(call_function_exit)
PROBE(call_function_single_entry)
PROBE(call_function_single_exit)
PROBE(irq_work_entry)
PROBE(irq_work_exit)

static void on_local_timer_entry(void *data, int vector)
{
	struct pt_regs *regs = get_irq_regs();

	post_local_timer_entry(vector, regs && user_mode(regs));
}

#define ROW(IDENT, name)                         \
	{                                        \
		EDC_ID_##IDENT, #name, on_##name \
	}

struct edc_probe edc_irq_probes[] = {
	ROW(IRQ_HANDLER_ENTRY, irq_handler_entry),
	ROW(IRQ_HANDLER_EXIT, irq_handler_exit),
	ROW(SOFTIRQ_ENTRY, softirq_entry),
	ROW(SOFTIRQ_EXIT, softirq_exit),
	ROW(LOCAL_TIMER_ENTRY, local_timer_entry),
	ROW(LOCAL_TIMER_EXIT, local_timer_exit),
	ROW(RESCHEDULE_ENTRY, reschedule_entry),
	ROW(RESCHEDULE_EXIT, reschedule_exit),
	ROW(CALL_FUNCTION_ENTRY, call_function_entry),
	ROW(CALL_FUNCTION_EXIT, call_function_exit),
	ROW(CALL_FUNCTION_SINGLE_ENTRY, call_function_single_entry),
	ROW(CALL_FUNCTION_SINGLE_EXIT, call_function_single_exit),
	ROW(IRQ_WORK_ENTRY, irq_work_entry),
	ROW(IRQ_WORK_EXIT, irq_work_exit),
	ROW(SOFTIRQ_RAISE, softirq_raise),
	{},
};
