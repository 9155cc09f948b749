/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family fault: the page-fault tracepoints at entry, the kernel's software events at completion (period 1, so every
 * fault is one event; their perf counts are the kernel's own count of them). Included by card.bpf.c.
 */
#include "post.bpf.h"

#include <linux/bpf_perf_event.h>

SEC("?tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address, void *regs, unsigned long error_code)
{
	return POST(340, KEEP_BY_CURRENT, error_code, address);
}

SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel, unsigned long address, void *regs, unsigned long error_code)
{
	return POST(341, KEEP_BY_CURRENT, error_code, address);
}

INLINE int on_classic_fault(__u32 id, void *context)
{
	struct trace_event_raw_x86_exceptions *older = context;
	struct trace_event_raw_exceptions *newer = context;

	if (bpf_core_type_exists(struct trace_event_raw_x86_exceptions))
		return POST(id, KEEP_BY_CURRENT, older->error_code, older->address);
	return POST(id, KEEP_BY_CURRENT, newer->error_code, newer->address);
}

SEC("?tp/exceptions/page_fault_user")
int classic_page_fault_user(void *context)
{
	return on_classic_fault(340, context);
}

SEC("?tp/exceptions/page_fault_kernel")
int classic_page_fault_kernel(void *context)
{
	return on_classic_fault(341, context);
}

#ifdef __TARGET_ARCH_x86
#define FAULT_FROM_USER(context) (((context)->regs.cs & 3) != 0)
#else
#define FAULT_FROM_USER(context) (((context)->regs.pstate & 0xf) == 0)
#endif

SEC("?perf_event")
int minor_fault(struct bpf_perf_event_data *context)
{
	return POST(342, KEEP_BY_CURRENT, FAULT_FROM_USER(context));
}

SEC("?perf_event")
int major_fault(struct bpf_perf_event_data *context)
{
	return POST(343, KEEP_BY_CURRENT, FAULT_FROM_USER(context));
}
