/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The ring and the block: where tokens are kept until the recorder reads them, and how they are stored on disk.
 *
 * A block is one 4 KiB page and one CTF packet: a header, then whole records (a token and its payload words).
 * A record never straddles blocks, so ring pages are written to disk unchanged and any block can be read alone.
 * The contents of a closed block after its content size are undefined.
 *
 * A ring is a circle of blocks with one writer at a time. Life of a block:
 *
 *     free --open--> open --close--> closed --drain--> free
 *          (writer)       (writer)          (reader)
 *
 * Opening: clear the magic, write the header, write the magic, set the position. Closing: write content size and
 * end time, then publish `closed` with an ordering (BPF: one xchg; elsewhere a store-release). The reader takes
 * blocks [read, closed) after an acquire of `closed`, and publishes `read` with a release when it has copied them.
 * All the writer sees of the reader is `read`, when it opens a block: if no block is free, the token is discarded and
 * counted in `discarded`. The header of the next block opened carries that count, so a loss can be located in time. If
 * exactly half of the blocks are waiting, the writer wakes the reader, once each time that number is reached.
 *
 * A flight recorder's ring overwrites: while nothing holds it all blocks are free, and the oldest is opened next. A
 * hold, a number that the writer reads when it opens a block, makes the ring one like any other, in which the newest
 * edc_ring_kept() blocks wait for the reader. The reader sets `read` to 0 before each hold, and then takes blocks from
 * closed + 2 - edc_ring_kept() on, `closed` being read after the hold was set: the writer may open one block before it
 * sees the hold. From `held_from` on, which is further back, if the writer has seen the hold. It may copy a block at
 * any time, and has a whole one if afterwards closed < number + blocks: the writer opens block number + blocks in its
 * place only after it closed the one before. A held writer closes that one and opens none: then the magic in the
 * block's place still stands.
 *
 * Litmus text (x86 cannot show an error here; reviewed for weaker machines):
 *   writer: W(records) W(content_size) RMW_full(closed)   reader: R_acq(closed) R(records) W_rel(read)
 *   writer: R(read) --control dependency--> W(records)    so no record of the next lap overtakes the reader's copy.
 *   flight: writer: RMW_full(closed) W(records of block n + blocks)   reader: R(copy of block n) F_acq R(closed)
 *     so a reader that copied any of the new records sees closed >= n + blocks.
 *   writer: W(closed) MB R(read)                          reader: W(read) MB R(closed), then it sleeps
 *     so either the reader sees that half of the blocks are waiting, or the writer sees the new `read`.
 *
 * Plain C for BPF, kernel and user space. A ring that a user process writes is untrusted: copy, validate, rewrite.
 */
#ifndef MONITOR_RING_H
#define MONITOR_RING_H

#include <linux/types.h>

#define EDC_BLOCK_SIZE 4096
#define EDC_BLOCK_MAGIC 0xc1fc1fc1u /* CTF packet magic */
#define EDC_BLOCK_HEADER 96         /* bytes before the first token */

/* A token this many ticks after the start of its block opens a new block: 32-bit times stay unambiguous. */
#define EDC_BLOCK_MAX_TICKS_SHIFT 31
#define EDC_BLOCK_MAX_TICKS (1ull << EDC_BLOCK_MAX_TICKS_SHIFT)

/* CTF packet header and packet context. Sizes in bits, times in ticks of the trace clock. */
struct edc_block {
	__u32 magic;
	__u8 uuid[16];
	__u32 stream_id;
	__u64 stream_instance_id;
	__u64 timestamp_begin;
	__u64 timestamp_end; /* valid once closed */
	__u64 content_size;  /* bits, header included; valid once closed */
	__u64 packet_size;   /* bits, EDC_BLOCK_SIZE * 8 */
	__u64 packet_seq_num;
	__u64 events_discarded; /* discarded by this ring before this block was opened */
	__u32 cpu_id;           /* EDC_CPU_UNKNOWN: the recorder's own blocks, and user tokens whose CPU is unknown */
	__u32 level;            /* nesting level of the probes, EDC_LEVEL_USER in user rings */
	__u32 tid;              /* the thread that ran when the block was opened */
	__u32 process;          /* the process that wrote a user ring, else 0 */
};

/* The header's 64-bit word with this field in it. */
#define EDC_HEADER_WORD(field) (__builtin_offsetof(struct edc_block, field) / 8)

#define EDC_LEVEL_USER 16
#define EDC_CPU_UNKNOWN 0xffffffffu

/*
 * Control words of one ring; the reader's `read` is kept apart from them (card.h). Offsets are bytes from the start of
 * the memory that holds control words and blocks.
 */
struct edc_ring {
	/* the writer's, at each token */
	__u64 pos;        /* where the next token goes */
	__u64 end;        /* end of the open block; 0: none is open */
	__u64 begin_time; /* of the open block */
	__u64 last_time;  /* of the newest token: times never go backwards */
	/* the writer's, at each block; card.h begins a cache line here */
	__u64 opened;    /* blocks opened so far */
	__u64 closed;    /* blocks closed so far: published to the reader */
	__u64 discarded; /* tokens discarded so far */
	__u64 clamped;   /* times that were moved up to last_time */
	__u64 held;      /* a flight recorder's: number of the hold that the writer has seen last */
	__u64 held_from; /* and the blocks before this one are free while it lasts */
	__u64 next;      /* index of the block to open next */
	__u64 tokens; /* written so far, without those that begin blocks (EDC_ID_BLOCK_TOKENS): in a flight recorder */
	/* fixed before the first token */
	__u64 first;  /* offset of the first block */
	__u64 blocks; /* number of blocks */
	__u64 stream_instance_id;
	__u64 pad;
};

/* How many of the newest blocks a hold keeps: the rest is room for what happens until the reader comes. */
static inline __attribute__((always_inline)) __u64 edc_ring_kept(__u64 blocks)
{
	return blocks - (blocks >= 8 ? blocks / 8 : 1);
}

#ifdef __cplusplus
#define EDC_ASSERT(condition) static_assert(condition, #condition)
#else
#define EDC_ASSERT(condition) _Static_assert(condition, #condition)
#endif

EDC_ASSERT(sizeof(struct edc_block) == EDC_BLOCK_HEADER);
EDC_ASSERT(__builtin_offsetof(struct edc_block, stream_instance_id) == 24);
EDC_ASSERT(__builtin_offsetof(struct edc_block, timestamp_begin) == 32);
EDC_ASSERT(__builtin_offsetof(struct edc_block, content_size) == 48);
EDC_ASSERT(__builtin_offsetof(struct edc_block, events_discarded) == 72);
EDC_ASSERT(__builtin_offsetof(struct edc_block, cpu_id) == 80);
EDC_ASSERT(sizeof(struct edc_ring) == 128);
EDC_ASSERT(__builtin_offsetof(struct edc_ring, opened) == 32);

#endif
