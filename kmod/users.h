/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings for instrumented processes (include/monitor/user_device.h): what its files share.
 *
 *     device.c  --ioctl, read, poll, mmap, release-->  users.c  -->  user_area.c (memory), user_classes.c (ids)
 *
 * The module writes in an area when it makes it, and to close its rings when their recorder goes; what it reads there
 * it stores nowhere else. What a process does there is its own matter, and the recorder's, who believes nothing.
 */
#ifndef MONITOR_KMOD_USERS_H
#define MONITOR_KMOD_USERS_H

#include <linux/bitmap.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "monitor/token.h"
#include "monitor/user_device.h"

#define EDC_USER_CLASSES (EDC_ID_LAST + 1 - EDC_ID_USER_FIRST)

struct vm_area_struct;

/* What the processes of one user have. Lives while they have anything. */
struct edc_account {
	struct list_head node;
	kuid_t uid;
	unsigned int holders; /* areas and classes */
	unsigned int classes;
	u64 bytes;
};

/* The rings of one process. */
struct edc_area {
	struct list_head node; /* of all areas; left when nobody will look for it any more */
	struct kref refs;      /* the list, the process's file, each mapping */
	struct edc_account *account;
	struct pid *process;
	u32 number;
	bool open;  /* takes events from the first on */
	bool told;  /* the recorder knows of it */
	bool taken; /* the recorder has mapped it */
	bool ended; /* its file is released: neither its process nor a child has it any more */
	u32 rings, blocks;
	DECLARE_BITMAP(classes, EDC_USER_CLASSES); /* that its process declared */
	u32 pages;
	struct page *page[]; /* NULL: never touched */
};

/* user_area.c */

u64 edc_area_least_bytes(void);
/* Blocks of each ring of an area of so many bytes at most; 0: no rings at all. */
u32 edc_area_blocks(u64 bytes);
u64 edc_area_bytes(u32 blocks);
/* NULL: there is no memory. Its rings take events. */
struct edc_area *edc_area_make(u32 blocks);
/* From now on its rings are full. */
void edc_area_close(struct edc_area *area);
/* A mapping from the area's page `first` on. Whoever maps holds a reference for it. */
int edc_area_map(struct edc_area *area, struct vm_area_struct *vma);
void edc_area_free_memory(struct edc_area *area);

/* user_classes.c; all under the lock of users.c */

/*
 * The id of the class with this text, a new one if need be, of that account's; NULL: a recorder's. 0: there is none
 * left, for this user or at all.
 */
u16 edc_class_id(struct edc_account *account, const char *text, u32 bytes);
void edc_class_hold(u16 id);
void edc_class_release(u16 id);
/* Classes that no process has lose their ids. */
void edc_classes_forget(void);
/* The first class behind `serial`. -ENOENT: there is none. `text` stays valid while the lock is held. */
int edc_class_behind(u64 serial, struct edc_device_class *found, const char **text);

/* users.c */
void edc_account_put(struct edc_account *account);
void edc_area_put(struct edc_area *area);

#endif
