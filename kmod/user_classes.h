/* SPDX-License-Identifier: GPL-2.0-only */
/* user_classes.c: ids of the event classes that programs declare. edc_users_lock must be held. */
#ifndef MONITOR_KMOD_USER_CLASSES_H
#define MONITOR_KMOD_USER_CLASSES_H

#include <linux/types.h>

#include "monitor/token.h"
#include "monitor/user_device.h"

#define EDC_USER_CLASSES (EDC_ID_LAST + 1 - EDC_ID_USER_FIRST)

struct edc_account;

/*
 * The id of the class with this text. If the class is new, it is charged to the account (NULL: declared by a
 * recorder). 0: the limit of the account, or that of all, is reached.
 */
u16 edc_class_declare(struct edc_account *account, const char *text, u32 bytes);
/* One more process holds the class. */
void edc_class_hold(u16 id);
/* Releases a process's classes (a bit for each id), and frees ids that are no longer held, unless pinned. */
void edc_classes_release(const unsigned long *held);
/* Pinned, classes stay while no process holds them; unpinning frees their ids. */
void edc_classes_pin(bool pin);
/* The first class after `serial`. -ENOENT: none. `text` stays valid while the lock is held. */
int edc_class_after(u64 serial, struct edc_device_class *found, const char **text);

#endif
