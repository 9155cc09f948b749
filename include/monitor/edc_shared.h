/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card for threads without restartable sequences: the C library is old or configured not to register them, or
 * the architecture is not x86-64. These threads share one ring per process (user_ring.h). Included by edc_connect.h.
 *
 * May run in a signal handler, even one that interrupts this code: claimed words belong to a single call.
 * Invariants: words are claimed only if they fit. A claim is announced before it is made, and until everything is
 * stored. A record whose head is stored is complete (the head is stored with release and read with acquire).
 */
#ifndef MONITOR_EDC_SHARED_H
#define MONITOR_EDC_SHARED_H

#include "edc_card.h"

#define EDC_LOOK_AT_SELF_WORDS_ 4096 /* re-check the TID when a record crosses a multiple of this */

#ifdef __cplusplus
extern "C" {
#endif

#ifndef EDC_CLAIMED_ /* a test stops a writer here */
#define EDC_CLAIMED_() ((void)0)
#endif

/* Announces a claim at `position`. Returns the entry, to be cleared after the stores; NULL: all entries are in use. */
static inline __u64 *edc_announce_(struct edc_user_ring *ring, uint64_t position)
{
	uint32_t first = (uint32_t)(edc_self_ >> EDC_USER_POSITION_BITS);

	for (uint32_t i = 0; i < EDC_CLAIMS; i++) {
		__u64 *claim = &ring->claim[(first + i) % EDC_CLAIMS].word, none = 0;

		if (__atomic_compare_exchange_n(claim, &none, edc_self_ | (position & EDC_USER_POSITION), 0,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return claim;
	}
	return NULL;
}

/* Posts one event; `head` is the token without its time. On return the event is either in the ring or counted. */
static inline void edc_share_(struct edc_card *card, uint64_t head, uint32_t count, const uint64_t *words)
{
	struct edc_user_ring *ring = card->shared;
	__u64 *memory = (__u64 *)(void *)((char *)ring + EDC_BLOCK_SIZE), *claim = NULL;
	uint64_t length = 2 + count, mask = card->mask;
	__u64 position = __atomic_load_n(&ring->state, __ATOMIC_RELAXED);
	uint64_t now;

	do {
		uint64_t used = position + length - __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE);
		int full = used > mask + 1;

		if (used > mask / 2)
			edc_ring_bell_(card);
		if (!full && (edc_self_ == 0 || (position ^ (position + length)) & EDC_LOOK_AT_SELF_WORDS_) &&
		    !edc_refresh_tid_(card)) {
			edc_lost_(card);
			goto out;
		}
		if (full || (!claim && !(claim = edc_announce_(ring, position)))) {
			edc_discarded_(card, ring);
			goto out;
		}
		__atomic_store_n(claim, edc_self_ | (position & EDC_USER_POSITION), __ATOMIC_RELEASE);
	} while (!__atomic_compare_exchange_n(&ring->state, &position, position + length, 1, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));

	now = edc_tsc_();
	EDC_CLAIMED_();
	memory[(position + 1) & mask] = head | (now & 0xffffffffu) << EDC_TIME_SHIFT;
	for (uint32_t i = 0; i < count; i++)
		memory[(position + 2 + i) & mask] = words[i];
	__atomic_store_n(&memory[position & mask],
			 edc_self_ | (now >> 32 & ((1u << EDC_HEAD_TIME_BITS) - 1)) << EDC_HEAD_TIME_SHIFT |
			     (position & EDC_HEAD_POSITION),
			 __ATOMIC_RELEASE);
out:
	if (claim)
		__atomic_store_n(claim, 0, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
