// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample of all CPUs: by one call each CPU that is online is interrupted and posts what it was at, all at about the
 * same time (the global trigger sample of REMS). May be called in any context, NMI included: the
 * interrupts are sent from an interrupt of this CPU's own.
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
static u64 number; /* of the sample that is under way; written by who asks */

/*
 * x86 keeps the interrupted registers of its timer alone. Any interrupt runs on the thread's own stack there if it came
 * from user mode, else on the interrupt stack (arch/x86/include/asm/irq_stack.h).
 */
static bool came_from_user(void)
{
	struct pt_regs *regs = get_irq_regs();
	const int here = 0;

	return regs ? user_mode(regs) : IS_ENABLED(CONFIG_X86_64) && in_hardirq() && object_is_on_stack(&here);
}

/* An idle CPU that polls finds the request without an interrupt. */
static u32 what_is_done(void)
{
	if (is_idle_task(current))
		return EDC_DOING_IDLE;
	return came_from_user() ? EDC_DOING_USER : EDC_DOING_KERNEL;
}

static DEFINE_PER_CPU(u64, answered);

/* A request that is late answers the one behind it too: each sample has a CPU once. */
static void post_sample(void *unused)
{
	const u64 now = READ_ONCE(number);
	const u32 doing = what_is_done();

	if (__this_cpu_read(answered) == now)
		return;
	__this_cpu_write(answered, now);
	trace_edc_sample(doing, now); /* counters are read there */
	EDC_POST(EDC_ID_sample, EDC_KEEP_ALWAYS, doing, edc_pair(current->pid, current->tgid), now);
}

static DEFINE_PER_CPU(call_single_data_t, requests);
static atomic_t asking;

/*
 * Interrupts are off. A CPU that has not answered the sample before has no part in this one; while another CPU asks
 * there is none, for a request may be sent by one at a time.
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
	post_sample(NULL);
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

/* By a timer of the kernel: who asked need not run for it, and is not what its CPU is seen at. */
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
	if (ns < EDC_SAMPLE_LEAST_NS || ns > S64_MAX)
		return -EINVAL;
	every = ns_to_ktime(ns);
	hrtimer_setup(&timer, on_time, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&timer, every, HRTIMER_MODE_REL_HARD);
	return 0;
}

/* A module's variables per CPU get no addresses by their initialisers. */
void edc_sample_attach(const struct edc_device_classes *classes)
{
	unsigned int cpu;

	if (attached || !edc_device_has(classes, EDC_ID_sample))
		return;
	number = 0;
	for_each_possible_cpu(cpu) {
		per_cpu(answered, cpu) = 0;
		INIT_CSD(per_cpu_ptr(&requests, cpu), post_sample, NULL);
	}
	WRITE_ONCE(attached, true);
}

void edc_sample_attached(struct edc_device_classes *classes)
{
	if (attached)
		edc_device_add(classes, EDC_ID_sample);
}

static void nothing(void *unused)
{
}

/* Behind it no request is under way. */
void edc_sample_detach(void)
{
	if (!attached)
		return;
	WRITE_ONCE(attached, false);
	if (every)
		hrtimer_cancel(&timer);
	every = 0;
	irq_work_sync(&sample_work);
	on_each_cpu(nothing, NULL, 1); /* each CPU has come to its requests, */
	synchronize_rcu();	       /* and has left the interrupt */
}
