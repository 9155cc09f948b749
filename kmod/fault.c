// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family fault: the page-fault tracepoints at entry; the kernel's software events, period 1, at completion. Those are
 * the kernel's own count of faults too.
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "module.h"

static void on_user_fault(void *data, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	EDC_POST(340, error_code, address);
}

static void on_kernel_fault(void *data, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	EDC_POST(341, error_code, address);
}

struct edc_probe edc_fault_probes[] = {
	{ 340, "page_fault_user", on_user_fault },
	{ 341, "page_fault_kernel", on_kernel_fault },
	{},
};

static void on_minor(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	EDC_POST(342, user_mode(regs));
}

static void on_major(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	EDC_POST(343, user_mode(regs));
}

static struct software_event {
	u32 id;
	u64 config;
	perf_overflow_handler_t handler;
	struct perf_event *__percpu *events;
	u64 counted;
	bool attached;
} software_events[] = {
	{ 342, PERF_COUNT_SW_PAGE_FAULTS_MIN, on_minor },
	{ 343, PERF_COUNT_SW_PAGE_FAULTS_MAJ, on_major },
};

static void close_events(struct software_event *software)
{
	u64 enabled, running;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct perf_event *event = *per_cpu_ptr(software->events, cpu);

		if (!event)
			continue;
		perf_event_disable(event);
		software->counted += perf_event_read_value(event, &enabled, &running);
		perf_event_release_kernel(event);
	}
	free_percpu(software->events);
	software->events = NULL;
	software->attached = false;
}

static int open_events(struct software_event *software)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = software->config,
		.sample_period = 1,
		.pinned = 1,
	};
	unsigned int cpu;
	int error = 0;

	software->events = alloc_percpu(struct perf_event *);
	if (!software->events)
		return -ENOMEM;
	software->attached = true;
	software->counted = 0;
	for_each_possible_cpu(cpu) {
		struct perf_event *event =
			perf_event_create_kernel_counter(&attributes, cpu, NULL, software->handler, NULL);

		if (PTR_ERR(event) == -ENODEV)
			continue; /* a possible CPU that is offline */
		if (IS_ERR(event)) {
			error = PTR_ERR(event);
			break;
		}
		*per_cpu_ptr(software->events, cpu) = event;
	}
	if (error)
		close_events(software);
	return error;
}

int edc_faults_attach(const struct edc_device_classes *classes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software_events); i++) {
		struct software_event *software = &software_events[i];
		int error = 0;

		if (edc_device_has(classes, software->id) && !software->attached)
			error = open_events(software);
		if (error)
			return error;
	}
	return 0;
}

void edc_faults_attached(struct edc_device_classes *classes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software_events); i++)
		if (software_events[i].attached)
			edc_device_add(classes, software_events[i].id);
}

void edc_faults_detach(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software_events); i++)
		if (software_events[i].attached)
			close_events(&software_events[i]);
}

void edc_faults_there(struct edc_device_classes *classes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software_events); i++)
		edc_device_add(classes, software_events[i].id);
}

static u64 count_of(struct software_event *software)
{
	u64 count = software->counted, enabled, running;
	unsigned int cpu;

	if (!software->attached)
		return count;
	for_each_possible_cpu(cpu) {
		struct perf_event *event = *per_cpu_ptr(software->events, cpu);

		if (event)
			count += perf_event_read_value(event, &enabled, &running);
	}
	return count;
}

void edc_faults_counts(struct edc_device_faults *counts)
{
	counts->minor = count_of(&software_events[0]);
	counts->major = count_of(&software_events[1]);
}
