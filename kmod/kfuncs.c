// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who else may post, and ask all CPUs: other modules and BPF programs, by include/monitor/kernel_post.h. A BPF program
 * that is not of type tracing is refused by the verifier.
 */
#include <linux/bpf.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/timex.h>

#include "compat.h"
#include "module.h"
#include "monitor/kernel_post.h"

static bool is_kernel_class(u32 id)
{
	return id >= EDC_ID_KERNEL_FIRST && id < EDC_ID_KERNEL_FIRST + EDC_CARD_CLASSES;
}

/* Counters are everybody's: what was counted between two switches belongs to a thread that is traced or not. */
static s32 keep_of(u32 id)
{
	return id >= EDC_ID_counters && id < EDC_ID_counters + 2 * EDC_COUNTER_SETS ? EDC_KEEP_ALWAYS
										    : EDC_KEEP_BY_CURRENT;
}

__bpf_kfunc_start_defs();

__bpf_kfunc int edc_post(u32 id, u32 arg)
{
	if (!is_kernel_class(id))
		return -EINVAL;
	edc_post_words(id, keep_of(id), arg, NULL, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(edc_post);

__bpf_kfunc int edc_post_payload(u32 id, u32 arg, const void *words, u32 words__sz)
{
	if (!is_kernel_class(id) || words__sz % sizeof(u64) || words__sz > EDC_MAX_WORDS * sizeof(u64))
		return -EINVAL;
	edc_post_words(id, keep_of(id), arg, words, words__sz / sizeof(u64));
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

__bpf_kfunc int edc_is_traced(s32 tid)
{
	return edc_filter_has(tid);
}

__bpf_kfunc int edc_trace(s32 tid)
{
	edc_filter_add(tid);
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
