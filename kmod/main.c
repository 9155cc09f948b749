// SPDX-License-Identifier: GPL-2.0-only
/* The event-data card as a kernel module: init and exit. It probes nothing until a recorder requests it. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>

#include "module.h"

static_assert(PAGE_SIZE == EDC_BLOCK_SIZE, "the blocks of the card are pages: the kernel's must have 4 KiB");

static int __init edc_init(void)
{
	edc_probes_find();
	if (edc_kfuncs_register())
		pr_warn("monitor_edc: no BTF of its own, so BPF programs cannot post\n");
	return edc_device_register();
}

static void __exit edc_exit(void)
{
	edc_device_unregister();
}

module_init(edc_init);
module_exit(edc_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The event-data card of monitor: events of the kernel as tokens in memory-mapped rings");
