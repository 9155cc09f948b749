/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Counters at activity boundaries: if the recorder requests them and the kernel lets programs read them, each thread
 * opens its counters at its first boundary and posts their values in one token before each start and end event.
 * Included by edc.h. Next in the flow: userspace/analyze/user_activities.cpp.
 *
 * Reading needs no system call: the page that the kernel shares for each counter has the counter's index and the value
 * to add (struct perf_event_mmap_page, perf_event_open(2)). A counter that is not counting at the moment has no value:
 * then nothing is posted, and the activity is measured as if there were no counters.
 *
 * May run in a signal handler, even while the thread is opening its counters: that handler posts none.
 */
#ifndef MONITOR_EDC_COUNTERS_H
#define MONITOR_EDC_COUNTERS_H

#include "edc_connect.h"
#include "edc_post.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The part of struct perf_event_mmap_page that is read here. */
struct edc_counter_page {
	uint32_t version, compat_version;
	uint32_t lock; /* changes when the other fields do */
	uint32_t index;
	int64_t offset;
	uint64_t time_enabled, time_running;
	uint64_t capabilities;
	uint16_t width; /* of the counter, in bits */
};

#define EDC_CAN_READ_ 4 /* cap_user_rdpmc */

/* One thread's counters, in a page that a fork wipes: the child has neither these mappings nor these counters. */
struct edc_counters {
	uint64_t key; /* of the recording that they were opened for; 0: not opened yet */
	uint32_t count;
	volatile struct edc_counter_page *page[EDC_USER_COUNTERS];
};

#define EDC_COUNTING_THREADS_ 1024 /* per process: a header cannot see a thread end, so its counters stay */

/* Of the running thread; NULL: none yet. */
__attribute__((weak, visibility("default"), tls_model("initial-exec"))) __thread struct edc_counters *edc_counters_;

#if defined(__x86_64__)

static inline uint64_t edc_pmc_(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

#else

#define EDC_PMC_(number)                                                                      \
	case number:                                                                          \
		__asm__ volatile("isb\n\tmrs %0, pmevcntr" #number "_el0" : "=r"(value) : :); \
		break;

/* Counter registers are named in the instruction: a number computed at run time cannot select one. */
static inline uint64_t edc_pmc_(uint32_t index)
{
	uint64_t value = 0;

	switch (index) {
		EDC_PMC_(0)
		EDC_PMC_(1)
		EDC_PMC_(2)
		EDC_PMC_(3)
		EDC_PMC_(4)
		EDC_PMC_(5)
		EDC_PMC_(6)
		EDC_PMC_(7)
		EDC_PMC_(8)
		EDC_PMC_(9)
		EDC_PMC_(10)
		EDC_PMC_(11)
		EDC_PMC_(12)
		EDC_PMC_(13)
		EDC_PMC_(14)
		EDC_PMC_(15)
		EDC_PMC_(16)
		EDC_PMC_(17)
		EDC_PMC_(18)
		EDC_PMC_(19)
		EDC_PMC_(20)
		EDC_PMC_(21)
		EDC_PMC_(22)
		EDC_PMC_(23)
		EDC_PMC_(24)
		EDC_PMC_(25)
		EDC_PMC_(26)
		EDC_PMC_(27)
		EDC_PMC_(28)
		EDC_PMC_(29)
		EDC_PMC_(30)
	case 31:
		__asm__ volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(value) : :);
		break;
	}
	return value;
}

#endif

/* Returns 0 if the counter is not counting now or must not be read. */
static inline int edc_read_counter_(const volatile struct edc_counter_page *page, uint64_t *value)
{
	uint32_t lock, index;

	do {
		uint64_t count;

		lock = page->lock;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		index = page->index;
		if (!index || !(page->capabilities & EDC_CAN_READ_) || page->width - 1u > 63)
			return 0;
		count = edc_pmc_(index - 1) << (64 - page->width);
		*value = (uint64_t)page->offset + (uint64_t)((int64_t)count >> (64 - page->width));
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (page->lock != lock);
	return 1;
}

static inline void edc_close_counters_(struct edc_card *card, struct edc_counters *mine)
{
	uint32_t count = mine->count;

	mine->count = 0; /* first: a signal handler must not read what is unmapped next */
	for (uint32_t i = 0; i < count; i++)
		EDC_CALL_2_(SYS_munmap, mine->page[i], getauxval(AT_PAGESZ));
	if (count)
		__atomic_fetch_sub(&card->counting_threads, 1, __ATOMIC_RELAXED);
}

/* Opens the counters that the area requests, as one group. If one cannot be opened, none is used. */
static inline void edc_open_counters_(struct edc_card *card, struct edc_counters *mine)
{
	long fd[EDC_USER_COUNTERS];
	uint32_t count = card->counting, opened = 0;

	if (__atomic_fetch_add(&card->counting_threads, 1, __ATOMIC_RELAXED) >= EDC_COUNTING_THREADS_)
		count = 0;
	for (; opened < count; opened++) {
		const struct edc_user_counter *wanted = &card->area->counter[opened];
		/* struct perf_event_attr as of PERF_ATTR_SIZE_VER1 */
		uint64_t attributes[9] = {
		    wanted->type | (uint64_t)72 << 32, wanted->config, 0, 0, 0, wanted->flags, 0, wanted->config1, 0};
		long page = -1;

		fd[opened] = edc_syscall_(SYS_perf_event_open, (uint64_t)attributes, 0, ~0ull,
					  opened ? (uint64_t)fd[0] : ~0ull, 8 /* PERF_FLAG_FD_CLOEXEC */, 0);
		if (fd[opened] < 0)
			break;
		page = edc_syscall_(SYS_mmap, 0, getauxval(AT_PAGESZ), PROT_READ, MAP_SHARED, (uint64_t)fd[opened], 0);
		if (page <= 0 && page > -4096) {
			EDC_CALL_2_(SYS_close, fd[opened], 0);
			break;
		}
		mine->page[opened] = (volatile struct edc_counter_page *)(uintptr_t)page;
	}
	for (uint32_t i = 0; i < opened; i++)
		EDC_CALL_2_(SYS_close, fd[i], 0); /* the mapping keeps the counter open */
	if (opened == count && count) {
		mine->count = count;
		return;
	}
	for (uint32_t i = 0; i < opened; i++)
		EDC_CALL_2_(SYS_munmap, mine->page[i], getauxval(AT_PAGESZ));
	__atomic_fetch_sub(&card->counting_threads, 1, __ATOMIC_RELAXED);
}

/* This thread's counters for this recording; NULL: none. A signal handler that interrupts this finds none either. */
static inline struct edc_counters *edc_my_counters_(struct edc_card *card)
{
	struct edc_counters *mine = edc_counters_;

	if (!mine) {
		long page = -1;

		if (!edc_refresh_tid_(card)) /* the child of a vfork: this is its parent's memory */
			return NULL;
		page = edc_syscall_(SYS_mmap, 0, sizeof edc_card_page_, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | 0x20 /* MAP_ANONYMOUS */, ~0ull, 0);
		if (page <= 0 && page > -4096)
			return NULL;
		mine = (struct edc_counters *)(uintptr_t)page;
		if (EDC_CALL_3_(SYS_madvise, mine, sizeof edc_card_page_, EDC_WIPEONFORK_) != 0)
			mine->key = ~0ull; /* never opened */
		edc_counters_ = mine;
	}
	if (mine->key == ~0ull)
		return NULL;
	if (mine->key != card->key) {
		edc_close_counters_(card, mine); /* from an earlier recording */
		if (!edc_refresh_tid_(card))
			return NULL;
		mine->key = card->key;
		edc_open_counters_(card, mine);
	}
	return mine->count ? mine : NULL;
}

__attribute__((weak, visibility("hidden"), noinline)) void edc_count_(void)
{
	struct edc_card *card = &edc_card_page_.card;
	struct edc_counters *mine = NULL;
	uint64_t words[EDC_USER_COUNTERS];
	uint32_t count = 0;

	if (edc_is_on_(__atomic_load_n(&card->word, __ATOMIC_ACQUIRE)))
		mine = edc_my_counters_(card);
	if (!mine)
		return;
	if (card->area->over) { /* the recording is over: others may need the PMU */
		edc_close_counters_(card, mine);
		return;
	}
	for (; count < mine->count; count++)
		if (!edc_read_counter_(mine->page[count], &words[count]))
			return;

	struct edc_class counters = {"", "", EDC_ID_USER_COUNTERS | count << 16, 0};

	edc_post_(&counters, 0, count, words);
}

/* Posts the start or end of an activity. */
static inline __attribute__((always_inline)) void edc_boundary_(struct edc_class *cls, uint16_t arg)
{
	if (__builtin_expect(edc_card_page_.card.counting != 0, 0))
		edc_count_();
	edc_post_(cls, arg, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif
