// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids of the event classes that programs declare. Equal texts have the same id in all programs. A class lives while a
 * process holds it, and while there is a recorder, which pins all, so that no id has two meanings in its trace.
 *
 * The caller holds edc_users_lock. The texts are not interpreted here: the recorder parses them.
 */
#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "user_accounts.h"
#include "user_classes.h"

#define CLASSES_OF_A_USER 512

struct declared {
	struct hlist_node node;	     /* in by_text */
	struct edc_account *account; /* of the first to declare it; NULL: a recorder */
	u64 serial;
	u32 holders;
	u32 bytes;
	u16 id;
	char text[];
};

static DEFINE_HASHTABLE(by_text, 10);
static struct declared *by_id[EDC_USER_CLASSES];
static DECLARE_BITMAP(taken, EDC_USER_CLASSES);
static u64 serials;
static bool pinned;

static void forget(struct declared *gone)
{
	const u32 slot = gone->id - EDC_ID_USER_FIRST;

	hash_del(&gone->node);
	by_id[slot] = NULL;
	clear_bit(slot, taken);
	if (gone->account) {
		gone->account->classes--;
		edc_account_put(gone->account);
	}
	kfree(gone);
}

static u16 add(struct edc_account *account, const char *text, u32 bytes, u32 hash)
{
	struct declared *added;
	u32 slot;

	if ((account && account->classes >= CLASSES_OF_A_USER) || bytes > EDC_DEVICE_CLASS_BYTES)
		return 0;
	slot = find_first_zero_bit(taken, EDC_USER_CLASSES);
	if (slot == EDC_USER_CLASSES)
		return 0;
	added = kmalloc(struct_size(added, text, bytes), GFP_KERNEL_ACCOUNT);
	if (!added)
		return 0;
	added->account = account;
	added->serial = ++serials;
	added->holders = 0;
	added->bytes = bytes;
	added->id = EDC_ID_USER_FIRST + slot;
	memcpy(added->text, text, bytes);
	if (account) {
		account->classes++;
		account->holders++;
	}
	hash_add(by_text, &added->node, hash);
	by_id[slot] = added;
	set_bit(slot, taken);
	return added->id;
}

u16 edc_class_declare(struct edc_account *account, const char *text, u32 bytes)
{
	const u32 hash = jhash(text, bytes, 0);
	struct declared *known;

	hash_for_each_possible(by_text, known, node, hash)
		if (known->bytes == bytes && !memcmp(known->text, text, bytes))
			return known->id;
	return add(account, text, bytes, hash);
}

void edc_class_hold(u16 id)
{
	by_id[id - EDC_ID_USER_FIRST]->holders++;
}

static void forget_unheld(void)
{
	u32 slot;

	if (pinned)
		return;
	for_each_set_bit(slot, taken, EDC_USER_CLASSES)
		if (!by_id[slot]->holders)
			forget(by_id[slot]);
}

void edc_classes_release(const unsigned long *held)
{
	u32 slot;

	for_each_set_bit(slot, held, EDC_USER_CLASSES)
		by_id[slot]->holders--;
	forget_unheld();
}

void edc_classes_pin(bool pin)
{
	pinned = pin;
	forget_unheld();
}

int edc_class_after(u64 serial, struct edc_device_class *found, const char **text)
{
	const struct declared *next = NULL;
	u32 slot;

	if (serial >= serials)
		return -ENOENT;
	for_each_set_bit(slot, taken, EDC_USER_CLASSES)
		if (by_id[slot]->serial > serial && (!next || by_id[slot]->serial < next->serial))
			next = by_id[slot];
	if (!next)
		return -ENOENT;
	found->serial = next->serial;
	found->bytes = next->bytes;
	found->id = next->id;
	*text = next->text;
	return 0;
}
