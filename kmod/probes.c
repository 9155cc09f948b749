// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches the tracepoint probes of all families to the kernel's tracepoints, which it finds by name (fault.c and
 * sample.c also have other sources of events). The caller holds the lock of device.c. A probe may be passed more
 * arguments than it declares: newer kernels append some.
 */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "module.h"

static struct edc_probe *const families[] = { edc_sched_probes, edc_irq_probes, edc_syscall_probes, edc_fault_probes };

#define for_each_probe(probe)                                                     \
	for (unsigned int family_ = 0; family_ < ARRAY_SIZE(families); family_++) \
		for (struct edc_probe *probe = families[family_]; probe->id; probe++)

static void find(struct tracepoint *tracepoint, void *unused)
{
	for_each_probe(probe)
		if (strcmp(probe->tracepoint, tracepoint->name) == 0)
			probe->found = tracepoint;
}

void edc_probes_find(void)
{
	for_each_kernel_tracepoint(find, NULL);
}

void edc_probes_available(struct edc_device_classes *classes)
{
	for_each_probe(probe)
		if (probe->found)
			edc_device_classes_add(classes, probe->id);
}

int edc_probes_attach(const struct edc_device_classes *classes)
{
	for_each_probe(probe) {
		int error = 0;

		if (!probe->attached && probe->found && edc_device_classes_has(classes, probe->id)) {
			error = tracepoint_probe_register(probe->found, probe->function, NULL);
			probe->attached = !error;
		}
		if (error)
			return error;
	}
	return 0;
}

void edc_probes_attached(struct edc_device_classes *classes)
{
	for_each_probe(probe)
		if (probe->attached)
			edc_device_classes_add(classes, probe->id);
}

void edc_probes_detach(void)
{
	for_each_probe(probe) {
		if (probe->attached)
			tracepoint_probe_unregister(probe->found, probe->function, NULL);
		probe->attached = false;
	}
	tracepoint_synchronize_unregister();
}
