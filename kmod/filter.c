// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes that -p selects: a bit for each possible PID, so that a probe checks it with one load. A bit is valid
 * from the creation of the process, or from when the recorder selects it, until the PID is reused.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "module.h"

unsigned long *edc_traced;
static unsigned long *ended;

bool edc_traced_has(s32 process)
{
	const unsigned long *set;
	bool has;

	preempt_disable_notrace();
	set = READ_ONCE(edc_traced);
	has = set && (u32)process < PID_MAX_LIMIT && test_bit(process, set);
	preempt_enable_notrace();
	return has;
}

void edc_traced_set(s32 process, bool is_traced)
{
	unsigned long *set;

	preempt_disable_notrace();
	set = READ_ONCE(edc_traced);
	if (set && (u32)process < PID_MAX_LIMIT)
		assign_bit(process, set, is_traced);
	preempt_enable_notrace();
}

int edc_filter_create(void)
{
	edc_traced = vzalloc(PID_MAX_LIMIT / BITS_PER_BYTE);
	return edc_traced ? 0 : -ENOMEM;
}

void edc_filter_clear(void)
{
	if (edc_traced)
		bitmap_zero(edc_traced, PID_MAX_LIMIT);
}

void edc_filter_end(void)
{
	ended = edc_traced;
	WRITE_ONCE(edc_traced, NULL);
}

void edc_filter_free(void)
{
	vfree(ended);
	ended = NULL;
}
