// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample of all CPUs: one call interrupts every online CPU, and each posts what it was doing, all at about the same
 * time (the global trigger sample of REMS). May be called in any context, NMI included: the IPIs are sent from an
 * irq_work on the calling CPU.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>

#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#include "compat.h"
#include "module.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static bool attached;
static u64 number; /* of the sample in progress; written by the requester */

/*
 * x86 keeps the interrupted registers only for its timer. There an interrupt runs on the thread's stack if it came from
 * user mode, else on the interrupt stack (arch/x86/include/asm/irq_stack.h).
 */
static bool came_from_user(void)
{
	struct pt_regs *regs = get_irq_regs();
	const int here = 0;

	return regs ? user_mode(regs) : IS_ENABLED(CONFIG_X86_64) && in_hardirq() && object_is_on_stack(&here);
}

/* The mode of this CPU. A polling idle CPU handles the request without an interrupt. */
static u32 what_is_done(void)
{
	if (is_idle_task(current))
		return EDC_DOING_IDLE;
	return came_from_user() ? EDC_DOING_USER : EDC_DOING_KERNEL;
}

static DEFINE_PER_CPU(u64, answered);

#pragma GCC diagnostic push
#include "checked.h"
/* A late IPI also serves the next request, so a CPU appears once per sample. */
static void sample_this_cpu(void *unused)
{
	const u64 now = READ_ONCE(number);
	const u32 doing = what_is_done();

	if (__this_cpu_read(answered) == now)
		return;
	__this_cpu_write(answered, now);
	trace_edc_sample(doing, now); /* counters are read here */
	post_sample_of(EDC_FILTER_NONE, doing, current->pid, current->tgid, now);
}
#pragma GCC diagnostic pop

static DEFINE_PER_CPU(call_single_data_t, requests);
static atomic_t asking;

/*
 * Called with interrupts off. A CPU with a request still pending from the previous sample gets no new one. While
 * another CPU is sending there is no sample: only one CPU at a time may send requests.
 */
static void ask_all(void)
{
	const unsigned int self = smp_processor_id();
	unsigned int cpu;

	if (atomic_xchg(&asking, 1))
		return;
	WRITE_ONCE(number, number + 1);
	for_each_online_cpu(cpu)
		if (cpu != self)
			smp_call_function_single_async(cpu, per_cpu_ptr(&requests, cpu));
	sample_this_cpu(NULL);
	atomic_set_release(&asking, 0);
}

static void on_call(struct irq_work *unused)
{
	ask_all();
}

static struct irq_work sample_work = IRQ_WORK_INIT_HARD(on_call);

int edc_sample_once(void)
{
	if (!READ_ONCE(attached))
		return -ENODATA;
	return irq_work_queue(&sample_work) ? 0 : -EBUSY;
}

/* hrtimer-driven: the requester need not run, so it does not bias the sample. */
static struct hrtimer timer;
static ktime_t every; /* 0: the timer does not run */

static enum hrtimer_restart on_time(struct hrtimer *unused)
{
	ask_all();
	hrtimer_forward_now(&timer, every);
	return HRTIMER_RESTART;
}

int edc_sample_every(u64 ns)
{
	if (!attached)
		return -ENODATA;
	if (every)
		return -EBUSY;
	if (ns < EDC_SAMPLE_MIN_NS || ns > S64_MAX)
		return -EINVAL;
	every = ns_to_ktime(ns);
	hrtimer_setup(&timer, on_time, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&timer, every, HRTIMER_MODE_REL_HARD);
	return 0;
}

/* Done here because initialisers of a module's per-CPU variables cannot contain their addresses. */
void edc_sample_attach(const struct edc_device_classes *classes)
{
	unsigned int cpu;

	if (attached || !edc_device_classes_has(classes, EDC_ID_SAMPLE))
		return;
	number = 0;
	for_each_possible_cpu(cpu) {
		per_cpu(answered, cpu) = 0;
		INIT_CSD(per_cpu_ptr(&requests, cpu), sample_this_cpu, NULL);
	}
	WRITE_ONCE(attached, true);
}

void edc_sample_attached(struct edc_device_classes *classes)
{
	if (attached)
		edc_device_classes_add(classes, EDC_ID_SAMPLE);
}

static void nothing(void *unused)
{
}

/* On return no request is in progress. */
void edc_sample_detach(void)
{
	if (!attached)
		return;
	WRITE_ONCE(attached, false);
	if (every)
		hrtimer_cancel(&timer);
	every = 0;
	irq_work_sync(&sample_work);
	on_each_cpu(nothing, NULL, 1); /* each CPU has handled its IPIs */
	synchronize_rcu();	       /* and left the interrupt */
}
