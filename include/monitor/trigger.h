/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Triggers (record --trigger): when they fire, decided where the events happen, and how the recorder learns of it.
 *
 *     matcher.h: an event is an input of a trigger -> edc_trigger_step() -> it fires -> a token `trigger_fired`
 *                                                                               \----> edc_firings of this CPU
 *
 * Kinds: each event; one event, then another with its key; one that another with its key does not follow in time; a
 * number of events with one key within a time. The times are those of tokens. `monitor trigger FILE DIR` steps the same
 * code through a trace.
 *
 * Plain C for BPF, kernel and user space. No locks, as in timing.h: events that happen on two CPUs in the same moment
 * count in either order.
 */
#ifndef MONITOR_TRIGGER_H
#define MONITOR_TRIGGER_H

#include "timing.h"

#define EDC_TRIGGERS 16
#define EDC_TRIGGER_INPUTS (2 * EDC_TRIGGERS) /* of trigger t: 2 t and 2 t + 1 */

#define EDC_TRIGGER_EVENT 1   /* each event of the first input */
#define EDC_TRIGGER_THEN 2    /* the second input after the first, within `within` unless it is 0 */
#define EDC_TRIGGER_MISSING 3 /* the first, and not the second within `within` */
#define EDC_TRIGGER_TIMES 4   /* the first, `times` times within `within` */
/* These have no events. The recorder fires them: every `within`, and once at the start. */
#define EDC_TRIGGER_EVERY 5
#define EDC_TRIGGER_START 6

/* What a probe does when it fires, besides the token. */
#define EDC_ACT_HOLD 1    /* hold the rings of a flight recorder, if nothing holds them */
#define EDC_ACT_TELL 2    /* tell the recorder at once */
#define EDC_ACT_STOP 4    /* from now on no event is stored, only tokens of firings */
#define EDC_ACT_START 8   /* from now on all are again */
#define EDC_ACT_SAMPLE 16 /* a sample of all CPUs: this one's here, the others' by whoever can interrupt them */

struct edc_trigger {
	__u32 kind; /* 0: there is none */
	__u32 acts;
	__u64 within; /* ticks */
	__u32 times;
	__u32 pad;
};

/* Events of one key, for EDC_TRIGGER_TIMES: when the newest `times` - 1 were. */
#define EDC_WINDOWS 128
#define EDC_WINDOW_BITS 7
#define EDC_WINDOW_NEAR 8
#define EDC_WINDOW_TIMES 60
#define EDC_MAX_TIMES (EDC_WINDOW_TIMES + 1)

struct edc_window {
	__u64 used; /* time of the newest; 0: free, 1: somebody takes it for another key */
	__u64 key;
	__u64 count; /* events so far */
	__u64 from;  /* those before this one have been part of a firing */
	__u64 time[EDC_WINDOW_TIMES];
};

/* What one trigger remembers. */
struct edc_trigger_state {
	union {
		struct edc_begun begun;                /* EDC_TRIGGER_THEN, EDC_TRIGGER_MISSING: first inputs */
		struct edc_window window[EDC_WINDOWS]; /* EDC_TRIGGER_TIMES */
	};
};

/* Why a trigger fires, as in edc_firing. */
struct edc_fired {
	__u64 began, key;
};

/* One firing, for the recorder. */
struct edc_firing {
	__u64 number;  /* of the CPU's firings, from 1; written last */
	__u64 time;    /* of the event */
	__u64 began;   /* time of the first input, or of the first of `times` events; 0: none */
	__u64 key;     /* what the trigger's events have in common; 0: nothing */
	__u32 event;   /* id of its class, and above 16 bits its argument */
	__u32 trigger; /* number, and EDC_FIRING_HELD */
	__s32 tid, tgid;
	__u64 words[7]; /* the event's payload; texts as edc_match_texts() leaves them if its class asks */
	__u64 sample;   /* number of the sample of all CPUs that it began, 1 with the module; 0: none */
	__u64 pad[2];
};

#define EDC_FIRING_HELD 0x100 /* it began the hold of the rings */

/*
 * Those that the recorder has not taken yet; if there is no room it does not learn of a firing. A probe takes the next
 * number, writes the entry, and then its number; the recorder publishes what it took in edc_reader. The probe that
 * notes the first since then wakes the recorder.
 */
#define EDC_FIRINGS 16

struct edc_firings {
	__u64 count;     /* numbers given so far */
	__u64 forgotten; /* first inputs or windows for which there was no room */
	__u64 pauses;    /* that probes on this CPU ended */
	__u64 paused;    /* their ticks */
	__u64 unsampled; /* that began none, because another one was in the same tick */
	__u64 pad[3];
	__u64 fired[EDC_TRIGGERS]; /* how often each did */
	struct edc_firing entry[EDC_FIRINGS];
};

/* edc_reader.hold: the rings run, and no probe may hold them now. */
#define EDC_HOLD_UNARMED (1ull << 63)

/* `paused`: of edc_reader. Returns whether this event began the pause. */
EDC_MATCH_INLINE int edc_pause(__u64 *paused, __u64 time)
{
	return !EDC_TIMING_READ(*paused) && __sync_val_compare_and_swap(paused, 0, time) == 0;
}

/* Returns when the pause that this ends began; 0: there was none. */
EDC_MATCH_INLINE __u64 edc_resume(__u64 *paused)
{
	return EDC_TIMING_READ(*paused) ? __sync_lock_test_and_set(paused, 0) : 0;
}

/* Takes a start from before this time, if the entry has one. Returns its time, or 0; sets `key`. */
static inline __u64 edc_begun_overdue(struct edc_begun_entry *entry, __u64 before, __u64 *key)
{
	__u64 begin = EDC_TIMING_READ(entry->begin);

	if (begin <= EDC_BEGUN_TAKEN || begin >= before)
		return 0;
	if (__sync_val_compare_and_swap(&entry->begin, begin, EDC_BEGUN_TAKEN) != begin)
		return 0;
	*key = EDC_TIMING_READ(entry->key);
	__sync_lock_test_and_set(&entry->begin, 0);
	return begin;
}

EDC_MATCH_INLINE struct edc_window *edc_window_near(struct edc_trigger_state *state, __u64 key, __u32 i)
{
	__u64 hash = key * 0x9e3779b97f4a7c15ull >> (64 - EDC_WINDOW_BITS);

	return &state->window[(hash + i) & (EDC_WINDOWS - 1)];
}

/* The number of the window of a key, taken from another one if need be; EDC_WINDOWS: another probe was faster. */
EDC_TIMING_PART __u32 edc_window_of(struct edc_trigger_state *state, __u64 key, __u64 time, __u64 *forgotten)
{
	struct edc_window *window;
	__u64 oldest = ~0ull;
	__u32 at = 0;

	if (!state || !forgotten)
		return EDC_WINDOWS;
	EDC_TIMING_LOOP
	for (__u32 i = 0; i < EDC_WINDOW_NEAR; i++) {
		__u64 used;

		window = edc_window_near(state, key, i);
		used = EDC_TIMING_READ(window->used);
		if (used > EDC_BEGUN_TAKEN && EDC_TIMING_READ(window->key) == key)
			return (__u32)(window - state->window);
		if (used != EDC_BEGUN_TAKEN && used < oldest) {
			oldest = used;
			at = i;
		}
	}
	window = edc_window_near(state, key, at);
	if (__sync_val_compare_and_swap(&window->used, oldest, EDC_BEGUN_TAKEN) != oldest)
		return EDC_WINDOWS;
	if (oldest)
		__sync_fetch_and_add(forgotten, 1);
	*(volatile __u64 *)&window->key = key;
	*(volatile __u64 *)&window->count = 0;
	*(volatile __u64 *)&window->from = 0;
	__sync_lock_test_and_set(&window->used, time);
	return (__u32)(window - state->window);
}

/* Whether this event is the last of `times` within `within`; `began` is the time of the first of them then. */
EDC_TIMING_PART int edc_window_step(struct edc_trigger_state *state, __u32 number, const struct edc_trigger *trigger,
				    __u64 time, __u64 *began)
{
	struct edc_window *window;
	__u64 event, first;
	__u32 kept;

	if (!state || !trigger || !began || number >= EDC_WINDOWS)
		return 0;
	window = &state->window[number];
	kept = trigger->times - 1;
	if (!kept || kept > EDC_WINDOW_TIMES)
		return 0;
	*(volatile __u64 *)&window->used = time;
	event = __sync_fetch_and_add(&window->count, 1);
	kept = (__u32)(event % kept);
	__asm__("" : "+r"(kept)); /* the verifier of BPF does not know what a remainder can be */
	if (kept >= EDC_WINDOW_TIMES)
		return 0;
	first = __sync_lock_test_and_set(&window->time[kept], time);
	if (event + 1 < EDC_TIMING_READ(window->from) + trigger->times)
		return 0;
	if (time > first && time - first > trigger->within) /* another CPU's may be of a later time */
		return 0;
	*(volatile __u64 *)&window->from = event + 1;
	*began = first;
	return 1;
}

/*
 * An event is an input of a trigger: of its first, or of its second. Returns whether it fires. An event that is both is
 * the second one first. `began`: as in edc_firing.
 */
EDC_MATCH_INLINE int edc_trigger_step(const struct edc_trigger *trigger, struct edc_trigger_state *state, __u32 second,
				      __u64 key, __u64 time, __u64 *began, __u64 *forgotten)
{
	__u64 begin;

	*began = 0;
	if (trigger->kind == EDC_TRIGGER_EVENT)
		return 1;
	if (!state)
		return 0;
	if (trigger->kind == EDC_TRIGGER_TIMES)
		return edc_window_step(state, edc_window_of(state, key, time, forgotten), trigger, time, began);
	if (!second) {
		begin = edc_begun_take(&state->begun, key);
		if (trigger->kind == EDC_TRIGGER_MISSING && begin) {
			/* The oldest must be followed in time; this one, if nobody noticed that it was not. */
			if (time > begin && time - begin > trigger->within)
				*began = begin;
			else
				time = begin;
		}
		if (edc_begun_add(&state->begun, key, time))
			__sync_fetch_and_add(forgotten, 1);
		return *began != 0;
	}
	begin = edc_begun_take(&state->begun, key);
	if (!begin)
		return 0;
	*began = begin;
	if (trigger->kind == EDC_TRIGGER_MISSING) /* nobody has noticed yet */
		return time > begin && time - begin > trigger->within;
	return !trigger->within || time <= begin || time - begin <= trigger->within;
}

EDC_ASSERT(sizeof(struct edc_trigger) == 24);
EDC_ASSERT(sizeof(struct edc_window) == 512);
EDC_ASSERT(sizeof(struct edc_trigger_state) == sizeof(struct edc_begun));
EDC_ASSERT(sizeof(struct edc_firing) == 128);
EDC_ASSERT(sizeof(struct edc_firings) == 64 + EDC_TRIGGERS * 8 + EDC_FIRINGS * 128);
EDC_ASSERT(EDC_WINDOWS == 1 << EDC_WINDOW_BITS);

#endif
