/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel cards write into a block's header (ring.h). Magic, uuid, cpu_id, tid and the order of stores are left
 * to each card.
 */
#ifndef MONITOR_BLOCK_H
#define MONITOR_BLOCK_H

#include "card.h"

static inline __attribute__((always_inline)) void edc_block_opened(struct edc_block *block, const struct edc_ring *ring,
								   __u64 time, __u32 level)
{
	block->stream_id = 0;
	block->stream_instance_id = ring->stream_instance_id;
	block->timestamp_begin = time;
	block->timestamp_end = time;
	block->content_size = EDC_BLOCK_HEADER * 8;
	block->packet_size = EDC_BLOCK_SIZE * 8;
	block->packet_seq_num = ring->opened;
	block->events_discarded = ring->discarded;
	block->level = level;
	block->process = 0;
}

/*
 * Blocks before this one are free. `read`: the reader's count. `hold`: number of the hold, 0: none. Only in a flight
 * recorder; in other rings it is `read`.
 */
static inline __attribute__((always_inline)) __u64 edc_ring_limit(struct edc_ring *ring, __u64 read, __u64 hold)
{
	__u64 kept = edc_ring_kept(ring->blocks);

	if (!hold)
		return ring->opened;
	if (ring->held != hold) {
		ring->held_from = ring->opened > kept ? ring->opened - kept : 0;
		ring->held = hold;
	}
	return read > ring->held_from ? read : ring->held_from;
}

/* The first record of a flight recorder's block, two words: how many tokens its ring had so far. */
static inline __attribute__((always_inline)) void edc_block_counts(__u64 *record, const struct edc_ring *ring,
								   __u64 time)
{
	record[0] = edc_token(EDC_ID_BLOCK_TOKENS, EDC_MODE_KERNEL, time, 0);
	record[1] = ring->tokens;
}

#define EDC_BLOCK_COUNTS_BYTES 16

/* Closes the ring's open block. Called before ring->end is cleared. */
static inline __attribute__((always_inline)) void edc_block_closed(struct edc_block *block, const struct edc_ring *ring)
{
	block->content_size = (ring->pos - (ring->end - EDC_BLOCK_SIZE)) * 8;
	block->timestamp_end = ring->last_time;
}

#endif
