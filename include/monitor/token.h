/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The token: one event as one 64-bit word, written with one store.
 *
 *  63            48 47    45  44  43                              12 11          0
 * +----------------+--------+----+----------------------------------+-------------+
 * | arg  (16 bit)  | spare  |mode|  time  (low 32 bits of the TSC)  | id (12 bit) |
 * +----------------+--------+----+----------------------------------+-------------+
 *
 * Who uses it: every card (BPF, kernel module, user program) writes tokens; the recorder writes its own;
 * the reader decodes them by the trace's description. Up to EDC_MAX_WORDS payload words follow a token,
 * their number fixed by the event class. In CTF 1.8 words this is the event header {id:12, timestamp:32},
 * the event context {mode:1} and a payload that begins with the 16-bit argument.
 *
 * Plain C for BPF, kernel and user space; no other include than <linux/types.h>.
 * Invariant: a token's word is never zero (ids start at 1), so zeroed memory holds no token.
 */
#ifndef MONITOR_TOKEN_H
#define MONITOR_TOKEN_H

#include <linux/types.h>

#define EDC_ID_BITS 12
#define EDC_TIME_SHIFT 12
#define EDC_MODE_SHIFT 44
#define EDC_ARG_SHIFT 48

#define EDC_MODE_USER 0
#define EDC_MODE_KERNEL 1

/* Payload words that may follow a token. */
#define EDC_MAX_WORDS 7

/* Id ranges: control classes (the recorder's own), kernel classes, user classes. */
#define EDC_ID_KERNEL_FIRST 256
#define EDC_ID_USER_FIRST 1024
#define EDC_ID_LAST 4095

/* Build the token of class `id`, posted in `mode` at `time` (TSC ticks, low 32 bits kept) with argument `arg`. */
static inline __attribute__((always_inline)) __u64 edc_token(__u32 id, __u32 mode, __u64 time, __u32 arg)
{
	return (__u64)id | (time & 0xffffffffu) << EDC_TIME_SHIFT | (__u64)mode << EDC_MODE_SHIFT |
	       (__u64)(arg & 0xffffu) << EDC_ARG_SHIFT;
}

static inline __u32 edc_token_id(__u64 token)
{
	return (__u32)(token & ((1u << EDC_ID_BITS) - 1));
}

static inline __u32 edc_token_time(__u64 token)
{
	return (__u32)(token >> EDC_TIME_SHIFT);
}

static inline __u32 edc_token_mode(__u64 token)
{
	return (__u32)(token >> EDC_MODE_SHIFT) & 1;
}

static inline __u16 edc_token_arg(__u64 token)
{
	return (__u16)(token >> EDC_ARG_SHIFT);
}

#endif
