/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a process's user card and the recorder share: rings in a sealed memory of that process alone, and the words
 * they exchange over a socket before. Used by edc_post.h, edc_shared.h and edc_connect.h (the writers) and
 * userspace/card (the reader).
 *
 * The area: one page of struct edc_user_area, then for each CPU a page of struct edc_user_ring and its blocks, then the
 * same once more: the shared ring.
 *
 * A CPU's ring is written in restartable sequences. Its whole state is one word, so that every change is one store, the
 * last of a restartable sequence:
 *
 *     63                     40 39                                      0
 *    +-------------------------+-----------------------------------------+
 *    | thread that wrote last  | position in words since the beginning   |
 *    +-------------------------+-----------------------------------------+
 *
 * Position / 512 is the block, position % 512 the word in it; 0 means that no block is open: the next writer opens one,
 * if the reader's `read` says that it is free. A writer that is not the thread of the word first posts a `thread`
 * token. Life of a block: opened (header words, then state), filled (token, then state), left (state points behind it).
 * What the header needs from the writer is its begin, what was refused before, its thread and, if it was left before it
 * was full, its content; everything else is the recorder's, who knows better than to believe it.
 *
 * The shared ring is for threads without restartable sequences: a circle of words without blocks. Its state is the
 * position of the next record; a locked compare-and-exchange claims the words of one, if so many are free. A record is
 * a head, the token and its payload words. The head is stored last and says that the record is there: its position
 * tells it from what an earlier lap left in its place.
 *
 *     63            40 39             24 23                               0
 *    +----------------+-----------------+----------------------------------+
 *    | thread         | time, bits 32.. | position of this word in the ring |
 *    +----------------+-----------------+----------------------------------+
 *
 * Times in it rise only by and large: the clock is read after the claim. Who claims and never comes back (a killed
 * thread, a longjmp() out of a signal handler) leaves a hole; the reader waits for it for a second, then goes round it
 * and counts an event as lost. A writer that comes back later stores nevertheless: stores cannot be taken back. So each
 * announces its claim before it makes it, and what was gone round is not free for the next lap before the announcement
 * is gone, or the thread.
 *
 * The recorder reads the memory of a process that may be hostile: copy, validate, rewrite.
 */
#ifndef MONITOR_USER_RING_H
#define MONITOR_USER_RING_H

#include "ring.h"

#define EDC_USER_MAGIC 0x45444331u /* "EDC1" */

#define EDC_USER_POSITION_BITS 40
#define EDC_USER_POSITION ((1ull << EDC_USER_POSITION_BITS) - 1)
#define EDC_USER_BLOCK_WORDS (EDC_BLOCK_SIZE / 8)
#define EDC_USER_HEADER_WORDS (EDC_BLOCK_HEADER / 8)
#define EDC_USER_BLOCKS (EDC_USER_POSITION / EDC_USER_BLOCK_WORDS) /* block numbers are modulo this + 1 */

/* A counter that is wanted at the borders of activities, as in struct perf_event_attr. */
struct edc_user_counter {
	__u64 config, config1;
	__u64 flags; /* exclude_user and so on */
	__u32 type;
	__u32 pad;
};

#define EDC_USER_COUNTERS 5

/*
 * Who finds half of a ring full rings: rung, where it was quiet, and a wake-up. The recorder makes it quiet again when
 * it has looked. A card that was built before there was a bell never rings.
 */
#define EDC_BELL_NONE 0
#define EDC_BELL_QUIET 1
#define EDC_BELL_RUNG 2

/* First page of the area. */
struct edc_user_area {
	__u32 magic;
	__u32 over;     /* the recorder's: the recording is over, post nothing */
	__u32 counters; /* how many are wanted */
	__u32 bell;     /* EDC_BELL_*: a futex */
	__u32 pad[12];
	__u64 lost_early; /* the card's: events that came before the rings did */
	struct edc_user_counter counter[EDC_USER_COUNTERS];
	__u64 key; /* of the recording: counters opened for another one are not these */
};

#define EDC_CLAIMS 60 /* that can be announced at a time */

/* A thread (from EDC_USER_POSITION_BITS on) may be about to store at this position; 0: nobody. */
struct edc_user_claim {
	__u64 word __attribute__((aligned(64)));
};

/* A ring's page; its blocks follow. */
struct edc_user_ring {
	__u64 state;                                  /* the writers' */
	__u64 begin_time;                             /* of the open block; nothing in the shared ring */
	__u64 discarded __attribute__((aligned(64))); /* tokens refused so far: atomic */
	__u64 read __attribute__((aligned(64)));      /* the reader's: blocks taken so far; in the shared ring words */
	__u64 pad[15];
	struct edc_user_claim claim[EDC_CLAIMS]; /* the writers', of the shared ring */
};

/* The shared ring's heads. */
#define EDC_HEAD_THREAD_SHIFT 40
#define EDC_HEAD_TIME_SHIFT 24
#define EDC_HEAD_TIME_BITS 16
#define EDC_HEAD_POSITION 0xffffffull

EDC_ASSERT(sizeof(struct edc_user_area) == 80 + EDC_USER_COUNTERS * 32);
EDC_ASSERT(__builtin_offsetof(struct edc_user_ring, begin_time) == 8);
EDC_ASSERT(__builtin_offsetof(struct edc_user_ring, discarded) == 64);
EDC_ASSERT(__builtin_offsetof(struct edc_user_ring, read) == 128);
EDC_ASSERT(__builtin_offsetof(struct edc_user_ring, claim) == 256);
EDC_ASSERT(sizeof(struct edc_user_ring) == EDC_BLOCK_SIZE);

/* Who writes from here on: a token without argument, then one word: the thread's number, above it the recorder's word
 * for its process (zero in the ring). The class `thread` of card.h. */
#define EDC_ID_THREAD 5

/* The writing thread's counters, ahead of an activity's begin or end: a word for each. */
#define EDC_ID_USER_COUNTERS 346

/*
 * The handshake, over a Unix socket of packets: the card sends one edc_hello, behind it the classes' texts
 * ("NAME\0FIELDS\0" each); the recorder answers with one edc_welcome, behind it an id (u16, 0: refused) for each, and
 * the area's memory as a descriptor if the card asked for one. Then both close the connection.
 */
#define EDC_HELLO_AREA 1    /* give me rings: the card's first */
#define EDC_HELLO_CLASSES 2 /* I have rings: only ids for more classes */
#define EDC_HELLO_BYTES (60 * 1024)

struct edc_hello {
	__u32 magic;
	__u32 wish; /* EDC_HELLO_* */
	__u32 classes;
	__u32 text_bytes;
};

struct edc_welcome {
	__u32 magic;
	__u32 rings; /* CPUs, the shared ring not among them; 0: refused */
	__u64 area_bytes;
	__u64 ring_bytes; /* of one CPU: its page and its blocks */
	__u32 blocks;     /* of one ring, a power of two */
	__u32 classes;    /* ids that follow */
};

EDC_ASSERT(sizeof(struct edc_hello) == 16);
EDC_ASSERT(sizeof(struct edc_welcome) == 32);

/* A child of the recorder finds it here: the name of an abstract socket (unix(7)), without its leading zero. */
#define EDC_ENVIRONMENT "MONITOR_EDC"
/* Every other process finds it here. */
#define EDC_SOCKET_PATH "/run/monitor/edc.sock"

#endif
