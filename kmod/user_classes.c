// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ids of the classes that programs declare, by their texts: the same for all programs. A class lives while a
 * process has it, and while a recorder is there, whose trace is not to have one id with two meanings.
 *
 * All under the lock of users.c. The texts mean nothing here: the recorder parses them.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "users.h"

#define CLASSES_OF_A_USER 512

struct declared {
	struct edc_account *account; /* of who declared it first */
	u64 serial;
	u32 holders;
	u32 bytes;
	char text[];
};

static struct declared *classes[EDC_USER_CLASSES]; /* by id */
static u64 serials;

static void forget(u32 slot)
{
	struct declared *gone = classes[slot];

	classes[slot] = NULL;
	gone->account->classes--;
	edc_account_put(gone->account);
	kfree(gone);
}

static u32 free_slot(void)
{
	u32 slot;

	for (slot = 0; slot < EDC_USER_CLASSES && classes[slot]; slot++)
		;
	return slot;
}

static u16 add(struct edc_account *account, const char *text, u32 bytes)
{
	const u32 slot = free_slot();
	struct declared *added;

	if (slot == EDC_USER_CLASSES || account->classes >= CLASSES_OF_A_USER || bytes > EDC_DEVICE_CLASS_BYTES)
		return 0;
	added = kmalloc(struct_size(added, text, bytes), GFP_KERNEL_ACCOUNT);
	if (!added)
		return 0;
	added->account = account;
	added->serial = ++serials;
	added->holders = 0;
	added->bytes = bytes;
	memcpy(added->text, text, bytes);
	account->classes++;
	account->holders++;
	classes[slot] = added;
	return EDC_ID_USER_FIRST + slot;
}

u16 edc_class_id(struct edc_account *account, const char *text, u32 bytes)
{
	u32 slot;

	for (slot = 0; slot < EDC_USER_CLASSES; slot++)
		if (classes[slot] && classes[slot]->bytes == bytes && !memcmp(classes[slot]->text, text, bytes))
			return EDC_ID_USER_FIRST + slot;
	return add(account, text, bytes);
}

void edc_class_hold(u16 id)
{
	classes[id - EDC_ID_USER_FIRST]->holders++;
}

void edc_class_release(u16 id)
{
	classes[id - EDC_ID_USER_FIRST]->holders--;
}

void edc_classes_forget(void)
{
	u32 slot;

	for (slot = 0; slot < EDC_USER_CLASSES; slot++)
		if (classes[slot] && !classes[slot]->holders)
			forget(slot);
}

int edc_class_behind(u64 serial, struct edc_device_class *found, const char **text)
{
	u32 slot;

	found->serial = U64_MAX;
	for (slot = 0; slot < EDC_USER_CLASSES; slot++) {
		const struct declared *class = classes[slot];

		if (!class || class->serial <= serial || class->serial >= found->serial)
			continue;
		found->serial = class->serial;
		found->bytes = class->bytes;
		found->id = EDC_ID_USER_FIRST + slot;
		*text = class->text;
	}
	return found->serial == U64_MAX ? -ENOENT : 0;
}
