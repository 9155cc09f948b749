// SPDX-License-Identifier: GPL-2.0-only
/* Family syscall: entry with number and ABI, exit with the result (in the token where it fits into 16 bits). */
#include <linux/sched.h>
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

static void on_enter(void *data, struct pt_regs *regs, long number)
{
	struct edc_call call = call_of(number);

	if (call.abi == EDC_ABI_COMPAT)
		post_sys_enter_compat(call.number, call.abi);
	else
		post_sys_enter(call.number, call.abi);
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	struct edc_call call;

	if (result == (s16)result) {
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
