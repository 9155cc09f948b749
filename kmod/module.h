/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event-data card as a kernel module: declarations shared by its files.
 *
 *     sched.c irq.c syscall.c fault.c sample.c  --EDC_POST()-->  rings.c  <--mmap--  device.c  <--ioctl--  the recorder
 *            ^ probes.c attaches
 *
 * The rings of instrumented processes (include/monitor/user_device.h) have headers of their own. A file calls only
 * those to its right:
 *
 *     device.c --> user_programs.c --> user_recorder.c --> user_area.c --> user_classes.c --> user_accounts.c
 *
 * Invariant: a probe posts with preemption disabled, so probes on one CPU nest last-in-first-out and every ring, one
 * per CPU and nesting level, has one writer at a time (include/monitor/ring.h). A probe never sleeps or allocates.
 */
#ifndef MONITOR_KMOD_MODULE_H
#define MONITOR_KMOD_MODULE_H

#include <linux/bitops.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "monitor/device.h"
#include "monitor/kernel_events.h"

struct file;
struct perf_event_attr;
struct poll_table_struct;
struct tracepoint;
struct vm_area_struct;

/* rings.c */

/*
 * Post a token of class `id` with `count` payload words. Any context, NMI included. Events that the filter rejects or
 * that do not fit are counted with the ring. A no-op before a card is created and after it is stopped.
 */
void edc_post_words(u32 id, s32 target, u32 arg, const u64 *words, u32 count);
/* Sets this CPU's edc_cpu.runs to `who`; returns the previous value. */
u32 edc_runs(u32 who);

/* post_NAME() and post_NAME_of(), from card.h's table: kernel_events.h. */
#define EDC_POST_FUNCTIONS(id, IDENT, ident, name, family, words, fields)                  \
	static __always_inline void post_##ident(EDC_PARAMETERS(fields))                   \
	{                                                                                  \
		EDC_PACK(words, fields);                                                   \
		edc_post_words(EDC_ID_##IDENT, EDC_FILTER_CURRENT, arg_, words_, words);   \
	}                                                                                  \
	static __always_inline void post_##ident##_of(s32 target_, EDC_PARAMETERS(fields)) \
	{                                                                                  \
		EDC_PACK(words, fields);                                                   \
		edc_post_words(EDC_ID_##IDENT, target_, arg_, words_, words);              \
	}
EDC_KERNEL_CLASSES(EDC_POST_FUNCTIONS)
#undef EDC_POST_FUNCTIONS

int edc_rings_create(const struct edc_device_create *wanted);
void edc_rings_free(void);
void edc_rings_reset(void);
void *edc_rings_area(unsigned int cpu);
u64 edc_rings_area_bytes(void);
bool edc_rings_overwrite(void);
/* Stops or resumes the probes of a CPU, or of all (EDC_CPU_UNKNOWN). -EINVAL: no such CPU. */
int edc_rings_stop(u32 cpu, bool stopped);
/* Whether a ring was half full since the last read. Reading returns -EAGAIN if none was. */
__poll_t edc_rings_poll(struct file *file, struct poll_table_struct *wait);
ssize_t edc_rings_read(char __user *to, size_t bytes);

/*
 * filter.c: the processes that -p selects, by their PIDs in the initial namespace. Any context; create, clear, end and
 * free only by the device while no probe is attached.
 */
extern unsigned long *edc_traced; /* a bit for each; NULL: no filter, all pass */

/* Called with preemption disabled. */
static inline bool edc_filter_passes(s32 target)
{
	const unsigned long *set = READ_ONCE(edc_traced);

	return !set || target == EDC_FILTER_NONE || test_bit(current->tgid, set) ||
	       (target > 0 && test_bit(target, set));
}

bool edc_traced_has(s32 process);
void edc_traced_set(s32 process, bool is_traced);
int edc_filter_create(void);
void edc_filter_clear(void);
/* After this and a grace period the set is unused, and edc_filter_free() may follow. */
void edc_filter_end(void);
void edc_filter_free(void);

/*
 * match.c: the events that --filter keeps, --count counts and --time times, and those that --trigger waits for. Set by
 * the device, under its lock.
 */
extern struct edc_matcher *edc_matching; /* NULL: all events are kept */

/*
 * Counts and times an event, and sets the bits of fired triggers in the level's `fires`. Sets `time` if the expressions
 * read the clock. Returns whether the event is kept. Called with preemption disabled.
 */
bool edc_judge(const struct edc_matcher *matcher, struct edc_cpu *cpu, u32 level, u32 id, u32 arg, const u64 *words,
	       u32 count, u64 *time);
int edc_match_set(const struct edc_device_matcher *wanted);
/* Under the device's lock. -EINVAL: no such trigger. */
int edc_triggers_overdue(struct edc_device_overdue *overdue);

/* probes.c: the tracepoint probes of all families, by class. */

struct edc_probe {
	u32 id; /* of the class that it posts, or the first of them */
	const char *tracepoint;
	void *function;
	struct tracepoint *found;
	bool attached;
};

/* The probes of each family; an entry without an id ends the array. */
extern struct edc_probe edc_sched_probes[], edc_irq_probes[], edc_syscall_probes[], edc_fault_probes[];

/* sched.c: offsets of fields private to the scheduler. -EINVAL: out of range. */
int edc_sched_describe(const struct edc_device_create *wanted);

void edc_probes_find(void);
void edc_probes_available(struct edc_device_classes *classes);
/* On an error, those attached so far remain attached: call edc_probes_detach(). */
int edc_probes_attach(const struct edc_device_classes *classes);
void edc_probes_attached(struct edc_device_classes *classes);
void edc_probes_detach(void);

/* fault.c: the software events of page faults, likewise. */
void edc_faults_available(struct edc_device_classes *classes);
int edc_faults_attach(const struct edc_device_classes *classes);
void edc_faults_attached(struct edc_device_classes *classes);
void edc_faults_detach(void);
/* Only while none is attached. */
void edc_faults_reset(void);
void edc_faults_counts(struct edc_device_faults *counts);

/*
 * sample.c: samples all CPUs, once (from any context) or periodically. -ENODATA: samples are not attached. -EBUSY: a
 * sample or the timer is already in progress.
 */
int edc_sample_once(void);
int edc_sample_every(u64 ns);
void edc_sample_attach(const struct edc_device_classes *classes);
void edc_sample_attached(struct edc_device_classes *classes);
void edc_sample_detach(void);

/* device.c */
int edc_device_register(void);
void edc_device_unregister(void);

/* kfuncs.c */
int edc_kfuncs_register(void);
/* Sets the number of values in each counter set for the recording that starts. -EINVAL: more than a set can have. */
int edc_kfuncs_describe(const u8 *counters);

#endif
