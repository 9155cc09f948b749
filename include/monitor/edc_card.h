/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The card of a process: its state, and the code that all paths to its rings share. Included by edc.h.
 * Next in the flow: edc_post.h (threads with restartable sequences), edc_shared.h (all others), edc_connect.h.
 *
 * May run in a signal handler: calls no C library functions and leaves errno untouched.
 */
#ifndef MONITOR_EDC_CARD_H
#define MONITOR_EDC_CARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "token.h"
#include "user_ring.h"

#define EDC_UNKNOWN_ 0u /* has not looked for a recorder yet; also the initial state of a forked child */
#define EDC_OFF_ 1u
#define EDC_ON_ 2u     /* with restartable sequences */
#define EDC_SHARED_ 3u /* on, without restartable sequences */

#ifdef __cplusplus
extern "C" {
#endif

struct edc_class {
	const char *name;
	const char *fields;
	uint32_t id;    /* assigned by the recorder; from bit 16 on its number of payload words; 0: none */
	uint32_t asked; /* its index in the pending request, from 1 */
};

/* The card of this process. In a separate page that a fork wipes (MADV_WIPEONFORK). */
struct edc_card {
	uint32_t word; /* EDC_UNKNOWN_, EDC_OFF_, EDC_ON_, EDC_SHARED_ */
	uint32_t rings;
	int64_t rseq; /* offset of the thread's rseq area from the thread pointer; EDC_ON_ only */
	uint64_t ring_bytes;
	uint64_t mask; /* for positions, in words */
	char *first;   /* the page of CPU 0's ring */
	struct edc_user_ring *shared;
	struct edc_user_area *area;
	uint64_t blocks;
	/* used only by edc_connect.h */
	uint64_t lost; /* events posted before there were rings */
	uint64_t pid;
	uint32_t lock;
	uint32_t wiped; /* a fork wipes this page */
	int64_t socket; /* descriptor + 1; 0: none */
	/* at the end, for objects that were built before these fields existed */
	uint32_t counting;         /* number of counters to read at activity boundaries */
	uint32_t counting_threads; /* threads that have opened their counters */
	uint64_t key;              /* the recording's */
	uint32_t by_device;        /* the rings come from the kernel module */
};

union edc_card_page {
	struct edc_card card;
	char page[4096];
};

/* One card per process if the dynamic linker merges the symbol; otherwise each library has one, and all of them work.
 */
__attribute__((weak, visibility("default"), aligned(4096))) union edc_card_page edc_card_page_;

/* The running thread's TID, shifted as in a ring's state; 0: not known yet. Static TLS: safe in signal handlers. */
__attribute__((weak, visibility("hidden"), tls_model("initial-exec"))) __thread uint64_t edc_self_;

/* The first page of the area. A forked child inherits it and counts its losses there until it has another area. */
__attribute__((weak, visibility("default"))) struct edc_user_area *edc_family_;

static inline long edc_syscall_(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
#if defined(__x86_64__)
	long result;
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register uint64_t x0 __asm__("x0") = a;
	register uint64_t x1 __asm__("x1") = b;
	register uint64_t x2 __asm__("x2") = c;
	register uint64_t x3 __asm__("x3") = d;
	register uint64_t x4 __asm__("x4") = e;
	register uint64_t x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return (long)x0;
#endif
}

#define EDC_CALL_0_(number) edc_syscall_(number, 0, 0, 0, 0, 0, 0)
#define EDC_CALL_2_(number, a, b) edc_syscall_(number, (uint64_t)(a), (uint64_t)(b), 0, 0, 0, 0)
#define EDC_CALL_3_(number, a, b, c) edc_syscall_(number, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), 0, 0, 0)

/* The trace clock: the time stamp counter; on aarch64 the virtual counter of the architected timer. */
static inline uint64_t edc_tsc_(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now) : : "memory");
	return now;
#endif
}

static inline void edc_lost_(struct edc_card *card)
{
	struct edc_user_area *area = card->area ? card->area : edc_family_;

	if (area)
		__atomic_fetch_add(&area->lost_early, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&card->lost, 1, __ATOMIC_RELAXED);
}

/* A ring is full: counts the event as discarded. Turns the card off if the recording is over. */
static inline void edc_discarded_(struct edc_card *card, struct edc_user_ring *ring)
{
	__atomic_fetch_add(&ring->discarded, 1, __ATOMIC_RELAXED);
	if (card->area->over)
		__atomic_store_n(&card->word, EDC_OFF_, __ATOMIC_RELAXED);
}

/* Half of a ring is full: wakes the recorder, at most once until it has looked. */
static inline void edc_ring_bell_(struct edc_card *card)
{
	__u32 *bell = &card->area->bell;

	if (__atomic_load_n(bell, __ATOMIC_RELAXED) == EDC_BELL_QUIET &&
	    __atomic_exchange_n(bell, EDC_BELL_RUNG, __ATOMIC_SEQ_CST) == EDC_BELL_QUIET)
		EDC_CALL_3_(SYS_futex, bell, 1 /* FUTEX_WAKE */, 1);
}

/* Sets edc_self_ to the running thread. Returns 0 in the child of a vfork: its cpu_id is its parent's, so it must not
 * post. */
static inline int edc_refresh_tid_(struct edc_card *card)
{
	uint64_t self = (uint64_t)EDC_CALL_0_(SYS_gettid) << EDC_USER_POSITION_BITS;

	if (edc_self_ == self)
		return 1;
	if ((uint64_t)EDC_CALL_0_(SYS_getpid) != card->pid)
		return 0;
	edc_self_ = self;
	return 1;
}

#ifdef __cplusplus
}
#endif

#endif
