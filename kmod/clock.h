/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace clock: the time stamp counter as it is, as user programs and the recorder read it. */
#ifndef MONITOR_KMOD_CLOCK_H
#define MONITOR_KMOD_CLOCK_H

#ifdef CONFIG_X86
#include <asm/msr.h>
#include <asm/tsc.h>

static inline u64 edc_clock(void)
{
	return rdtsc();
}
#else
#include <asm/timex.h>

static inline u64 edc_clock(void)
{
	return get_cycles();
}
#endif

#endif
