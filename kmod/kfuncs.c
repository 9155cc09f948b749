// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets other modules and BPF programs post and sample all CPUs (include/monitor/kernel_post.h). The verifier rejects
 * BPF programs that are not of type tracing.
 */
#include <linux/bpf.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/timex.h>

#include "compat.h"
#include "module.h"
#include "monitor/kernel_post.h"

/* clang-format off */
#define EDC_WORDS(id, IDENT, ident, name, family, words, fields) \
	[id - EDC_ID_KERNEL_FIRST] = 1 + (words),
/* clang-format on */

/* For each class of the card's table, one more than its payload words; 0: no class. */
static const u8 table[EDC_CARD_CLASSES] = { EDC_KERNEL_CLASSES(EDC_WORDS) };

static u8 counters_in_set[EDC_COUNTER_SETS]; /* written before anything is attached */

int edc_kfuncs_describe(const u8 *counters)
{
	unsigned int set;

	for (set = 0; set < EDC_COUNTER_SETS; set++)
		if (counters[set] > EDC_COUNTERS_IN_SET)
			return -EINVAL;
	memcpy(counters_in_set, counters, sizeof(counters_in_set));
	return 0;
}

/* A token whose size is not that of its class would make the rest of its block unreadable. */
static bool has_size_of_class(u32 id, u32 words)
{
	const u32 set = id - EDC_ID_COUNTERS, scaled = id - EDC_ID_COUNTERS_SCALED;
	const u32 slot = id - EDC_ID_KERNEL_FIRST;

	if (set < EDC_COUNTER_SETS)
		return words && words == counters_in_set[set];
	if (scaled < EDC_COUNTER_SETS)
		return words > 2 && words - 2 == counters_in_set[scaled];
	return slot < EDC_CARD_CLASSES && table[slot] == 1 + words;
}

/* Counters are not filtered: what was counted between two switches may belong to any process, traced or not. */
static s32 target_of(u32 id)
{
	return id - EDC_ID_COUNTERS < 2 * EDC_COUNTER_SETS ? EDC_FILTER_NONE : EDC_FILTER_CURRENT;
}

__bpf_kfunc_start_defs();

__bpf_kfunc int edc_post(u32 id, u32 arg)
{
	if (!has_size_of_class(id, 0))
		return -EINVAL;
	edc_post_words(id, target_of(id), arg, NULL, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(edc_post);

__bpf_kfunc int edc_post_payload(u32 id, u32 arg, const void *words, u32 words__sz)
{
	if (words__sz % sizeof(u64) || !has_size_of_class(id, words__sz / sizeof(u64)))
		return -EINVAL;
	edc_post_words(id, target_of(id), arg, words, words__sz / sizeof(u64));
	return 0;
}
EXPORT_SYMBOL_GPL(edc_post_payload);

__bpf_kfunc u64 edc_tsc(void)
{
	return get_cycles();
}
EXPORT_SYMBOL_GPL(edc_tsc);

__bpf_kfunc int edc_sample(void)
{
	return edc_sample_once();
}
EXPORT_SYMBOL_GPL(edc_sample);

__bpf_kfunc int edc_is_traced(s32 process)
{
	return edc_traced_has(process);
}

__bpf_kfunc int edc_trace(s32 process)
{
	edc_traced_set(process, true);
	return 0;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(edc_kfuncs)
BTF_ID_FLAGS(func, edc_post)
BTF_ID_FLAGS(func, edc_post_payload)
BTF_ID_FLAGS(func, edc_tsc)
BTF_ID_FLAGS(func, edc_sample)
BTF_ID_FLAGS(func, edc_is_traced)
BTF_ID_FLAGS(func, edc_trace)
BTF_KFUNCS_END(edc_kfuncs)

static const struct btf_kfunc_id_set edc_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &edc_kfuncs,
};

int edc_kfuncs_register(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &edc_kfunc_set);
}
