/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's own tracepoint: fires on every CPU at each sample, before its token is posted. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM monitor_edc

#if !defined(MONITOR_KMOD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MONITOR_KMOD_TRACE_H

#include <linux/tracepoint.h>

/* clang-format off */
TRACE_EVENT(edc_sample,
	TP_PROTO(u32 doing, u64 number),
	TP_ARGS(doing, number),
	TP_STRUCT__entry(
		__field(u32, doing)
		__field(u64, number)
	),
	TP_fast_assign(
		__entry->doing = doing;
		__entry->number = number;
	),
	TP_printk("doing=%u number=%llu", __entry->doing, __entry->number)
);
/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
