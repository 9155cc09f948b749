/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings for instrumented processes (include/monitor/user_device.h): declarations shared by the files.
 *
 *     device.c  --ioctl, read, poll, mmap, release-->  users.c  -->  user_area.c (memory), user_classes.c (ids)
 *
 * The module writes to an area when it creates it, and to close its rings when their recorder leaves; what it reads
 * there it stores nowhere else. A process may write anything there: the recorder trusts nothing in the area.
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

/* What the processes of one user hold. Lives while they hold anything. */
struct edc_account {
	struct list_head node;
	kuid_t uid;
	unsigned int holders; /* areas and classes */
	unsigned int classes;
	u64 bytes;
};

/* The rings of one process. */
struct edc_area {
	struct list_head node; /* in the list of all areas; removed when it will not be looked up again */
	struct kref refs;      /* the list, the process's file, each mapping */
	struct edc_account *account;
	struct pid *process;
	u32 number;
	bool open;     /* accepted events from the start */
	bool reported; /* to the recorder */
	bool mapped;   /* by the recorder */
	bool ended;    /* its file is released: neither its process nor a child has it open */
	u32 rings, blocks;
	DECLARE_BITMAP(classes, EDC_USER_CLASSES); /* that its process declared */
	u32 pages;
	struct page *page[]; /* NULL: never touched */
};

/* user_area.c */

u64 edc_area_min_bytes(void);
/* Blocks of each ring in an area of at most `bytes` bytes; 0: too small for rings. */
u32 edc_area_blocks(u64 bytes);
u64 edc_area_bytes(u32 blocks);
/* NULL: out of memory. Its rings accept events. */
struct edc_area *edc_area_make(u32 blocks);
/* Makes its rings full from now on. */
void edc_area_close(struct edc_area *area);
/* Maps the area from the page of vm_pgoff on. The mapping holds a reference. */
int edc_area_map(struct edc_area *area, struct vm_area_struct *vma);
void edc_area_free_memory(struct edc_area *area);

/* user_classes.c; all called with the lock of users.c held */

/*
 * The id of the class with this text. If the class is new, it is charged to the account (NULL: a recorder's). 0: no id
 * is left, for this user or at all.
 */
u16 edc_class_id(struct edc_account *account, const char *text, u32 bytes);
void edc_class_hold(u16 id);
void edc_class_release(u16 id);
/* Frees the ids of classes that no process has. */
void edc_classes_reset(void);
/* The first class after `serial`. -ENOENT: none. `text` stays valid while the lock is held. */
int edc_class_behind(u64 serial, struct edc_device_class *found, const char **text);

/* users.c */
void edc_account_put(struct edc_account *account);
void edc_area_put(struct edc_area *area);

#endif
