// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a process's rings: pages that are taken when they are touched first, by the process or by the recorder.
 * No page is ever given back before the area ends, so whoever maps it needs no lock to use it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "module.h"
#include "users.h"

#define LEAST_BLOCKS 4
#define MOST_BLOCKS 256

u64 edc_area_bytes(const struct edc_area *area)
{
	return (u64)area->pages * PAGE_SIZE;
}

void edc_area_free_memory(struct edc_area *area)
{
	u32 i;

	for (i = 0; i < area->pages; i++)
		if (area->page[i])
			put_page(area->page[i]);
	mutex_destroy(&area->lock);
	kvfree(area);
}

static struct page *page_of(struct edc_area *area, u32 index)
{
	mutex_lock(&area->lock);
	if (!area->page[index])
		area->page[index] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	mutex_unlock(&area->lock);
	return area->page[index];
}

/* The first page, and the page of each ring; see user_ring.h for what makes a ring full. */
static bool write_heads(struct edc_area *area)
{
	struct page *page = page_of(area, 0);
	struct edc_user_ring *ring;
	u32 i;

	if (!page)
		return false;
	((struct edc_user_area *)page_address(page))->magic = EDC_USER_MAGIC;
	for (i = 0; i <= area->rings; i++) {
		page = page_of(area, 1 + i * (1 + area->blocks));
		if (!page)
			return false;
		if (area->open)
			continue;
		ring = page_address(page);
		if (i < area->rings)
			ring->read = -(u64)area->blocks & EDC_USER_BLOCKS;
		else
			ring->state = (u64)area->blocks * EDC_USER_BLOCK_WORDS;
	}
	return true;
}

struct edc_area *edc_area_make(u64 bytes, bool open)
{
	const u32 rings = nr_cpu_ids;
	const u64 blocks = div_u64(bytes >> PAGE_SHIFT, rings + 1);
	struct edc_area *area;
	u32 each, pages;

	if (blocks <= LEAST_BLOCKS)
		return NULL;
	each = min_t(u64, rounddown_pow_of_two((unsigned long)blocks - 1), MOST_BLOCKS);
	pages = 1 + (rings + 1) * (1 + each);
	area = kvzalloc(struct_size(area, page, pages), GFP_KERNEL_ACCOUNT);
	if (!area)
		return NULL;
	kref_init(&area->refs);
	INIT_LIST_HEAD(&area->node);
	mutex_init(&area->lock);
	area->rings = rings;
	area->blocks = each;
	area->pages = pages;
	area->open = open;
	if (write_heads(area))
		return area;
	edc_area_free_memory(area);
	return NULL;
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
