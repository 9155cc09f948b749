/* SPDX-License-Identifier: GPL-2.0-only */
/* user_area.c: the rings of one process, their lifetime, and the list of all areas. */
#ifndef MONITOR_KMOD_USER_AREA_H
#define MONITOR_KMOD_USER_AREA_H

#include <linux/bitmap.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

#include "user_classes.h"

struct edc_account;
struct page;
struct pid;
struct vm_area_struct;

struct edc_area {
	struct list_head node; /* in edc_user_areas; removed before the last reference is put */
	struct kref refs;      /* the list, the process's file, each mapping */
	struct edc_account *account;
	struct pid *process;
	u32 number;
	bool open;     /* accepted events from the start; else the recorder opens it */
	bool reported; /* to the recorder */
	bool mapped;   /* by the recorder */
	bool ended;    /* its file is released: neither its process nor a child has it open */
	u32 rings, blocks;
	DECLARE_BITMAP(classes, EDC_USER_CLASSES); /* that its process declared */
	u32 pages;
	struct page *page[]; /* NULL: never touched */
};

u64 edc_area_min_bytes(void);
/* Blocks of each ring in an area of at most `bytes` bytes; 0: too small for rings. */
u32 edc_area_blocks(u64 bytes);
u64 edc_area_bytes(u32 blocks);
/*
 * An area for the current process, whose rings accept events. The account has been charged with its bytes, and the
 * caller is a holder: the area takes over both. NULL: out of memory.
 */
struct edc_area *edc_area_make(u32 blocks, struct edc_account *account);
/* Frees the area with the last reference; not called with edc_users_lock held. */
void edc_area_put(struct edc_area *area);
/* Makes its rings full from now on. */
void edc_area_close(struct edc_area *area);
/* Maps the area from the page of vm_pgoff on. The mapping holds a reference. */
int edc_area_map(struct edc_area *area, struct vm_area_struct *vma);

/* The list of all areas. edc_users_lock must be held from here on. */
extern struct list_head edc_user_areas;

/* Numbers the area and lists it. The list takes a reference of its own. */
void edc_area_list(struct edc_area *area);
/* The caller holds another reference. */
void edc_area_unlist(struct edc_area *area);
/* NULL: none. */
struct edc_area *edc_area_by_number(u32 number);

#endif
