// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes have rings for the user card, and who reads them: a program sends the classes it declares and gets
 * rings and ids at once, with or without a recorder; the recorder reads which processes have rings, and maps them.
 *
 * An area lives as long as it is open or mapped, by its process, a child of it or the recorder. While there is a
 * recorder, the area of a process that ended waits for it.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "module.h"
#include "user_accounts.h"
#include "user_area.h"
#include "user_classes.h"

#define CLASSES_AT_ONCE 1000

static struct file *recorder; /* NULL: there is none */
static u32 refused;	      /* processes that got no rings */
static DECLARE_WAIT_QUEUE_HEAD(news);

/* Whether the current process has this area, not a program that it ran before. Libraries may give it several. */
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

static int hand_out(struct file *file, struct edc_area *area)
{
	if (file->private_data || file == recorder)
		return -EBUSY;
	area->open = recorder != NULL;
	if (!area->open)
		edc_area_close(area);
	edc_area_list(area);
	file->private_data = area; /* with the first reference */
	wake_up_interruptible(&news);
	return 0;
}

static bool has_rings(void)
{
	struct edc_area *area;

	list_for_each_entry(area, &edc_user_areas, node)
		if (is_of_this_process(area))
			return true;
	return false;
}

/* Holds the classes as long as this process has rings; id 0: no class. */
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
	const char *end = texts + bytes;
	u32 i;

	for (i = 0; i < count && texts < end; i++) {
		const char *fields = texts + strlen(texts) + 1;
		const char *next = fields < end ? fields + strlen(fields) + 1 : end;

		ids[i] = fields < end ? edc_class_id(account, texts, next - texts) : 0;
		texts = next;
	}
	hold_classes(ids, count);
}

/* `area`: the area to hand out, if the request is for one. */
static int answer(struct file *file, struct edc_device_hello *hello, struct edc_area *area, const char *texts, u16 *ids)
{
	struct edc_account *account;
	int error = area ? hand_out(file, area) : 0;

	if (error)
		return error;
	if (file != recorder && !has_rings())
		return -ESRCH;
	account = edc_account_get();
	if (!account)
		return -ENOMEM;
	give_ids(file == recorder ? NULL : account, texts, hello->text_bytes, ids, hello->classes);
	edc_account_put(account);
	hello->welcome.magic = EDC_USER_MAGIC;
	hello->welcome.classes = hello->classes;
	if (area) {
		hello->welcome.rings = area->rings;
		hello->welcome.area_bytes = edc_area_bytes(area->blocks);
		hello->welcome.ring_bytes = (1 + area->blocks) * PAGE_SIZE;
		hello->welcome.blocks = area->blocks;
	}
	return 0;
}

static int ask(struct file *file, struct edc_device_hello *hello, const char *texts, u16 *ids)
{
	struct edc_area *area = NULL;
	int error;

	if (hello->request == EDC_HELLO_AREA) {
		area = reserve();
		if (!area)
			return -ENOSPC;
	}
	mutex_lock(&edc_users_lock);
	error = answer(file, hello, area, texts, ids);
	mutex_unlock(&edc_users_lock);
	if (area && file->private_data != area)
		edc_area_put(area);
	return error;
}

static int say_hello(struct file *file, struct edc_device_hello *hello)
{
	char *texts;
	u16 *ids;
	int error = -EINVAL;

	memset(&hello->welcome, 0, sizeof(hello->welcome));
	if ((hello->request != EDC_HELLO_AREA && hello->request != EDC_HELLO_CLASSES) || hello->reserved ||
	    hello->classes > CLASSES_AT_ONCE || !hello->text_bytes || hello->text_bytes > EDC_HELLO_BYTES)
		return -EINVAL;
	texts = vmemdup_user(u64_to_user_ptr(hello->texts), hello->text_bytes);
	if (IS_ERR(texts))
		return PTR_ERR(texts);
	ids = kcalloc(hello->classes + 1, sizeof(*ids), GFP_KERNEL);
	if (!ids)
		error = -ENOMEM;
	else if (!texts[hello->text_bytes - 1])
		error = ask(file, hello, texts, ids);
	if (!error && copy_to_user(u64_to_user_ptr(hello->ids), ids, hello->classes * sizeof(*ids)))
		error = -EFAULT;
	kfree(ids);
	kvfree(texts);
	return error;
}

static int consumer_attach(struct file *file)
{
	struct edc_area *area;
	int error = 0;

	if (!perfmon_capable())
		return -EPERM;
	mutex_lock(&edc_users_lock);
	if (recorder || file->private_data) {
		error = -EBUSY;
	} else {
		recorder = file;
		edc_classes_pin(true);
		list_for_each_entry(area, &edc_user_areas, node)
			area->open = area->reported = area->mapped = false;
	}
	mutex_unlock(&edc_users_lock);
	return error;
}

static int get_class(struct file *file, struct edc_device_class *wanted)
{
	const u32 room = wanted->bytes;
	const char *text;
	char *copy;
	int error;

	copy = kmalloc(EDC_DEVICE_CLASS_BYTES, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	mutex_lock(&edc_users_lock);
	error = file == recorder ? edc_class_behind(wanted->serial, wanted, &text) : -EBADFD;
	if (!error && wanted->bytes > room)
		error = -ENOSPC;
	if (!error)
		memcpy(copy, text, wanted->bytes);
	mutex_unlock(&edc_users_lock);
	if (!error && copy_to_user(u64_to_user_ptr(wanted->text), copy, wanted->bytes))
		error = -EFAULT;
	kfree(copy);
	return error;
}

int edc_users_ioctl(struct file *file, unsigned int command, void *argument)
{
	switch (command) {
	case EDC_DEVICE_HELLO:
		return say_hello(file, argument);
	case EDC_DEVICE_USERS:
		return consumer_attach(file);
	default:
		return get_class(file, argument);
	}
}

u32 edc_users_refused(void)
{
	return READ_ONCE(refused);
}

static struct edc_area *next_to_report(void)
{
	struct edc_area *area;

	list_for_each_entry(area, &edc_user_areas, node)
		if (!area->reported)
			return area;
	return NULL;
}

/* Also true if a child of it still has the file open. */
static bool has_ended(const struct edc_area *area)
{
	bool ended;

	rcu_read_lock();
	ended = area->ended || !pid_task(area->process, PIDTYPE_TGID);
	rcu_read_unlock();
	return ended;
}

/* Returns the processes that were not yet reported to the recorder. -EAGAIN: none. */
ssize_t edc_users_read(struct file *file, char __user *to, size_t bytes)
{
	ssize_t done = 0;

	if (bytes < sizeof(struct edc_device_process))
		return -EINVAL;
	while (done + sizeof(struct edc_device_process) <= bytes) {
		struct edc_device_process reported = {};
		struct edc_area *area;

		mutex_lock(&edc_users_lock);
		if (file != recorder) {
			mutex_unlock(&edc_users_lock);
			return -EBADFD;
		}
		area = next_to_report();
		if (area) {
			area->reported = true;
			reported.number = area->number;
			reported.pid = pid_vnr(area->process);
			reported.area_bytes = edc_area_bytes(area->blocks);
			reported.rings = area->rings;
			reported.blocks = area->blocks;
			reported.open = area->open;
			reported.ended = has_ended(area);
		}
		mutex_unlock(&edc_users_lock);
		if (!area)
			break;
		if (copy_to_user(to + done, &reported, sizeof(reported)))
			return -EFAULT;
		done += sizeof(reported);
	}
	return done ? done : -EAGAIN;
}

__poll_t edc_users_poll(struct file *file, struct poll_table_struct *wait)
{
	__poll_t found = 0;

	poll_wait(file, &news, wait);
	mutex_lock(&edc_users_lock);
	if (file != recorder)
		found = EPOLLERR;
	else if (next_to_report())
		found = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&edc_users_lock);
	return found;
}

/* A program maps its own area, the recorder any. */
int edc_users_map(struct file *file, struct vm_area_struct *vma)
{
	struct edc_area *area = file->private_data;
	int error = -EINVAL;

	mutex_lock(&edc_users_lock);
	if (!area)
		area = edc_area_by_number(vma->vm_pgoff / (EDC_DEVICE_AREA_STEP >> PAGE_SHIFT));
	else if (vma->vm_pgoff >= EDC_DEVICE_AREA_STEP >> PAGE_SHIFT)
		area = NULL;
	if (area)
		error = edc_area_map(area, vma);
	if (!error && file == recorder) {
		area->mapped = true;
		if (area->ended)
			edc_area_unlist(area);
	}
	mutex_unlock(&edc_users_lock);
	return error;
}

bool edc_users_has(struct file *file)
{
	return file->private_data || file == READ_ONCE(recorder);
}

/* Closes all areas. Moves those of ended processes to `left`; the others wait for the next recorder. */
static void recorder_leaves(struct list_head *left)
{
	struct edc_area *area, *next;

	recorder = NULL;
	list_for_each_entry_safe(area, next, &edc_user_areas, node) {
		edc_area_close(area);
		if (area->ended)
			list_move(&area->node, left);
	}
	edc_classes_pin(false);
}

void edc_users_release(struct file *file)
{
	struct edc_area *area = file->private_data, *next;
	LIST_HEAD(left);

	mutex_lock(&edc_users_lock);
	if (file == recorder)
		recorder_leaves(&left);
	if (area) {
		area->ended = true;
		if (!recorder || area->mapped)
			edc_area_unlist(area);
	}
	mutex_unlock(&edc_users_lock);
	if (area)
		edc_area_put(area);
	list_for_each_entry_safe(area, next, &left, node)
		edc_area_put(area);
}
