// SPDX-License-Identifier: GPL-2.0-only
/*
 * Family fault: the page-fault tracepoints at entry; the kernel's software events, period 1, at completion. The
 * software events are also the kernel's own count of faults.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "module.h"

#pragma GCC diagnostic push
#include "checked.h"

static void on_user_fault(void *data, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	post_page_fault_user((u32)error_code, address);
}

static void on_kernel_fault(void *data, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	post_page_fault_kernel((u32)error_code, address);
}

struct edc_probe edc_fault_probes[] = {
	{ EDC_ID_PAGE_FAULT_USER, "page_fault_user", on_user_fault },
	{ EDC_ID_PAGE_FAULT_KERNEL, "page_fault_kernel", on_kernel_fault },
	{},
};

static void on_minor(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	post_minor_fault(user_mode(regs));
}

static void on_major(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	post_major_fault(user_mode(regs));
}
#pragma GCC diagnostic pop

static struct software_event {
	u32 id;
	u64 config;
	perf_overflow_handler_t handler;
	struct perf_event *__percpu *events;
	u64 counted; /* total of closed events */
	bool attached;
} software_events[] = {
	{ EDC_ID_MINOR_FAULT, PERF_COUNT_SW_PAGE_FAULTS_MIN, on_minor },
	{ EDC_ID_MAJOR_FAULT, PERF_COUNT_SW_PAGE_FAULTS_MAJ, on_major },
};

#define for_each_attached(software)                                                \
	for (struct software_event *software = software_events;                    \
	     software < software_events + ARRAY_SIZE(software_events); software++) \
		if (software->attached)

static void close_event(struct software_event *software, unsigned int cpu)
{
	struct perf_event **event = per_cpu_ptr(software->events, cpu);
	u64 enabled, running;

	if (!*event)
		return;
	perf_event_disable(*event);
	software->counted += perf_event_read_value(*event, &enabled, &running);
	perf_event_release_kernel(*event);
	*event = NULL;
}

static int open_event(struct software_event *software, unsigned int cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = software->config,
		.sample_period = 1,
		.pinned = 1,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attributes, cpu, NULL, software->handler, NULL);

	if (PTR_ERR(event) == -ENODEV)
		return 0; /* a possible CPU that is offline */
	if (IS_ERR(event))
		return PTR_ERR(event);
	*per_cpu_ptr(software->events, cpu) = event;
	return 0;
}

/*
 * Events die with their CPU when it goes offline, and do not return with it. A workqueue recreates them, since the
 * online callback runs with hotplug locks held.
 */
static DEFINE_MUTEX(events_lock); /* protects the events; nests within the device's lock */
static struct cpumask came_online;
static enum cpuhp_state online_state; /* 0: nothing is attached */

static void open_anew(struct work_struct *unused)
{
	unsigned int cpu;

	mutex_lock(&events_lock);
	for_each_possible_cpu(cpu) {
		if (!cpumask_test_and_clear_cpu(cpu, &came_online))
			continue;
		for_each_attached(software) {
			close_event(software, cpu);
			if (open_event(software, cpu))
				pr_warn("monitor_edc: page faults of CPU %u are not recorded any more\n", cpu);
		}
	}
	mutex_unlock(&events_lock);
}

static DECLARE_WORK(open_anew_work, open_anew);

static int on_online(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &came_online);
	schedule_work(&open_anew_work);
	return 0;
}

static int open_events(struct software_event *software)
{
	unsigned int cpu;
	int error = 0;

	software->events = alloc_percpu(struct perf_event *);
	if (!software->events)
		return -ENOMEM;
	software->attached = true;
	software->counted = 0;
	for_each_possible_cpu(cpu)
		error = error ?: open_event(software, cpu);
	return error;
}

static int watch_cpus(void)
{
	int state = online_state;

	if (!state)
		state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "monitor_edc:fault", on_online, NULL);
	if (state < 0)
		return state;
	online_state = state;
	return 0;
}

/* On error the caller must detach. */
int edc_faults_attach(const struct edc_device_classes *classes)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(software_events) && !error; i++) {
		if (software_events[i].attached || !edc_device_classes_has(classes, software_events[i].id))
			continue;
		error = watch_cpus();
		mutex_lock(&events_lock);
		if (!error)
			error = open_events(&software_events[i]);
		mutex_unlock(&events_lock);
	}
	return error;
}

void edc_faults_detach(void)
{
	unsigned int cpu;

	if (!online_state)
		return;
	cpuhp_remove_state_nocalls(online_state);
	online_state = 0;
	cancel_work_sync(&open_anew_work);
	for_each_attached(software) {
		for_each_possible_cpu(cpu)
			close_event(software, cpu);
		free_percpu(software->events);
		software->events = NULL;
		software->attached = false;
	}
	synchronize_rcu(); /* handlers run with preemption disabled */
}

void edc_faults_reset(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software_events); i++)
		software_events[i].counted = 0;
}

void edc_faults_attached(struct edc_device_classes *classes)
{
	for_each_attached(software)
		edc_device_classes_add(classes, software->id);
}

void edc_faults_available(struct edc_device_classes *classes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software_events); i++)
		edc_device_classes_add(classes, software_events[i].id);
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
	mutex_lock(&events_lock);
	counts->minor = count_of(&software_events[0]);
	counts->major = count_of(&software_events[1]);
	mutex_unlock(&events_lock);
}
