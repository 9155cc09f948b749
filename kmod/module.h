/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event-data card as a kernel module: what its files share.
 *
 *     sched.c irq.c syscall.c fault.c sample.c  --EDC_POST()-->  rings.c  <--mmap--  device.c  <--ioctl--  the recorder
 *            ^ probes.c attaches
 *
 * Invariant: a probe posts with preemption off, so probes on one CPU nest last-in-first-out and every ring, one per CPU
 * and nesting level, has one writer at a time (include/monitor/ring.h). Nothing here sleeps or allocates in a probe.
 */
#ifndef MONITOR_KMOD_MODULE_H
#define MONITOR_KMOD_MODULE_H

#include <linux/bitops.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "monitor/card.h"
#include "monitor/device.h"

struct file;
struct perf_event_attr;
struct poll_table_struct;
struct tracepoint;
struct vm_area_struct;

/* rings.c */

#define EDC_KEEP_BY_CURRENT 0 /* the filter judges the running thread's process */
#define EDC_KEEP_ALWAYS (-1)
/* a positive number: the filter keeps it if that process or the running thread's is traced */

/*
 * Post a token of class `id` with `count` payload words. Any context, NMI included. What the filter does not keep and
 * what does not fit is counted in the ring; before a card is created and when it stopped nothing happens.
 */
void edc_post_words(u32 id, s32 keep, u32 arg, const u64 *words, u32 count);

#define EDC_POST(id, keep, arg, ...)                                               \
	do {                                                                       \
		const u64 words_[] = { 0, ##__VA_ARGS__ };                         \
		edc_post_words(id, keep, arg, words_ + 1, ARRAY_SIZE(words_) - 1); \
	} while (0)

/* Two 32-bit payload fields in one word, the first one lower. */
static inline u64 edc_pair(u32 first, u32 second)
{
	return (u64)first | (u64)second << 32;
}

/* The first 16 bytes of a name as two payload words, NUL-padded. */
struct edc_comm {
	u64 word[2];
};

int edc_rings_create(const struct edc_device_create *wanted);
void edc_rings_free(void);
void edc_rings_reset(void);
void *edc_rings_area(unsigned int cpu);
u64 edc_rings_area_bytes(void);
/* A ring was half full since the last read. -EAGAIN: none was. */
__poll_t edc_rings_poll(struct file *file, struct poll_table_struct *wait);
ssize_t edc_rings_read(char __user *to, size_t bytes);

/*
 * filter.c: the processes that -p selects, by their numbers in the first namespace. Any context; create, clear, end and
 * free are for the device, while no probe is attached.
 */
extern unsigned long *edc_traced; /* a bit for each; NULL: no filter, all are kept */

/* With preemption off. */
static inline bool edc_filter_keeps(s32 keep)
{
	const unsigned long *set = READ_ONCE(edc_traced);

	return !set || keep == EDC_KEEP_ALWAYS || test_bit(current->tgid, set) || (keep > 0 && test_bit(keep, set));
}

bool edc_filter_has(s32 process);
void edc_filter_set(s32 process, bool is_traced);
int edc_filter_create(void);
void edc_filter_clear(void);
/* Behind it and a grace period nobody uses it any more, and edc_filter_free() may follow. */
void edc_filter_end(void);
void edc_filter_free(void);

/* probes.c: the probes of all families by class. */

struct edc_probe {
	u32 id; /* of the class, or of the first one, that it posts */
	const char *tracepoint;
	void *function;
	struct tracepoint *found;
	bool attached;
};

/* Each family's, ended by one without an id. */
extern struct edc_probe edc_sched_probes[], edc_irq_probes[], edc_syscall_probes[], edc_fault_probes[];

void edc_probes_find(void);
void edc_probes_there(struct edc_device_classes *classes);
int edc_probes_attach(const struct edc_device_classes *classes);
void edc_probes_attached(struct edc_device_classes *classes);
void edc_probes_detach(void);

/* fault.c: the software events of page faults, likewise. */
void edc_faults_there(struct edc_device_classes *classes);
int edc_faults_attach(const struct edc_device_classes *classes);
void edc_faults_attached(struct edc_device_classes *classes);
void edc_faults_detach(void);
/* While none is attached. */
void edc_faults_forget(void);
void edc_faults_counts(struct edc_device_faults *counts);

/*
 * sample.c: the sample of all CPUs, once, from any context, or again and again. -ENODATA if it is not attached, -EBUSY
 * while one is under way.
 */
int edc_sample_once(void);
int edc_sample_every(u64 ns);
void edc_sample_attach(const struct edc_device_classes *classes);
void edc_sample_attached(struct edc_device_classes *classes);
void edc_sample_detach(void);

/* users.c: the rings of instrumented processes, and their recorder, by open files. */
int edc_users_ioctl(struct file *file, unsigned int command, void *argument);
ssize_t edc_users_read(struct file *file, char __user *to, size_t bytes);
__poll_t edc_users_poll(struct file *file, struct poll_table_struct *wait);
int edc_users_map(struct file *file, struct vm_area_struct *vma);
void edc_users_release(struct file *file);
/* Whether this file is a program's or their recorder's. */
bool edc_users_has(struct file *file);
/* Processes that got no rings, since the module was loaded. */
u32 edc_users_refused(void);

/* device.c */
int edc_device_register(void);
void edc_device_unregister(void);

/* kfuncs.c */
int edc_kfuncs_register(void);
/* How many values each set of counters has in the recording that begins. -EINVAL: more than any has. */
int edc_kfuncs_describe(const u8 *counters);

#endif
