// SPDX-License-Identifier: GPL-2.0-only
/* Family syscall: entry with number and ABI, exit with the result (in the token where it fits into 16 bits). */
#include <linux/sched.h>
#include <linux/thread_info.h>

#include <asm/syscall.h>

#include "module.h"

#define ABI_NATIVE 0
#define ABI_COMPAT 1
#define ABI_X32 2
#define X32_BIT 0x40000000

/* The 16-bit argument: number (EDC_NO_SYSCALL: none that exists), ABI in the upper four bits. */
static u32 number_and_abi(long number)
{
	u32 abi = ABI_NATIVE;

#ifdef CONFIG_X86
	if (in_ia32_syscall()) {
		abi = ABI_COMPAT;
	} else if (number > 0 && number & X32_BIT) {
		abi = ABI_X32;
		number &= ~X32_BIT;
	}
#endif
	if (number < 0 || number > EDC_NO_SYSCALL)
		number = EDC_NO_SYSCALL;
	return (u32)number | abi << 12;
}

static void on_enter(void *data, struct pt_regs *regs, long number)
{
	u32 arg = number_and_abi(number);

	EDC_POST(arg >> 12 == ABI_COMPAT ? 321 : 320, arg);
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	if (result == (s16)result)
		EDC_POST(322, result);
	else
		EDC_POST(323, number_and_abi(syscall_get_nr(current, regs)), result);
}

struct edc_probe edc_syscall_probes[] = {
    {320, "sys_enter", on_enter},
    {322, "sys_exit", on_exit},
    {},
};
