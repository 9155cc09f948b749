/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/monitor for instrumented programs: where no recorder answers (user_ring.h), the kernel module gives a process of
 * who may open the device its rings and ids. Used by edc_connect.h, kmod/users.c and userspace/card/user_device.cpp.
 *
 *     the program:   open, EDC_DEVICE_HELLO, mmap of offset 0, close; the mapping keeps the rings
 *     the recorder:  open, EDC_DEVICE_USERS, then read() tells the processes, one by one, and mmap gives their rings
 *
 * Rings that are handed out while no recorder is there are full from the beginning: their events are refused, as cheap
 * as that is, until a recorder opens them by one store each. The ids of such a recorder's other programs are the
 * module's too, so those of all its programs are one set.
 */
#ifndef MONITOR_USER_DEVICE_H
#define MONITOR_USER_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "user_ring.h"

#define EDC_DEVICE "/dev/monitor"

/* What a program says and hears: as struct edc_hello and struct edc_welcome, by pointers. */
struct edc_device_hello {
	struct edc_welcome welcome; /* the answer */
	__u64 texts;                /* "NAME\0FIELDS\0" for each class */
	__u64 ids;                  /* the answer's: a __u16 for each class, 0: refused */
	__u32 wish;                 /* EDC_HELLO_* */
	__u32 classes;
	__u32 text_bytes;
	__u32 reserved; /* 0 */
};

/* A process that has rings, as the recorder reads it. */
struct edc_device_process {
	__u32 number; /* its area is mapped at number * EDC_DEVICE_AREA_STEP */
	__u32 pid;    /* of the reader's namespace; 0: it has none there */
	__u64 area_bytes;
	__u32 rings;
	__u32 blocks;
	__u32 open;  /* 1: its rings took events from the first on; 0: they wait for the recorder to open them */
	__u32 ended; /* 1: the process is no more; its rings are */
};

/* A class that programs declared. */
struct edc_device_class {
	__u64 serial; /* the first one behind this is wanted; behind it: which it is */
	__u64 text;   /* where it goes: "NAME\0FIELDS\0" */
	__u32 bytes;  /* of the place; behind it: of the text */
	__u32 id;     /* the answer */
};

#define EDC_DEVICE_AREA_STEP (1ull << 36)
#define EDC_DEVICE_CLASS_BYTES 4096 /* no class has a longer text */

/*
 * EINVAL: no such wish, or texts that are none. EBUSY: this descriptor has rings already. ENOSPC: the user's processes
 * have all the memory that they may, or there is none. ESRCH: more classes, by a process that has no rings.
 */
#define EDC_DEVICE_HELLO _IOWR('E', 0x47, struct edc_device_hello)
/* Who records with CAP_PERFMON takes the events of all processes. EPERM; EBUSY: another one does. */
#define EDC_DEVICE_USERS _IO('E', 0x48)
/* ENOENT: there is none behind. ENOSPC: its text is longer than the place. EBADFD: not the recorder. */
#define EDC_DEVICE_CLASS _IOWR('E', 0x49, struct edc_device_class)

EDC_ASSERT(sizeof(struct edc_device_hello) == 64);
EDC_ASSERT(sizeof(struct edc_device_process) == 32);
EDC_ASSERT(sizeof(struct edc_device_class) == 24);

#endif
