/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card for threads without restartable sequences: an old C library, one that was told to leave them alone, or
 * another architecture. They share one ring of the process (user_ring.h). Included by edc_connect.h.
 *
 * May run in a signal handler, also of a thread that is in the middle of it: what is claimed belongs to one call alone.
 * Invariant: nothing is claimed that does not fit; a record whose head was stored is whole (the head is stored with
 * release, and the reader reads it with acquire).
 */
#ifndef MONITOR_EDC_SHARED_H
#define MONITOR_EDC_SHARED_H

#include "edc_card.h"

#define EDC_LOOK_AT_SELF_WORDS_ 4096 /* who passes a multiple of so many words looks who it is */

#ifdef __cplusplus
extern "C" {
#endif

/* One event; `head` is the token without its time. It is in the ring afterwards, or counted. */
static inline void edc_share_(struct edc_card *card, uint64_t head, uint32_t count, const uint64_t *words)
{
	struct edc_user_ring *ring = card->shared;
	__u64 *memory = (__u64 *)(void *)((char *)ring + EDC_BLOCK_SIZE);
	uint64_t length = 2 + count, mask = card->mask;
	__u64 position = __atomic_load_n(&ring->state, __ATOMIC_RELAXED);

	do {
		if (position + length - __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE) > mask + 1) {
			edc_refused_(card, ring);
			return;
		}
		if ((edc_self_ == 0 || (position ^ (position + length)) & EDC_LOOK_AT_SELF_WORDS_) &&
		    !edc_know_self_(card)) {
			edc_lost_(card);
			return;
		}
	} while (!__atomic_compare_exchange_n(&ring->state, &position, position + length, 1, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));

	uint64_t now = edc_tsc_();

	if ((int64_t)(position - __atomic_load_n(&ring->read, __ATOMIC_RELAXED)) < 0)
		return; /* too late: the reader went round us and counted the event */
	memory[(position + 1) & mask] = head | (now & 0xffffffffu) << EDC_TIME_SHIFT;
	for (uint32_t i = 0; i < count; i++)
		memory[(position + 2 + i) & mask] = words[i];
	__atomic_store_n(&memory[position & mask],
			 edc_self_ | (now >> 32 & ((1u << EDC_HEAD_TIME_BITS) - 1)) << EDC_HEAD_TIME_SHIFT |
			     (position & EDC_HEAD_POSITION),
			 __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
