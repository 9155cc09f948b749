/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card for threads without restartable sequences: an old C library, one that was told to leave them alone, or
 * another architecture. They share one ring of the process (user_ring.h). Included by edc_connect.h.
 *
 * May run in a signal handler, also of a thread that is in the middle of it: what is claimed belongs to one call alone.
 * Invariant: nothing is claimed that does not fit; a claim is announced before it is made and until all is stored; a
 * record whose head was stored is whole (the head is stored with release, and the reader reads it with acquire).
 */
#ifndef MONITOR_EDC_SHARED_H
#define MONITOR_EDC_SHARED_H

#include "edc_card.h"

#define EDC_LOOK_AT_SELF_WORDS_ 4096 /* who passes a multiple of so many words looks who it is */

#ifdef __cplusplus
extern "C" {
#endif

#ifndef EDC_CLAIMED_ /* a test stops a writer here */
#define EDC_CLAIMED_() ((void)0)
#endif

/* Announces a claim at `position`. Returns where, for as long as it may store there; NULL: too many are at it. */
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

/* One event; `head` is the token without its time. It is in the ring afterwards, or counted. */
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
		    !edc_know_self_(card)) {
			edc_lost_(card);
			goto out;
		}
		if (full || (!claim && !(claim = edc_announce_(ring, position)))) {
			edc_refused_(card, ring);
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
