/* SPDX-License-Identifier: GPL-2.0-only */
/* user_programs.c: the requests of instrumented programs. None is called with edc_users_lock held. */
#ifndef MONITOR_KMOD_USER_PROGRAMS_H
#define MONITOR_KMOD_USER_PROGRAMS_H

#include <linux/types.h>

struct edc_device_hello;
struct file;
struct vm_area_struct;

/* EDC_DEVICE_HELLO. The recorder, too, requests ids for classes. */
int edc_program_hello(struct file *file, struct edc_device_hello *hello);
/* Whether this file got rings, which it has until it is released. Only such a file can be mapped. */
bool edc_program_has_rings(const struct file *file);
int edc_program_map(struct file *file, struct vm_area_struct *vma);
void edc_program_release(struct file *file);
/* The number of requests for rings that got no memory since the module was loaded. */
u32 edc_programs_refused(void);

#endif
