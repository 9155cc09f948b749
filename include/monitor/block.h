/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel cards write into a block's header (ring.h). Magic, uuid, cpu_id, tid and the order of stores are left
 * to each card.
 */
#ifndef MONITOR_BLOCK_H
#define MONITOR_BLOCK_H

#include "ring.h"

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

/* Closes the ring's open block. Called before ring->end is cleared. */
static inline __attribute__((always_inline)) void edc_block_closed(struct edc_block *block, const struct edc_ring *ring)
{
	block->content_size = (ring->pos - (ring->end - EDC_BLOCK_SIZE)) * 8;
	block->timestamp_end = ring->last_time;
}

#endif
