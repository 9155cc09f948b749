/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The 16-bit argument of sys_enter: number and ABI. Used by the cards of the kernel. */
#ifndef MONITOR_SYSCALL_ARG_H
#define MONITOR_SYSCALL_ARG_H

#include "card.h"

#define EDC_ABI_NATIVE 0
#define EDC_ABI_COMPAT 1
#define EDC_ABI_X32 2
#define EDC_X32_BIT 0x40000000

/* The number (EDC_NO_SYSCALL: none that exists), the ABI in the upper four bits. x32 is told by the number itself. */
static inline __attribute__((always_inline)) __u32 edc_syscall_arg(long number, int is_compat)
{
	__u32 abi = is_compat ? EDC_ABI_COMPAT : EDC_ABI_NATIVE;

#if defined(__TARGET_ARCH_x86) || defined(CONFIG_X86)
	if (!is_compat && number > 0 && number & EDC_X32_BIT) {
		abi = EDC_ABI_X32;
		number &= ~(long)EDC_X32_BIT;
	}
#endif
	if (number < 0 || number > EDC_NO_SYSCALL)
		number = EDC_NO_SYSCALL;
	return (__u32)number | abi << 12;
}

#endif
