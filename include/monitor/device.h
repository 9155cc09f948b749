/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/monitor: the kernel module's interface for the recorder of the kernel's events; user_device.h is the one for
 * programs. Used by kmod/device.c and userspace/recording/card/module_card.cpp.
 *
 * A recorder with CAP_PERFMON opens the device and creates the card, one at a time. Each possible CPU then has an area
 * as described in card.h: struct edc_cpu and its blocks. The areas are mapped at CPU * area size: the first page,
 * struct edc_reader, is readable and writable, the rest read-only. Closing the last descriptor and mapping ends all.
 *
 * poll() reports that a ring was found half full since the last read(), which returns a __u64, like an eventfd; and as
 * POLLPRI, if that is asked for, that firings of triggers wait (trigger.h).
 *
 * Classes are selected by a bitmap of EDC_CARD_CLASSES bits: bit ID - EDC_ID_KERNEL_FIRST.
 */
#ifndef MONITOR_DEVICE_H
#define MONITOR_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "card.h"
#include "matcher.h"
#include "user_device.h"

#define EDC_DEVICE_VERSION 11

struct edc_device_classes {
	__u64 bits[EDC_CARD_CLASSES / 64];
};

struct edc_device_info {
	__u32 version;
	__u32 cpus;    /* possible CPUs; the areas are numbered by CPU */
	__u32 in_use;  /* the process of the recorder that has the card; 0: none */
	__u32 refused; /* requests for rings (user_device.h) that got no memory since the module was loaded */
	struct edc_device_classes classes; /* that this kernel has and the module probes */
};

struct edc_device_create {
	__u8 uuid[16];                   /* for the headers of blocks */
	__u64 area_bytes;                /* per CPU: EDC_CPU_HEADER and the blocks */
	__u32 blocks[EDC_CARD_LEVELS];   /* per ring; together they fill the area */
	__u32 filtering;                 /* 1: only processes that EDC_DEVICE_TRACE adds, and their children */
	__u32 overwriting;               /* 1: a flight recorder's rings (ring.h) */
	__u8 counters[EDC_COUNTER_SETS]; /* number of values in each set; 0: no such set */
};

/* The kernel's own counts of page faults since EDC_DEVICE_RESET or the last EDC_DEVICE_ATTACH that requested them. */
struct edc_device_faults {
	__u64 minor;
	__u64 major;
};

/* An edc_matcher (matcher.h) in the recorder's memory, which is copied. */
struct edc_device_matcher {
	__u64 address;
	__u64 bytes; /* its size; 0: none, all events are kept */
	__u32 times; /* how many it has */
	__u32 triggers;
};

/* First inputs of an EDC_TRIGGER_MISSING that were not followed in time. They are taken: each is returned once. */
#define EDC_DEVICE_OVERDUE_MAX 15
struct edc_device_overdue {
	__u32 trigger; /* its number */
	__u32 found;   /* returned: how many. As many as there is room for: ask again */
	__u64 before;  /* those from before this time */
	struct edc_begun_entry entry[EDC_DEVICE_OVERDUE_MAX];
};

#define EDC_DEVICE_INFO _IOR('E', 0x40, struct edc_device_info)
/* EPERM: not allowed. EBUSY: another recorder has the card. EINVAL: sizes do not match. ENOMEM: too large. */
#define EDC_DEVICE_CREATE _IOW('E', 0x41, struct edc_device_create)
/* Attaches probes for these classes, besides those already attached. On return: all classes that are attached. */
#define EDC_DEVICE_ATTACH _IOWR('E', 0x42, struct edc_device_classes)
/* Detaches all probes. On return none is running. */
#define EDC_DEVICE_DETACH _IO('E', 0x43)
/* Clears all tokens, counts and traced processes. EBUSY: probes are attached. */
#define EDC_DEVICE_RESET _IO('E', 0x44)
#define EDC_DEVICE_FAULTS _IOR('E', 0x45, struct edc_device_faults)
/*
 * Every CPU posts a `sample` at this interval, in ns, from now until EDC_DEVICE_DETACH; 0: once, now. ENODATA: that
 * class is not attached. EBUSY: already sampling, or the previous sample is in progress. EINVAL: interval out of range.
 */
#define EDC_DEVICE_SAMPLE _IOW('E', 0x46, __u64)
#define EDC_SAMPLE_MIN_NS 100000
/* From now on only events that this matcher keeps are posted. EINVAL: another size, or too many times. ENOMEM. EFAULT.
 */
#define EDC_DEVICE_MATCH _IOW('E', 0x47, struct edc_device_matcher)
/* EINVAL: there is no such trigger. */
#define EDC_DEVICE_OVERDUE _IOWR('E', 0x48, struct edc_device_overdue)
/* The process with this PID, a __s32, is traced from now on; with -PID no longer. */
#define EDC_DEVICE_TRACE _IOW('E', 0x4a, __s32)

static inline int edc_device_has(const struct edc_device_classes *classes, __u32 id)
{
	__u32 slot = id - EDC_ID_KERNEL_FIRST;

	return slot < EDC_CARD_CLASSES && (classes->bits[slot / 64] >> slot % 64 & 1);
}

static inline void edc_device_add(struct edc_device_classes *classes, __u32 id)
{
	__u32 slot = id - EDC_ID_KERNEL_FIRST;

	classes->bits[slot / 64] |= 1ull << slot % 64;
}

EDC_ASSERT(sizeof(struct edc_device_info) == 48);
EDC_ASSERT(sizeof(struct edc_device_create) == 56);
EDC_ASSERT(sizeof(struct edc_device_matcher) == 24);
EDC_ASSERT(sizeof(struct edc_device_overdue) == 256);

#endif
