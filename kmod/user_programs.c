// SPDX-License-Identifier: GPL-2.0-only
/*
 * What instrumented programs request (include/monitor/user_device.h): a program sends the classes it declares and gets
 * rings and ids at once, with or without a recorder. Runs in the program's threads.
 *
 * An area belongs to a struct file until its last descriptor or mapping, including inherited ones, is gone. If a
 * recorder has not mapped the area by then, the area stays listed for it.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "user_accounts.h"
#include "user_area.h"
#include "user_classes.h"
#include "user_programs.h"
#include "user_recorder.h"

#define MAX_CLASSES_PER_REQUEST 1000 /* EDC_CLASSES_AT_ONCE_ of edc_connect.h; bounds the time under the lock */

static u32 refused; /* requests for rings that got no memory */

/* Whether the current process got this area since its last exec(). A process may have several, one per library. */
static bool is_of_this_process(const struct edc_area *area)
{
	return area->process == task_tgid(current) && !area->ended;
}

/* The lock is not held while the area's memory is allocated. */
static struct edc_area *reserve(void)
{
	struct edc_account *account;
	struct edc_area *area;
	u32 blocks;

	mutex_lock(&edc_users_lock);
	account = edc_account_get();
	blocks = account ? edc_area_blocks(edc_account_share(account, edc_area_min_bytes())) : 0;
	if (blocks)
		account->bytes += edc_area_bytes(blocks);
	mutex_unlock(&edc_users_lock);
	area = blocks ? edc_area_make(blocks, account) : NULL;
	if (area)
		return area;
	mutex_lock(&edc_users_lock);
	if (blocks)
		account->bytes -= edc_area_bytes(blocks);
	if (account)
		edc_account_put(account);
	refused++;
	mutex_unlock(&edc_users_lock);
	return NULL;
}

/* Gives the area to the file, and with it to the current process. */
static int bind_area(struct file *file, struct edc_area *area)
{
	if (file->private_data || edc_is_recorder(file))
		return -EBUSY;
	area->open = edc_recorder_attached();
	if (!area->open)
		edc_area_close(area);
	edc_area_list(area);
	file->private_data = area; /* takes over the first reference */
	edc_recorder_notify();
	return 0;
}

static bool process_has_area(void)
{
	struct edc_area *area;

	list_for_each_entry(area, &edc_user_areas, node)
		if (is_of_this_process(area))
			return true;
	return false;
}

/* Holds the classes while this process has rings; id 0: no class. */
static void hold_classes(const u16 *ids, u32 count)
{
	struct edc_area *area;
	u32 i;

	list_for_each_entry(area, &edc_user_areas, node) {
		if (!is_of_this_process(area))
			continue;
		for (i = 0; i < count; i++)
			if (ids[i] && !test_and_set_bit(ids[i] - EDC_ID_USER_FIRST, area->classes))
				edc_class_hold(ids[i]);
	}
}

/* Assigns ids to `count` classes; the texts end with a NUL. */
static void give_ids(struct edc_account *account, const char *texts, u32 bytes, u16 *ids, u32 count)
{
	const char *name = texts, *end = texts + bytes;
	u32 i;

	for (i = 0; i < count && name < end; i++) {
		const char *fields = name + strlen(name) + 1;
		const char *next = fields < end ? fields + strlen(fields) + 1 : end;

		ids[i] = fields < end ? edc_class_declare(account, name, next - name) : 0;
		name = next;
	}
	hold_classes(ids, count);
}

/* With edc_users_lock held. `area`: to hand out, if requested. */
static int handle_locked(struct file *file, struct edc_device_hello *hello, struct edc_area *area, const char *texts,
			 u16 *ids)
{
	const bool is_recorder = edc_is_recorder(file);
	struct edc_account *account;
	int error = area ? bind_area(file, area) : 0;

	if (error)
		return error;
	if (!is_recorder && !process_has_area())
		return -ESRCH;
	account = edc_account_get();
	if (!account)
		return -ENOMEM;
	give_ids(is_recorder ? NULL : account, texts, hello->text_bytes, ids, hello->classes);
	edc_account_put(account);
	hello->welcome.magic = EDC_USER_MAGIC;
	hello->welcome.classes = hello->classes;
	if (area) {
		hello->welcome.rings = area->rings;
		hello->welcome.area_bytes = edc_area_bytes(area->blocks);
		hello->welcome.ring_bytes = (1 + area->blocks) * PAGE_SIZE; /* struct edc_user_ring, blocks */
		hello->welcome.blocks = area->blocks;
	}
	return 0;
}

static int handle_request(struct file *file, struct edc_device_hello *hello, const char *texts, u16 *ids)
{
	struct edc_area *area = NULL;
	int error;

	if (hello->request == EDC_HELLO_AREA) {
		area = reserve();
		if (!area)
			return -ENOSPC;
	}
	mutex_lock(&edc_users_lock);
	error = handle_locked(file, hello, area, texts, ids);
	mutex_unlock(&edc_users_lock);
	if (area && file->private_data != area)
		edc_area_put(area);
	return error;
}

int edc_program_hello(struct file *file, struct edc_device_hello *hello)
{
	char *texts;
	u16 *ids;
	int error = -EINVAL;

	memset(&hello->welcome, 0, sizeof(hello->welcome));
	if ((hello->request != EDC_HELLO_AREA && hello->request != EDC_HELLO_CLASSES) || hello->reserved ||
	    hello->classes > MAX_CLASSES_PER_REQUEST || !hello->text_bytes || hello->text_bytes > EDC_HELLO_BYTES)
		return -EINVAL;
	texts = vmemdup_user(u64_to_user_ptr(hello->texts), hello->text_bytes);
	if (IS_ERR(texts))
		return PTR_ERR(texts);
	ids = kcalloc(hello->classes + 1, sizeof(*ids), GFP_KERNEL); /* + 1: the request may be for no class */
	if (!ids)
		error = -ENOMEM;
	else if (!texts[hello->text_bytes - 1])
		error = handle_request(file, hello, texts, ids);
	if (!error && copy_to_user(u64_to_user_ptr(hello->ids), ids, hello->classes * sizeof(*ids)))
		error = -EFAULT;
	kfree(ids);
	kvfree(texts);
	return error;
}

bool edc_program_has_rings(const struct file *file)
{
	return file->private_data != NULL;
}

int edc_program_map(struct file *file, struct vm_area_struct *vma)
{
	int error = -EINVAL;

	mutex_lock(&edc_users_lock); /* for private_data: another thread may be requesting the area */
	if (vma->vm_pgoff < EDC_DEVICE_AREA_STEP >> PAGE_SHIFT)
		error = edc_area_map(file->private_data, vma);
	mutex_unlock(&edc_users_lock);
	return error;
}

void edc_program_release(struct file *file)
{
	struct edc_area *area = file->private_data;

	if (!area)
		return;
	mutex_lock(&edc_users_lock);
	area->ended = true;
	if (!edc_recorder_attached() || area->mapped)
		edc_area_unlist(area);
	mutex_unlock(&edc_users_lock);
	edc_area_put(area);
}

u32 edc_programs_refused(void)
{
	return READ_ONCE(refused);
}
