/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Prepares the user card's rings when the fast path fails: opens the next block, leaves one that is too full or too
 * old, posts which thread writes. Included by edc_connect.h, which calls edc_prepare_() until the fast path succeeds.
 *
 * May run in a signal handler: calls no C library functions. It makes system calls only to re-check the TID now and
 * then, and to wake the recorder, at most once until it has looked. A ring changes by one store to its state, in a
 * restartable sequence that first checks that the state is unchanged. If the sequence is aborted, the words of a header
 * or token that it stored before are not visible.
 */
#ifndef MONITOR_EDC_RINGS_H
#define MONITOR_EDC_RINGS_H

#include "edc_post.h"

#if defined(__x86_64__)

#define EDC_LOOK_AT_SELF_ 8 /* re-check the TID at every 8th block */

#ifdef __cplusplus
extern "C" {
#endif

struct edc_store {
	__u64 *to;
	__u64 word;
};

static inline struct edc_store *edc_add_(struct edc_store *at, __u64 *to, __u64 word)
{
	at->to = to;
	at->word = word;
	return at + 1;
}

/* Does the stores, then sets the ring's state, if it still is `expected` and we stay on this CPU throughout. */
static inline enum edc_outcome edc_change_(struct edc_card *card, uint32_t cpu, struct edc_user_ring *ring,
					   uint64_t expected, uint64_t state, const struct edc_store *stores,
					   const struct edc_store *end)
{
	__asm__ goto(EDC_RSEQ_BEGIN_ "cmpl %%fs:4(%[rseq]), %[cpu]\n\t"
				     "jne %l[again]\n\t"
				     "cmpq (%[ring]), %[expected]\n\t"
				     "jne %l[again]\n\t"
				     "movq %[stores], %%rcx\n"
				     "5:\n\t"
				     "cmpq %%rcx, %[end]\n\t"
				     "je 6f\n\t"
				     "movq (%%rcx), %%rax\n\t"
				     "movq 8(%%rcx), %%rdx\n\t"
				     "movq %%rdx, (%%rax)\n\t"
				     "addq $16, %%rcx\n\t"
				     "jmp 5b\n"
				     "6:\n\t"
				     "movq %[state], (%[ring])\n" /* commits */
				     "2:\n\t"
		     :
		     : [rseq] "r"(card->rseq), [cpu] "r"(cpu), [ring] "r"(ring), [expected] "r"(expected),
		       [state] "r"(state), [stores] "r"(stores), [end] "r"(end)
		     : "rax", "rcx", "rdx", "memory", "cc"
		     : again);
	return EDC_POSTED_;
again:
	return EDC_AGAIN_;
}

/* The current CPU; a number above all CPUs: this thread has no restartable sequences. */
static inline uint32_t edc_cpu_(const struct edc_card *card)
{
	return *(volatile uint32_t *)((char *)__builtin_thread_pointer() + card->rseq + 4);
}

/* One step to prepare this CPU's ring for `words` words of this thread. EDC_SLOW_: it is full, the event is lost. */
static inline enum edc_outcome edc_prepare_(struct edc_card *card, uint32_t cpu, uint32_t words)
{
	uint64_t self = edc_self_;
	struct edc_user_ring *ring = (struct edc_user_ring *)(void *)(card->first + cpu * card->ring_bytes);
	__u64 *blocks = (__u64 *)(void *)((char *)ring + EDC_BLOCK_SIZE);
	uint64_t state = __atomic_load_n(&ring->state, __ATOMIC_RELAXED), position = state & EDC_USER_POSITION;
	uint64_t in_block = position % EDC_USER_BLOCK_WORDS, now = edc_tsc_();
	uint64_t tid = self >> EDC_USER_POSITION_BITS;
	__u64 *here = blocks + (position & card->mask), *header = here - in_block;
	struct edc_store stores[5], *end = stores;

	/* A full ring is checked first: a program meets it again and again, and it must not cost a system call. */
	if (in_block == 0) {
		uint64_t waiting = (position / EDC_USER_BLOCK_WORDS - __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE)) &
				   EDC_USER_BLOCKS;

		if (waiting >= card->blocks / 2)
			edc_ring_bell_(card);
		if (waiting >= card->blocks) {
			edc_discarded_(card, ring);
			return EDC_SLOW_;
		}
	}
	if ((in_block != 0 && (state ^ self) >> EDC_USER_POSITION_BITS) || self == 0 ||
	    (in_block == 0 && position / EDC_USER_BLOCK_WORDS % EDC_LOOK_AT_SELF_ == 0)) {
		if (!edc_refresh_tid_(card)) {
			edc_lost_(card);
			return EDC_SLOW_;
		}
		if (edc_self_ != self)
			return EDC_AGAIN_;
	}
	if (in_block == 0) {
		end = edc_add_(end, header + EDC_HEADER_WORD(timestamp_begin), now);
		end = edc_add_(end, header + EDC_HEADER_WORD(content_size), 0); /* full */
		end = edc_add_(end, header + EDC_HEADER_WORD(events_discarded), ring->discarded);
		end = edc_add_(end, header + EDC_HEADER_WORD(tid), tid);
		end = edc_add_(end, &ring->begin_time, now);
		position += EDC_USER_HEADER_WORDS;
	} else if (in_block + words > EDC_USER_BLOCK_WORDS || now - ring->begin_time >= EDC_BLOCK_MAX_TICKS ||
		   ((state ^ self) >> EDC_USER_POSITION_BITS && in_block + 2 + words > EDC_USER_BLOCK_WORDS)) {
		end =
		    edc_add_(end, header + EDC_HEADER_WORD(content_size), in_block * 64); /* left before it was full */
		position += EDC_USER_BLOCK_WORDS - in_block;
	} else if ((state ^ self) >> EDC_USER_POSITION_BITS) {
		end = edc_add_(end, here, edc_token(EDC_ID_THREAD, EDC_MODE_USER, now, 0));
		end = edc_add_(end, here + 1, tid);
		position += 2;
	} else {
		return EDC_POSTED_; /* prepared by another thread in between */
	}
	return edc_change_(card, cpu, ring, state, self | (position & EDC_USER_POSITION), stores, end);
}

#ifdef __cplusplus
}
#endif

#endif /* __x86_64__ */
#endif
