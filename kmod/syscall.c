// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family syscall: entry with number and ABI, exit with the result (in the token where it fits into 16 bits and the
 * entry was seen).
 */
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/thread_info.h>

#include <asm/syscall.h>

#include "monitor/syscall_arg.h"

#include "module.h"

#include "checked.h" /* the last include: what follows must not convert silently */

static struct edc_call call_of(long number)
{
#ifdef CONFIG_X86
	return edc_call(number, in_ia32_syscall());
#else
	return edc_call(number, 0);
#endif
}

/* As bpf/runs.bpf.h. */
static void on_enter(void *data, struct pt_regs *regs, long number)
{
	struct edc_call call = call_of(number);
	u32 pid = current->pid;

	if ((edc_runs(pid | EDC_IN_CALL) & ~EDC_IN_CALL) != pid)
		post_thread_runs(0, current->pid, current->tgid);
	if (call.abi == EDC_ABI_COMPAT)
		post_sys_enter_compat(call.number, call.abi);
	else
		post_sys_enter(call.number, call.abi);
}

/* At the exit of a system call: whether it may have had no entry event (refused by seccomp or a tracer). */
static bool note_exit(void)
{
	u32 pid = current->pid, before = edc_runs(pid);

	if (likely(before == (pid | EDC_IN_CALL)))
		return false;
	if ((before & ~EDC_IN_CALL) != pid)
		post_thread_runs(0, current->pid, current->tgid);
	return current->ptrace || seccomp_mode(&current->seccomp);
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	struct edc_call call;

	if (!note_exit() && result == (s16)result) {
		post_sys_exit((s16)result);
		return;
	}
	call = call_of(syscall_get_nr(current, regs));
	if (call.abi == EDC_ABI_COMPAT)
		post_sys_exit_long_compat(call.number, call.abi, result);
	else
		post_sys_exit_long(call.number, call.abi, result);
}

struct edc_probe edc_syscall_probes[] = {
	{ EDC_ID_SYS_ENTER, "sys_enter", on_enter },
	{ EDC_ID_SYS_EXIT, "sys_exit", on_exit },
	{},
};
