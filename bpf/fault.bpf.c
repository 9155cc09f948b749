/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family fault: the page-fault tracepoints at entry, the kernel's software events at completion (period 1, so every
 * fault is one event; the perf counts of these events are the kernel's own count). Included by card.bpf.c.
 */
#include "post.bpf.h"

SEC("?tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address, void *regs, unsigned long error_code)
{
	return post_page_fault_user((__u32)error_code, address);
}

SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel, unsigned long address, void *regs, unsigned long error_code)
{
	return post_page_fault_kernel((__u32)error_code, address);
}

/* The record has another name in older kernels. */
#define TP_FAULT(name)                                                                \
	SEC("?tp/exceptions/" #name)                                                  \
	int tp_##name(void *context)                                                  \
	{                                                                             \
		struct trace_event_raw_x86_exceptions *older = context;               \
		struct trace_event_raw_exceptions *newer = context;                   \
                                                                                      \
		if (bpf_core_type_exists(struct trace_event_raw_x86_exceptions))      \
			return post_##name((__u32)older->error_code, older->address); \
		return post_##name((__u32)newer->error_code, newer->address);         \
	}

TP_FAULT(page_fault_user)
TP_FAULT(page_fault_kernel)

SEC("?perf_event")
int minor_fault(struct bpf_perf_event_data *context)
{
	return post_minor_fault(INTERRUPTED_USER(context));
}

SEC("?perf_event")
int major_fault(struct bpf_perf_event_data *context)
{
	return post_major_fault(INTERRUPTED_USER(context));
}
