// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family irq: device interrupts, softirqs and, on x86, the vectors that are no device's. The timer also tells whether
 * it met user mode: for a thread that only computes no other token does.
 */
#include <linux/interrupt.h>
#include <linux/ptrace.h>

#include <asm/irq_regs.h>

#include "module.h"

static void on_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	EDC_POST(280, EDC_KEEP_BY_CURRENT, irq);
}

static void on_irq_handler_exit(void *data, int irq, struct irqaction *action, int result)
{
	EDC_POST(281, EDC_KEEP_BY_CURRENT, irq);
}

static void on_softirq_entry(void *data, unsigned int number)
{
	EDC_POST(282, EDC_KEEP_BY_CURRENT, number);
}

static void on_softirq_exit(void *data, unsigned int number)
{
	EDC_POST(283, EDC_KEEP_BY_CURRENT, number);
}

/* x86's, whose token is the vector. */
#define PROBE(name, id)                                              \
	static void __maybe_unused on_##name(void *data, int vector) \
	{                                                            \
		EDC_POST(id, EDC_KEEP_BY_CURRENT, vector);           \
	}

PROBE(local_timer_exit, 285)
PROBE(reschedule_entry, 286)
PROBE(reschedule_exit, 287)
PROBE(call_function_entry, 288)
PROBE(call_function_exit, 289)
PROBE(call_function_single_entry, 290)
PROBE(call_function_single_exit, 291)
PROBE(irq_work_entry, 292)
PROBE(irq_work_exit, 293)

static void on_local_timer_entry(void *data, int vector)
{
	struct pt_regs *regs = get_irq_regs();

	EDC_POST(284, EDC_KEEP_BY_CURRENT, (vector & 0xfff) | (regs && user_mode(regs)) << 12);
}

#define ROW(name, id)                \
	{                            \
		id, #name, on_##name \
	}

struct edc_probe edc_irq_probes[] = {
	ROW(irq_handler_entry, 280),
	ROW(irq_handler_exit, 281),
	ROW(softirq_entry, 282),
	ROW(softirq_exit, 283),
	ROW(local_timer_entry, 284),
	ROW(local_timer_exit, 285),
	ROW(reschedule_entry, 286),
	ROW(reschedule_exit, 287),
	ROW(call_function_entry, 288),
	ROW(call_function_exit, 289),
	ROW(call_function_single_entry, 290),
	ROW(call_function_single_exit, 291),
	ROW(irq_work_entry, 292),
	ROW(irq_work_exit, 293),
	{},
};
