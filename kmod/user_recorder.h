/* SPDX-License-Identifier: GPL-2.0-only */
/* user_recorder.c: the recorder of programs' events, identified by its open file. */
#ifndef MONITOR_KMOD_USER_RECORDER_H
#define MONITOR_KMOD_USER_RECORDER_H

#include <linux/types.h>

struct edc_device_class;
struct file;
struct poll_table_struct;
struct vm_area_struct;

/* For device.c; none is called with edc_users_lock held. */

/* EDC_DEVICE_USERS and EDC_DEVICE_CLASS. */
int edc_recorder_attach(struct file *file);
int edc_recorder_class(struct file *file, struct edc_device_class *wanted);
/* Returns the processes that were not yet reported to the recorder. -EAGAIN: none. */
ssize_t edc_recorder_read(struct file *file, char __user *to, size_t bytes);
__poll_t edc_recorder_poll(struct file *file, struct poll_table_struct *wait);
/* Maps the area whose number is in the offset. */
int edc_recorder_map(struct vm_area_struct *vma);
/* Does nothing if the file is not the recorder's. */
void edc_recorder_release(struct file *file);

/* True until the file is released. Without edc_users_lock, a file may become the recorder's right after a `false`. */
bool edc_is_recorder(const struct file *file);

/* For user_programs.c, with edc_users_lock held. */

bool edc_recorder_attached(void);
/* An area was listed. */
void edc_recorder_notify(void);

#endif
