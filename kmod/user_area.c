// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of a process: memory and lifetime. Pages are allocated when first touched, by the process or by the
 * recorder. No page is freed before the area ends, so a mapping can be used without a lock.
 *
 * An area lives as long as it is listed, open or mapped; with its last reference its classes and its share of the
 * account are released.
 *
 * The module writes to an area only to initialise it and to close its rings when the recorder leaves; what it reads
 * there goes nowhere else. A process may write anything there: the recorder trusts nothing in the area.
 */
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "user_accounts.h"
#include "user_area.h"

#define MIN_BLOCKS 4
#define MAX_BLOCKS 256

LIST_HEAD(edc_user_areas);
static u32 last_number;

static void free_memory(struct edc_area *area)
{
	u32 i;

	for (i = 0; i < area->pages; i++)
		if (area->page[i])
			put_page(area->page[i]);
	kvfree(area);
}

/* The loser of the cmpxchg frees its page: no caller waits for another's allocation. */
static struct page *page_of(struct edc_area *area, u32 index)
{
	struct page *page = READ_ONCE(area->page[index]), *first;

	if (page)
		return page;
	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!page)
		return NULL;
	first = cmpxchg(&area->page[index], NULL, page);
	if (!first)
		return page;
	put_page(page);
	return first;
}

static u32 pages_of(u32 blocks)
{
	return 1 + (nr_cpu_ids + 1) * (1 + blocks);
}

static u32 page_of_ring(const struct edc_area *area, u32 ring)
{
	return 1 + ring * (1 + area->blocks);
}

u64 edc_area_bytes(u32 blocks)
{
	return (u64)pages_of(blocks) << PAGE_SHIFT;
}

u64 edc_area_min_bytes(void)
{
	return edc_area_bytes(MIN_BLOCKS);
}

u32 edc_area_blocks(u64 bytes)
{
	const u64 each = div_u64((bytes >> PAGE_SHIFT) - 1, nr_cpu_ids + 1);

	if (bytes < edc_area_min_bytes())
		return 0;
	return min_t(u64, rounddown_pow_of_two((unsigned long)each - 1), MAX_BLOCKS);
}

struct edc_area *edc_area_make(u32 blocks, struct edc_account *account)
{
	const u32 pages = pages_of(blocks);
	struct edc_area *area = kvzalloc(struct_size(area, page, pages), GFP_KERNEL_ACCOUNT);
	struct page *page;
	u32 i;

	if (!area)
		return NULL;
	kref_init(&area->refs);
	INIT_LIST_HEAD(&area->node);
	area->rings = nr_cpu_ids;
	area->blocks = blocks;
	area->pages = pages;
	page = page_of(area, 0);
	for (i = 0; page && i <= area->rings; i++)
		if (!page_of(area, page_of_ring(area, i)))
			page = NULL;
	if (!page) {
		free_memory(area);
		return NULL;
	}
	((struct edc_user_area *)page_address(page))->magic = EDC_USER_MAGIC;
	area->account = account;
	area->process = get_pid(task_tgid(current));
	return area;
}

static void free_area(struct kref *refs)
{
	struct edc_area *area = container_of(refs, struct edc_area, refs);

	edc_classes_release(area->classes);
	area->account->bytes -= edc_area_bytes(area->blocks);
	edc_account_put(area->account);
	put_pid(area->process);
	mutex_unlock(&edc_users_lock);
	free_memory(area);
}

void edc_area_put(struct edc_area *area)
{
	kref_put_mutex(&area->refs, free_area, &edc_users_lock);
}

void edc_area_list(struct edc_area *area)
{
	do
		area->number = ++last_number & (U32_MAX >> 5);
	while (edc_area_by_number(area->number));
	kref_get(&area->refs);
	list_add_tail(&area->node, &edc_user_areas);
}

void edc_area_unlist(struct edc_area *area)
{
	if (list_empty(&area->node))
		return;
	list_del_init(&area->node);
	kref_put(&area->refs, free_area); /* never the last */
}

struct edc_area *edc_area_by_number(u32 number)
{
	struct edc_area *area;

	list_for_each_entry(area, &edc_user_areas, node)
		if (area->number == number)
			return area;
	return NULL;
}

/* Makes the rings full, see user_ring.h. Positions read from the untrusted area are written only back to it. */
void edc_area_close(struct edc_area *area)
{
	u32 i;

	for (i = 0; i <= area->rings; i++) {
		struct edc_user_ring *ring = page_address(area->page[page_of_ring(area, i)]);
		u64 state = READ_ONCE(ring->state);

		if (i < area->rings) {
			state = (state & EDC_USER_POSITION_MASK) / EDC_USER_BLOCK_WORDS;
			WRITE_ONCE(ring->read, (state - area->blocks) & EDC_USER_BLOCK_MASK);
		} else {
			WRITE_ONCE(ring->state, READ_ONCE(ring->read) + (u64)area->blocks * EDC_USER_BLOCK_WORDS);
		}
	}
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct edc_area *area = vmf->vma->vm_private_data;
	const u64 index = vmf->pgoff & ((EDC_DEVICE_AREA_STEP >> PAGE_SHIFT) - 1);
	struct page *page;

	if (index >= area->pages)
		return VM_FAULT_SIGBUS;
	page = page_of(area, index);
	if (!page)
		return VM_FAULT_OOM;
	get_page(page);
	vmf->page = page;
	return 0;
}

static void area_opened(struct vm_area_struct *vma)
{
	struct edc_area *area = vma->vm_private_data;

	kref_get(&area->refs);
}

static void area_closed(struct vm_area_struct *vma)
{
	edc_area_put(vma->vm_private_data);
}

static const struct vm_operations_struct area_operations = {
	.open = area_opened,
	.close = area_closed,
	.fault = area_fault,
};

int edc_area_map(struct edc_area *area, struct vm_area_struct *vma)
{
	const u64 first = vma->vm_pgoff & ((EDC_DEVICE_AREA_STEP >> PAGE_SHIFT) - 1);

	if (first >= area->pages || vma_pages(vma) > area->pages - first || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	vma->vm_private_data = area;
	vma->vm_ops = &area_operations;
	area_opened(vma);
	return 0;
}
