/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family syscall: entry with number and ABI, exit with the result (in the token where it fits into 16 bits).
 * Included by card.bpf.c. These tracepoints run with preemption on where tracepoints are preemptible; then
 * the tp_ variants are attached.
 */
#include "post.bpf.h"

#include "monitor/syscall_arg.h"

#define TS_COMPAT 2

INLINE struct edc_call call_of(long number)
{
#ifdef __TARGET_ARCH_x86
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return edc_call(number, task->thread_info.status & TS_COMPAT);
#else
	return edc_call(number, 0);
#endif
}

INLINE int on_enter(long number)
{
	struct edc_call call = call_of(number);

	if (call.abi == EDC_ABI_COMPAT)
		return post_sys_enter_compat(call.number, call.abi);
	return post_sys_enter(call.number, call.abi);
}

INLINE int on_exit_long(long number, long result)
{
	struct edc_call call = call_of(number);

	return post_sys_exit_long(call.number, call.abi, result);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter, void *regs, long number)
{
	return on_enter(number);
}

SEC("?tp/raw_syscalls/sys_enter")
int tp_sys_enter(struct trace_event_raw_sys_enter *context)
{
	return on_enter(context->id);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit, void *regs, long result)
{
	if (result == (__s16)result)
		return post_sys_exit((__s16)result);
	return on_exit_long(CALL_NUMBER(regs), result);
}

SEC("?tp/raw_syscalls/sys_exit")
int tp_sys_exit(struct trace_event_raw_sys_exit *context)
{
	if (context->ret == (__s16)context->ret)
		return post_sys_exit((__s16)context->ret);
	return on_exit_long(context->id, context->ret);
}
