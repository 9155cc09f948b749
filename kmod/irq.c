// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family irq: device interrupts, softirqs and, on x86, the vectors that are no device's. The timer also tells whether
 * it met user mode: for a thread that only computes no other token does.
 */
#include <linux/ptrace.h>

#include <asm/irq_regs.h>

#include "module.h"

/* Those whose token is the number that the tracepoint tells first. */
#define PROBE(name, id)                               \
	static void on_##name(void *data, int number) \
	{                                             \
		EDC_POST(id, number);                 \
	}

PROBE(irq_handler_entry, 280)
PROBE(irq_handler_exit, 281)
PROBE(softirq_entry, 282)
PROBE(softirq_exit, 283)
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

	EDC_POST(284, (vector & 0xfff) | (regs && user_mode(regs)) << 12);
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
