/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/monitor for instrumented programs: if no recorder answers (user_ring.h), the kernel module gives rings and ids
 * to a process that may open the device. Used by edc_connect.h, kmod/user_*.c and userspace/card/user_module.cpp.
 *
 *     the program:   open, EDC_DEVICE_HELLO, mmap of offset 0, close; the mapping keeps the rings
 *     the recorder:  open, EDC_DEVICE_USERS, then read() returns the processes, one by one, and mmap their rings
 *
 * Rings handed out while there is no recorder are full from the start: their events are discarded, which is cheap,
 * until a recorder opens each ring with one store. Such a recorder also gives its other programs ids from the module,
 * so that all its programs share one set of ids.
 */
#ifndef MONITOR_USER_DEVICE_H
#define MONITOR_USER_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "user_ring.h"

#define EDC_DEVICE "/dev/monitor"

/* A program's request and the answer: like struct edc_hello and struct edc_welcome, with pointers. */
struct edc_device_hello {
	struct edc_welcome welcome; /* the answer */
	__u64 texts;                /* "NAME\0FIELDS\0" for each class */
	__u64 ids;                  /* answer: a __u16 for each class, 0: rejected */
	__u32 request;              /* EDC_HELLO_* */
	__u32 classes;
	__u32 text_bytes;
	__u32 reserved; /* 0 */
};

/* A process that has rings, as read by the recorder. */
struct edc_device_process {
	__u32 number; /* its area is mapped at number * EDC_DEVICE_AREA_STEP */
	__u32 pid;    /* in the reader's PID namespace; 0: it has none there */
	__u64 area_bytes;
	__u32 rings;
	__u32 blocks;
	__u32 open;  /* 1: its rings accepted events from the start; 0: they wait for the recorder to open them */
	__u32 ended; /* 1: the process has ended; its rings still exist */
};

/* A class that programs declared. */
struct edc_device_class {
	__u64 serial; /* in: get the first class after this; out: its serial */
	__u64 text;   /* buffer for "NAME\0FIELDS\0" */
	__u32 bytes;  /* in: of the buffer; out: of the text */
	__u32 id;     /* out */
};

#define EDC_DEVICE_AREA_STEP (1ull << 36)
#define EDC_DEVICE_CLASS_BYTES 4096 /* no class has a longer text */

/*
 * EINVAL: no such request, or malformed texts. EBUSY: this descriptor already has rings. ENOSPC: the user's processes
 * have all the memory they may have, or none is available. ESRCH: a process without rings requests more classes.
 */
#define EDC_DEVICE_HELLO _IOWR('E', 0x47, struct edc_device_hello)
/* A recorder with CAP_PERFMON takes the events of all processes. EPERM: not allowed. EBUSY: another one does. */
#define EDC_DEVICE_USERS _IO('E', 0x48)
/* ENOENT: no class after it. ENOSPC: its text is longer than the buffer. EBADFD: not the recorder. */
#define EDC_DEVICE_CLASS _IOWR('E', 0x49, struct edc_device_class)

EDC_ASSERT(sizeof(struct edc_device_hello) == 64);
EDC_ASSERT(sizeof(struct edc_device_process) == 32);
EDC_ASSERT(sizeof(struct edc_device_class) == 24);

#endif
