/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Family syscall: entry with number and ABI, exit with the result (in the token where it fits into 16 bits).
 * Included by card.bpf.c. These tracepoints run with preemption on where tracepoints are preemptible; then the
 * classic twins are attached.
 */
#include "post.bpf.h"

#include "monitor/syscall_arg.h"

#define TS_COMPAT 2

INLINE __u32 number_and_abi(long number)
{
#ifdef __TARGET_ARCH_x86
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return edc_syscall_arg(number, task->thread_info.status & TS_COMPAT);
#else
	return edc_syscall_arg(number, 0);
#endif
}

INLINE int on_enter(long number)
{
	__u32 arg = number_and_abi(number);

	return POST(arg >> 12 == EDC_ABI_COMPAT ? 321 : 320, KEEP_BY_CURRENT, arg);
}

INLINE int on_exit_long(long number, long result)
{
	return POST(323, KEEP_BY_CURRENT, number_and_abi(number), result);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter, void *regs, long number)
{
	return on_enter(number);
}

SEC("?tp/raw_syscalls/sys_enter")
int classic_sys_enter(struct trace_event_raw_sys_enter *context)
{
	return on_enter(context->id);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit, void *regs, long result)
{
	if (result == (__s16)result)
		return POST(322, KEEP_BY_CURRENT, result);
	return on_exit_long(CALL_NUMBER(regs), result);
}

SEC("?tp/raw_syscalls/sys_exit")
int classic_sys_exit(struct trace_event_raw_sys_exit *context)
{
	if (context->ret == (__s16)context->ret)
		return POST(322, KEEP_BY_CURRENT, context->ret);
	return on_exit_long(context->id, context->ret);
}
