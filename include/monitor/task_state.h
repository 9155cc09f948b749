/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The state of a thread that is switched out, as the kernel's own tracepoint reports it (include/trace/events/sched.h).
 * Used by the cards of the kernel. The numbers are the kernel's (include/linux/sched.h) and have been so since 4.14. */
#ifndef MONITOR_TASK_STATE_H
#define MONITOR_TASK_STATE_H

#include <linux/types.h>

#define EDC_TASK_REPORT 0x7f
#define EDC_TASK_DEAD 0x80
#define EDC_TASK_IDLE 0x402
#define EDC_TASK_RTLOCK_WAIT 0x1000
#define EDC_TASK_FROZEN 0x8000
#define EDC_TASK_REPORT_IDLE 0x80

static inline __attribute__((always_inline)) __u32 edc_reported_state(__u32 state, __u32 exit_state)
{
	__u32 report = (state | exit_state) & EDC_TASK_REPORT;

	if ((state & EDC_TASK_IDLE) == EDC_TASK_IDLE)
		return EDC_TASK_REPORT_IDLE;
	if (state & (EDC_TASK_RTLOCK_WAIT | EDC_TASK_FROZEN)) /* the kernel calls both uninterruptible */
		return 2;
	for (int bit = 6; bit >= 0; bit--)
		if (report & 1u << bit)
			return 1u << bit;
	return 0;
}

#endif
