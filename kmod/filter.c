// SPDX-License-Identifier: GPL-2.0-only
/* The threads that -p selects: a bit for each number that a thread can have, so that a probe asks with one load. */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "module.h"

unsigned long *edc_traced;
static unsigned long *ended;

bool edc_filter_has(s32 tid)
{
	const unsigned long *set;
	bool has;

	preempt_disable_notrace();
	set = READ_ONCE(edc_traced);
	has = set && (u32)tid < PID_MAX_LIMIT && test_bit(tid, set);
	preempt_enable_notrace();
	return has;
}

static void change(s32 tid, bool is_traced)
{
	unsigned long *set;

	preempt_disable_notrace();
	set = READ_ONCE(edc_traced);
	if (set && (u32)tid < PID_MAX_LIMIT)
		assign_bit(tid, set, is_traced);
	preempt_enable_notrace();
}

void edc_filter_add(s32 tid)
{
	change(tid, true);
}

void edc_filter_remove(s32 tid)
{
	change(tid, false);
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
