/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/monitor: what the recorder of the kernel's events asks of the kernel module; user_device.h: what programs ask.
 * Used by kmod/device.c and userspace/card/module_card.cpp.
 *
 * Who may record (CAP_PERFMON) opens the device and creates the card: one at a time. Then each possible CPU has an area
 * as card.h describes it, struct edc_cpu and its blocks. They are mapped at CPU * area size: the first page, struct
 * edc_reader, readable and writable, all behind it only readable. Closing the last descriptor and mapping ends all.
 *
 * poll() says that a ring was found half full since the last read(), which gives a __u64, as of an eventfd.
 *
 * Classes are chosen by bits: bit ID - EDC_ID_KERNEL_FIRST of EDC_CARD_CLASSES.
 */
#ifndef MONITOR_DEVICE_H
#define MONITOR_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "card.h"
#include "user_device.h"

#define EDC_DEVICE_VERSION 6

struct edc_device_classes {
	__u64 bits[EDC_CARD_CLASSES / 64];
};

struct edc_device_info {
	__u32 version;
	__u32 cpus;                        /* possible ones; the areas are numbered by them */
	__u32 in_use;                      /* a recorder has the card */
	__u32 refused;                     /* processes that got no rings (user_device.h) since the module was loaded */
	struct edc_device_classes classes; /* that this kernel has, and the module probes */
};

struct edc_device_create {
	__u8 uuid[16];                   /* for the headers of blocks */
	__u64 area_bytes;                /* of each CPU: EDC_CPU_HEADER and the blocks */
	__u32 blocks[EDC_CARD_LEVELS];   /* of each ring; together what the area has */
	__u32 filtering;                 /* 1: only processes that EDC_DEVICE_TRACE adds, and their children */
	__u32 reserved;                  /* 0 */
	__u8 counters[EDC_COUNTER_SETS]; /* values of each set; 0: no such set */
};

/* The kernel's own counts of page faults since the last EDC_DEVICE_ATTACH that asked for them, or EDC_DEVICE_RESET. */
struct edc_device_faults {
	__u64 minor;
	__u64 major;
};

#define EDC_DEVICE_INFO _IOR('E', 0x40, struct edc_device_info)
/* EPERM: not allowed. EBUSY: another recorder has the card. EINVAL: sizes that do not fit. ENOMEM: too large. */
#define EDC_DEVICE_CREATE _IOW('E', 0x41, struct edc_device_create)
/* Probes for these classes, besides those that are there. Behind it they are those that are attached now. */
#define EDC_DEVICE_ATTACH _IOWR('E', 0x42, struct edc_device_classes)
/* All probes away; behind it none runs any more. */
#define EDC_DEVICE_DETACH _IO('E', 0x43)
/* Forget all tokens, counts and traced processes. EBUSY while probes are attached. */
#define EDC_DEVICE_RESET _IO('E', 0x44)
#define EDC_DEVICE_FAULTS _IOR('E', 0x45, struct edc_device_faults)
/*
 * Every CPU posts a `sample`, so often, in ns, from now on until EDC_DEVICE_DETACH; 0: once, now. ENODATA: that class
 * is not attached. EBUSY: it is done already, or the one before is under way. EINVAL: more often than anybody can want.
 */
#define EDC_DEVICE_SAMPLE _IOW('E', 0x46, __u64)
#define EDC_SAMPLE_LEAST_NS 100000
/* The process with this number, a __s32, is traced from now on; with -number no more. */
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

EDC_ASSERT(sizeof(struct edc_device_info) == 32);
EDC_ASSERT(sizeof(struct edc_device_create) == 56);

#endif
