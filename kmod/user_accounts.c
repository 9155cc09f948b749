// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas and classes held by each user's processes, and the limit for one more process: a share of what its user has
 * left, so that no process can take all.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "user_accounts.h"

#define SHARE_OF_A_PROCESS 64 /* of what its user has left */
#define MIN_SHARE_KIB 512
#define USUAL_MIB 64
#define MIN_PROCESSES 64

static unsigned int user_mib;
module_param(user_mib, uint, 0644);
MODULE_PARM_DESC(user_mib, "MiB of rings that the processes of one user may have (0: 64, more with many CPUs)");

DEFINE_MUTEX(edc_users_lock);
static LIST_HEAD(accounts);

/* The UID charged; in a user namespace its owner's, since the owner could have any number of users there. */
static kuid_t accountable_uid(void)
{
	const struct user_namespace *ns;
	kuid_t uid = current_uid();

	for (ns = current_user_ns(); ns->parent; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

struct edc_account *edc_account_get(void)
{
	const kuid_t uid = accountable_uid();
	struct edc_account *account;

	list_for_each_entry(account, &accounts, node)
		if (uid_eq(account->uid, uid))
			goto found;
	account = kzalloc(sizeof(*account), GFP_KERNEL_ACCOUNT);
	if (!account)
		return NULL;
	account->uid = uid;
	list_add(&account->node, &accounts);
found:
	account->holders++;
	return account;
}

void edc_account_put(struct edc_account *account)
{
	if (--account->holders)
		return;
	list_del(&account->node);
	kfree(account);
}

static u64 bytes_of_a_user(u64 min_bytes)
{
	const u64 usual = max_t(u64, USUAL_MIB << 20, MIN_PROCESSES * min_bytes);
	const u64 wanted = (u64)READ_ONCE(user_mib) << 20;

	return wanted ?: usual;
}

u64 edc_account_share(const struct edc_account *account, u64 min_bytes)
{
	const u64 all = bytes_of_a_user(min_bytes), left = all > account->bytes ? all - account->bytes : 0;
	const u64 least = max_t(u64, MIN_SHARE_KIB << 10, min_bytes);

	return min(left, max_t(u64, left / SHARE_OF_A_PROCESS, least));
}
