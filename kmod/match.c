// SPDX-License-Identifier: GPL-2.0-only
/*
 * The matcher of record --filter and --count (include/monitor/matcher.h): tables that the recorder made, and the
 * judgement of an event. Posters use them with preemption disabled, so a grace period ends the use of those that were
 * replaced. Nothing in them is trusted: the matcher masks every index.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "monitor/matcher.h"

#include "module.h"

struct edc_matcher *edc_matching;

bool edc_judge(const struct edc_matcher *matcher, struct edc_level *at, u32 level, u32 id, u32 arg, const u64 *words,
	       u32 count)
{
	const u32 slot = id - EDC_ID_KERNEL_FIRST;
	const struct edc_match_class *cls = &matcher->cls[slot];
	u64 *value = at->value;
	u32 i;

	if (cls->counted)
		edc_match_count_all(cls->counted, at->count);
	if (!cls->asks)
		return cls->decision == EDC_MATCH_KEEP;
	value[EDC_VALUE_ARGUMENT] = (u16)arg;
	for (i = 0; i < count && i < EDC_MAX_WORDS; i++)
		value[EDC_VALUE_WORD + i] = words[i];
	value[EDC_VALUE_CPU] = raw_smp_processor_id();
	value[EDC_VALUE_LEVEL] = level;
	value[EDC_VALUE_TID] = current->pid;
	if (cls->wanted >> EDC_VALUE_TIME & 1)
		value[EDC_VALUE_TIME] = get_cycles();
	if (cls->wanted & EDC_VALUE_NAMES) {
		if (current->pid)
			memcpy(&value[EDC_VALUE_NAME], current->comm, 16);
		else
			edc_name_idle(&value[EDC_VALUE_NAME]);
	}
	if (edc_match(matcher, slot, value, at->hit))
		edc_match_count(matcher, cls, at->hit, at->count);
	return edc_match_keeps(cls, at->hit);
}

int edc_match_set(const struct edc_device_matcher *wanted)
{
	struct edc_matcher *made = NULL, *before = edc_matching;

	if (wanted->bytes) {
		if (wanted->bytes != sizeof(*made))
			return -EINVAL;
		made = vmalloc(sizeof(*made));
		if (!made)
			return -ENOMEM;
		if (copy_from_user(made, (const void __user *)(unsigned long)wanted->address, sizeof(*made))) {
			vfree(made);
			return -EFAULT;
		}
	}
	smp_store_release(&edc_matching, made); /* posters see the tables filled */
	synchronize_rcu();
	vfree(before);
	return 0;
}
