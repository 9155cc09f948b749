/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Posting from inside the kernel: functions of the module monitor_edc for other modules (exported to those under the
 * GPL) and for BPF programs of type tracing (tp_btf, fentry, fexit, iter; kfuncs, found where the module has BTF).
 *
 * Any context, NMI included. While nobody records nothing happens; a recording has what is posted whichever families
 * it was asked for. What finds no room is counted.
 */
#ifndef MONITOR_KERNEL_POST_H
#define MONITOR_KERNEL_POST_H

#include <linux/types.h>

#ifdef __bpf__
#define EDC_KERNEL_FUNCTION __attribute__((weak, section(".ksyms"))) /* __weak __ksym: it may not be there */
#else
#define EDC_KERNEL_FUNCTION
#endif

/*
 * A token of a class of the kernel's range (EDC_KERNEL_CLASSES in monitor/card.h), with its argument of 16 bits.
 * -EINVAL: there is no such class, or it has a payload.
 */
int edc_post(__u32 id, __u32 arg) EDC_KERNEL_FUNCTION;

/* Likewise with its payload. -EINVAL: there is no such class, or its payload is of another size. */
int edc_post_payload(__u32 id, __u32 arg, const void *words, __u32 words__sz) EDC_KERNEL_FUNCTION;

/* The trace clock now, in ticks. */
__u64 edc_tsc(void) EDC_KERNEL_FUNCTION;

/*
 * A trigger: every CPU that is online posts a `sample`, what it is at, all at about the same time. It returns at once.
 * -ENODATA: nobody records samples; -EBUSY: one is under way.
 */
int edc_sample(void) EDC_KERNEL_FUNCTION;

/* Of the recorder's own BPF programs, not exported: whether -p selects a process; it does from now on. */
int edc_is_traced(__s32 process) EDC_KERNEL_FUNCTION;
int edc_trace(__s32 process) EDC_KERNEL_FUNCTION;

#endif
