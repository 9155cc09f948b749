// SPDX-License-Identifier: GPL-2.0
/*
 * arm64: counts of the PMU's event 0, SW_INCR, are what software writes to PMSWINC_EL0 (Arm ARM, D17.5.24), which user
 * programs may not. Writing N to /sys/module/swinc/parameters/inc does it N times, in the kernel, for the thread that
 * writes: so a process has any count that a test wants it to have.
 */
#include <linux/module.h>

#include <asm/sysreg.h>

static int inc_set(const char *text, const struct kernel_param *param)
{
	unsigned long times;
	int error = kstrtoul(text, 0, &times);

	if (error)
		return error;
	while (times--) {
		preempt_disable(); /* all counters of one CPU */
		write_sysreg(0x3f, pmswinc_el0);
		isb();
		preempt_enable();
	}
	return 0;
}

static const struct kernel_param_ops inc_ops = {.set = inc_set};
module_param_cb(inc, &inc_ops, NULL, 0200);
MODULE_PARM_DESC(inc, "write to PMSWINC_EL0 so many times");
MODULE_DESCRIPTION("Counts of the PMU event SW_INCR, as many as one wants");
MODULE_LICENSE("GPL");
