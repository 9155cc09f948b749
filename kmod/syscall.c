// SPDX-License-Identifier: GPL-2.0-only
/* Family syscall: entry with number and ABI, exit with the result (in the token where it fits into 16 bits). */
#include <linux/sched.h>
#include <linux/thread_info.h>

#include <asm/syscall.h>

#include "monitor/syscall_arg.h"

#include "module.h"

static u32 argument_of(long number)
{
#ifdef CONFIG_X86
	return edc_syscall_arg(number, in_ia32_syscall());
#else
	return edc_syscall_arg(number, 0);
#endif
}

static void on_enter(void *data, struct pt_regs *regs, long number)
{
	u32 arg = argument_of(number);

	EDC_POST(arg >> 12 == EDC_ABI_COMPAT ? 321 : 320, EDC_KEEP_BY_CURRENT, arg);
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	if (result == (s16)result)
		EDC_POST(322, EDC_KEEP_BY_CURRENT, result);
	else
		EDC_POST(323, EDC_KEEP_BY_CURRENT, argument_of(syscall_get_nr(current, regs)), result);
}

struct edc_probe edc_syscall_probes[] = {
	{ 320, "sys_enter", on_enter },
	{ 322, "sys_exit", on_exit },
	{},
};
