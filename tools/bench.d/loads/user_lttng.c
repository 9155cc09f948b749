// SPDX-License-Identifier: MIT
/*
 * The loads of user_load.c with two tracepoints of LTTng-UST in the place of our events: the peer of the bench `user`.
 * LTTng reads this file again and again, each time with other macros: its first part is what it finds then.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER monitor_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "user_lttng.c"

#ifndef USER_LTTNG_EVENTS
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#endif

#if !defined(USER_LTTNG_EVENTS) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define USER_LTTNG_EVENTS
#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(monitor_bench, step, LTTNG_UST_TP_ARGS(uint16_t, number),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint16_t, number, number)))
LTTNG_UST_TRACEPOINT_EVENT(monitor_bench, sized, LTTNG_UST_TP_ARGS(uint64_t, bytes),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, bytes, bytes)))
#endif

#ifndef USER_LTTNG_PROGRAM
#define USER_LTTNG_PROGRAM
#include <lttng/tracepoint-event.h>

#define POST_16(number) lttng_ust_tracepoint(monitor_bench, step, (uint16_t)(number))
#define POST_64(number) lttng_ust_tracepoint(monitor_bench, sized, number)
#include "user_load.c"
#endif
