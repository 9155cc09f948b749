/* SPDX-License-Identifier: GPL-2.0-only */
/* user_accounts.c: what the processes of one user hold, so that each user's share is bounded. */
#ifndef MONITOR_KMOD_USER_ACCOUNTS_H
#define MONITOR_KMOD_USER_ACCOUNTS_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * Protects accounts, classes, the list of areas, and which file is the recorder's. Nothing is copied from or to user
 * space under it.
 */
extern struct mutex edc_users_lock;

/* Lives while the processes of its user hold anything. */
struct edc_account {
	struct list_head node;
	kuid_t uid;
	unsigned int holders; /* areas and classes */
	unsigned int classes;
	u64 bytes; /* of areas */
};

/* All called with edc_users_lock held. */

/* The account that the current process is charged to. The caller becomes a holder. NULL: out of memory. */
struct edc_account *edc_account_get(void);
void edc_account_put(struct edc_account *account);
/* Most bytes that one more area may have; no area is smaller than `min_bytes`. */
u64 edc_account_share(const struct edc_account *account, u64 min_bytes);

#endif
