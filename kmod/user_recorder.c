// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder of programs' events (include/monitor/user_device.h): one open file at a time. It reads the list of
 * processes with rings, including those older than itself, and maps them. Runs in the recorder's threads, and
 * edc_recorder_notify() in those of programs.
 *
 * While there is a recorder, the area of a process that ended is kept for it, and no class changes its id.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "user_accounts.h"
#include "user_area.h"
#include "user_classes.h"
#include "user_recorder.h"

static struct file *recorder; /* NULL: there is none */
static DECLARE_WAIT_QUEUE_HEAD(report_waitq);

bool edc_is_recorder(const struct file *file)
{
	return file == READ_ONCE(recorder);
}

bool edc_recorder_attached(void)
{
	return recorder != NULL;
}

void edc_recorder_notify(void)
{
	wake_up_interruptible(&report_waitq);
}

int edc_recorder_attach(struct file *file)
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

int edc_recorder_class(struct file *file, struct edc_device_class *wanted)
{
	const u32 room = wanted->bytes;
	const char *text;
	char *copy;
	int error;

	copy = kmalloc(EDC_DEVICE_CLASS_BYTES, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	mutex_lock(&edc_users_lock);
	error = file == recorder ? edc_class_after(wanted->serial, wanted, &text) : -EBADFD;
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

static struct edc_area *next_to_report(void)
{
	struct edc_area *area;

	list_for_each_entry(area, &edc_user_areas, node)
		if (!area->reported)
			return area;
	return NULL;
}

/* True although a child of the process still has the file open. */
static bool has_ended(const struct edc_area *area)
{
	bool ended;

	rcu_read_lock();
	ended = area->ended || !pid_task(area->process, PIDTYPE_TGID);
	rcu_read_unlock();
	return ended;
}

ssize_t edc_recorder_read(struct file *file, char __user *to, size_t bytes)
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

__poll_t edc_recorder_poll(struct file *file, struct poll_table_struct *wait)
{
	__poll_t found = 0;

	poll_wait(file, &report_waitq, wait);
	mutex_lock(&edc_users_lock);
	if (file != recorder)
		found = EPOLLERR;
	else if (next_to_report())
		found = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&edc_users_lock);
	return found;
}

int edc_recorder_map(struct vm_area_struct *vma)
{
	struct edc_area *area;
	int error = -EINVAL;

	mutex_lock(&edc_users_lock);
	area = edc_area_by_number(vma->vm_pgoff / (EDC_DEVICE_AREA_STEP >> PAGE_SHIFT));
	if (area)
		error = edc_area_map(area, vma);
	if (!error) {
		area->mapped = true;
		if (area->ended)
			edc_area_unlist(area);
	}
	mutex_unlock(&edc_users_lock);
	return error;
}

/* Closes all areas. Moves those of ended processes to `left`; the others wait for the next recorder. */
static void detach(struct list_head *left)
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

void edc_recorder_release(struct file *file)
{
	struct edc_area *area, *next;
	LIST_HEAD(left);

	mutex_lock(&edc_users_lock);
	if (file == recorder)
		detach(&left);
	mutex_unlock(&edc_users_lock);
	list_for_each_entry_safe(area, next, &left, node)
		edc_area_put(area);
}
