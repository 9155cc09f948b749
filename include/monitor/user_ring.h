/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a process's user card and the recorder share: rings in sealed memory that belongs to that process alone, and the
 * messages that they first exchange over a socket. Used by edc_post.h, edc_shared.h and edc_connect.h (the writers) and
 * userspace/recording/user_card (the reader).
 *
 * The area: one page of struct edc_user_area, then for each CPU a page of struct edc_user_ring and its blocks, then one
 * more such page and blocks: the shared ring.
 *
 * A CPU's ring is written in restartable sequences. Its whole state is one word, so that every change is one store, the
 * last of a restartable sequence:
 *
 *     63                     40 39                                      0
 *    +-------------------------+-----------------------------------------+
 *    | thread that wrote last  | position in words since the beginning   |
 *    +-------------------------+-----------------------------------------+
 *
 * Position / 512 is the block, position % 512 the word in it; word 0 means that no block is open: the next writer opens
 * one, if the reader's `read` shows that it is free. A writer other than the thread in the state first posts a `thread`
 * token. Life of a block: opened (header words, then state), filled (token, then state), left (state points past it).
 * In the header the writer supplies the start time, the number discarded before, its TID and, if it left the block
 * before it was full, the content size. The recorder fills in the rest and trusts nothing the writer put there.
 *
 * The shared ring is for threads without restartable sequences: a circle of words without blocks. Its state is the
 * position of the next record; a locked compare-and-exchange claims the words for one, if enough are free. A record is
 * a head, the token and its payload words. The head is stored last and marks the record as present: its position
 * distinguishes it from what an earlier lap left in the same words.
 *
 *     63            40 39             24 23                               0
 *    +----------------+-----------------+----------------------------------+
 *    | thread         | time, bits 32.. | position of this word in the ring |
 *    +----------------+-----------------+----------------------------------+
 *
 * Times in it are only approximately ordered: the clock is read after the claim. A claimant that never commits (a
 * killed thread, a longjmp() out of a signal handler) leaves a hole; the reader waits one second for it, then skips it
 * and counts an event as lost. A writer that resumes later still stores: its stores cannot be prevented. So each writer
 * announces its claim before making it, and skipped words are not free for the next lap until the announcement or the
 * thread is gone.
 *
 * The recorder reads the memory of a process that may be hostile: copy, validate, rewrite.
 */
#ifndef MONITOR_USER_RING_H
#define MONITOR_USER_RING_H

#include "ring.h"

#define EDC_USER_MAGIC 0x45444331u /* "EDC1" */

#define EDC_USER_POSITION_BITS 40
#define EDC_USER_POSITION_MASK ((1ull << EDC_USER_POSITION_BITS) - 1)
#define EDC_USER_BLOCK_WORDS (EDC_BLOCK_SIZE / 8)
#define EDC_USER_HEADER_WORDS (EDC_BLOCK_HEADER / 8)
#define EDC_USER_BLOCK_MASK (EDC_USER_POSITION_MASK / EDC_USER_BLOCK_WORDS) /* block numbers are modulo this + 1 */

/* A counter to read at activity boundaries, as in struct perf_event_attr. */
struct edc_user_counter {
	__u64 config, config1;
	__u64 flags; /* exclude_user and so on */
	__u32 type;
	__u32 pad;
};

#define EDC_USER_COUNTERS 5

/*
 * A writer that finds half of a ring full changes the bell from quiet to rung and wakes the recorder, which makes it
 * quiet again when it has looked. A card that was built before the bell existed never rings it.
 */
#define EDC_BELL_NONE 0
#define EDC_BELL_QUIET 1
#define EDC_BELL_RUNG 2

/* First page of the area. */
struct edc_user_area {
	__u32 magic;
	__u32 over;     /* the recorder's: the recording is over, post nothing */
	__u32 counters; /* number of counters requested */
	__u32 bell;     /* EDC_BELL_*: a futex */
	__u32 pad[12];
	__u64 lost_early; /* the card's: events posted before there were rings */
	struct edc_user_counter counter[EDC_USER_COUNTERS];
	__u64 key; /* the recording's: counters opened for another key are stale */
};

#define EDC_CLAIMS 60 /* claims that can be announced at a time */

/* A thread (bits EDC_USER_POSITION_BITS and up) may be about to store at this position; 0: none. */
struct edc_user_claim {
	__u64 word __attribute__((aligned(64)));
};

/* A ring's page; its blocks follow. */
struct edc_user_ring {
	__u64 state;                                  /* the writers' */
	__u64 begin_time;                             /* of the open block; unused in the shared ring */
	__u64 discarded __attribute__((aligned(64))); /* tokens discarded so far: atomic */
	__u64 read __attribute__((aligned(64)));      /* the reader's: blocks read so far; words in the shared ring */
	__u64 pad[15];
	struct edc_user_claim claim[EDC_CLAIMS]; /* the writers', in the shared ring */
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

/* The thread that writes from here on: a token without argument, then one word: the TID, and above it the process as
 * filled in by the recorder (zero in the ring). The class `thread` of card.h. */
#define EDC_ID_THREAD 5

/* The writing thread's counters, before the start or end event of an activity: a word for each. */
#define EDC_ID_USER_COUNTERS 346

/*
 * The handshake, over a Unix SOCK_SEQPACKET socket: the card sends one edc_hello, followed by the classes' texts
 * ("NAME\0FIELDS\0" each; NAME is "PROVIDER:NAME" if the class has a provider). The recorder answers with one
 * edc_welcome, followed by an id (u16, 0: rejected) for each class, and passes a descriptor of the area's memory if the
 * card requested an area. Then both close the connection.
 */
#define EDC_HELLO_AREA 1    /* rings and ids: the card's first request */
#define EDC_HELLO_CLASSES 2 /* only ids for more classes: the card has rings */
#define EDC_HELLO_BYTES (60 * 1024)

struct edc_hello {
	__u32 magic;
	__u32 request; /* EDC_HELLO_* */
	__u32 classes;
	__u32 text_bytes;
};

struct edc_welcome {
	__u32 magic;
	__u32 rings; /* one per CPU, the shared ring not included; 0: rejected */
	__u64 area_bytes;
	__u64 ring_bytes; /* of one CPU: its page and its blocks */
	__u32 blocks;     /* of one ring, a power of two */
	__u32 classes;    /* ids that follow */
};

EDC_ASSERT(sizeof(struct edc_hello) == 16);
EDC_ASSERT(sizeof(struct edc_welcome) == 32);

/* For a child of the recorder: the variable that names its abstract socket (unix(7)), without the leading NUL. */
#define EDC_ENVIRONMENT "MONITOR_EDC"
/* For every other process: the path of the socket. */
#define EDC_SOCKET_PATH "/run/monitor/edc.sock"

#endif
