/* SPDX-License-Identifier: MIT */
/*
 * What the shared headers of include/monitor mean to one compiler, as a list of numbers.
 *
 * Included by layout.c, which is compiled in every mode (C11, C++17, C++20, BPF); run.py compares the lists. Plain C.
 * Also checks, at compile time, that the table of event classes adds up. Add a line for every new field that is shared.
 */
#ifndef MONITOR_TESTS_ABI_LAYOUT_H
#define MONITOR_TESTS_ABI_LAYOUT_H

#include "monitor/card.h"
#include "monitor/device.h"
#include "monitor/function_table.h"
#include "monitor/matcher.h"
#include "monitor/matcher_trial.h"
#include "monitor/ratio.h"
#include "monitor/ring.h"
#include "monitor/stack.h"
#include "monitor/token.h"

#define SIZE(VALUE, type) VALUE("sizeof " #type, sizeof(struct type))
#define FIELD(VALUE, type, field)                                       \
	VALUE(#type "." #field, __builtin_offsetof(struct type, field)) \
	VALUE("sizeof " #type "." #field, sizeof(((struct type *)0)->field))

#define BLOCK_LAYOUT(VALUE)                         \
	SIZE(VALUE, edc_block)                      \
	FIELD(VALUE, edc_block, magic)              \
	FIELD(VALUE, edc_block, uuid)               \
	FIELD(VALUE, edc_block, stream_id)          \
	FIELD(VALUE, edc_block, stream_instance_id) \
	FIELD(VALUE, edc_block, timestamp_begin)    \
	FIELD(VALUE, edc_block, timestamp_end)      \
	FIELD(VALUE, edc_block, content_size)       \
	FIELD(VALUE, edc_block, packet_size)        \
	FIELD(VALUE, edc_block, packet_seq_num)     \
	FIELD(VALUE, edc_block, events_discarded)   \
	FIELD(VALUE, edc_block, cpu_id)             \
	FIELD(VALUE, edc_block, level)              \
	FIELD(VALUE, edc_block, tid)                \
	FIELD(VALUE, edc_block, process)

#define RING_LAYOUT(VALUE)                         \
	SIZE(VALUE, edc_ring)                      \
	FIELD(VALUE, edc_ring, pos)                \
	FIELD(VALUE, edc_ring, end)                \
	FIELD(VALUE, edc_ring, begin_time)         \
	FIELD(VALUE, edc_ring, last_time)          \
	FIELD(VALUE, edc_ring, opened)             \
	FIELD(VALUE, edc_ring, closed)             \
	FIELD(VALUE, edc_ring, discarded)          \
	FIELD(VALUE, edc_ring, clamped)            \
	FIELD(VALUE, edc_ring, first)              \
	FIELD(VALUE, edc_ring, blocks)             \
	FIELD(VALUE, edc_ring, next)               \
	FIELD(VALUE, edc_ring, stream_instance_id) \
	FIELD(VALUE, edc_ring, tokens)             \
	FIELD(VALUE, edc_ring, held)               \
	FIELD(VALUE, edc_ring, held_from)

#define CARD_LAYOUT(VALUE)                       \
	SIZE(VALUE, edc_level)                   \
	FIELD(VALUE, edc_level, ring)            \
	FIELD(VALUE, edc_level, clock)           \
	FIELD(VALUE, edc_level, value)           \
	FIELD(VALUE, edc_level, hit)             \
	FIELD(VALUE, edc_level, count)           \
	FIELD(VALUE, edc_level, event)           \
	FIELD(VALUE, edc_level, fires)           \
	FIELD(VALUE, edc_level, payload)         \
	FIELD(VALUE, edc_level, fired)           \
	FIELD(VALUE, edc_level, sample)          \
	FIELD(VALUE, edc_level, seen)            \
	FIELD(VALUE, edc_level, discarded)       \
	FIELD(VALUE, edc_level, filtered)        \
	FIELD(VALUE, edc_level, paused)          \
	SIZE(VALUE, edc_reader)                  \
	FIELD(VALUE, edc_reader, read)           \
	FIELD(VALUE, edc_reader, hold)           \
	FIELD(VALUE, edc_reader, firings)        \
	FIELD(VALUE, edc_reader, paused)         \
	FIELD(VALUE, edc_reader, sampled)        \
	FIELD(VALUE, edc_reader, sampled_in)     \
	SIZE(VALUE, edc_cpu)                     \
	FIELD(VALUE, edc_cpu, reader)            \
	FIELD(VALUE, edc_cpu, depth)             \
	FIELD(VALUE, edc_cpu, stopped)           \
	FIELD(VALUE, edc_cpu, too_deep)          \
	FIELD(VALUE, edc_cpu, level)             \
	FIELD(VALUE, edc_cpu, firings)           \
	SIZE(VALUE, edc_clock_set)               \
	FIELD(VALUE, edc_clock_set, from_ns)     \
	FIELD(VALUE, edc_clock_set, base)        \
	FIELD(VALUE, edc_clock_set, whole)       \
	FIELD(VALUE, edc_clock_set, frac)        \
	SIZE(VALUE, edc_clock_used)              \
	FIELD(VALUE, edc_clock_used, set)        \
	FIELD(VALUE, edc_clock_used, valid_ns)   \
	SIZE(VALUE, edc_clock)                   \
	FIELD(VALUE, edc_clock, newest)          \
	FIELD(VALUE, edc_clock, set)             \
	SIZE(VALUE, edc_task)                    \
	FIELD(VALUE, edc_task, time)             \
	FIELD(VALUE, edc_task, pid)              \
	FIELD(VALUE, edc_task, tgid)             \
	FIELD(VALUE, edc_task, ppid)             \
	FIELD(VALUE, edc_task, flags)            \
	FIELD(VALUE, edc_task, state)            \
	FIELD(VALUE, edc_task, cpu)              \
	FIELD(VALUE, edc_task, syscall)          \
	FIELD(VALUE, edc_task, prio)             \
	FIELD(VALUE, edc_task, comm)             \
	FIELD(VALUE, edc_task, cgroup)           \
	FIELD(VALUE, edc_task, nvcsw)            \
	FIELD(VALUE, edc_task, nivcsw)           \
	FIELD(VALUE, edc_task, sum_exec_runtime) \
	FIELD(VALUE, edc_task, min_flt)          \
	FIELD(VALUE, edc_task, maj_flt)          \
	FIELD(VALUE, edc_task, nr_migrations)    \
	FIELD(VALUE, edc_task, start_ns)

#define RATIO_LAYOUT(VALUE)                  \
	SIZE(VALUE, edc_ratio)               \
	FIELD(VALUE, edc_ratio, numerator)   \
	FIELD(VALUE, edc_ratio, denominator) \
	FIELD(VALUE, edc_ratio, within)      \
	FIELD(VALUE, edc_ratio, flags)

#define STACK_LAYOUT(VALUE)                           \
	SIZE(VALUE, edc_unwind_row)                   \
	FIELD(VALUE, edc_unwind_row, address)         \
	FIELD(VALUE, edc_unwind_row, cfa)             \
	FIELD(VALUE, edc_unwind_row, fp)              \
	FIELD(VALUE, edc_unwind_row, rule)            \
	SIZE(VALUE, edc_unwind_mapping)               \
	FIELD(VALUE, edc_unwind_mapping, start)       \
	FIELD(VALUE, edc_unwind_mapping, end)         \
	FIELD(VALUE, edc_unwind_mapping, bias)        \
	FIELD(VALUE, edc_unwind_mapping, first_row)   \
	FIELD(VALUE, edc_unwind_mapping, rows)        \
	SIZE(VALUE, edc_unwind_space)                 \
	FIELD(VALUE, edc_unwind_space, generation)    \
	FIELD(VALUE, edc_unwind_space, first_mapping) \
	FIELD(VALUE, edc_unwind_space, mappings)      \
	SIZE(VALUE, edc_stack_account)                \
	FIELD(VALUE, edc_stack_account, credit_ns)    \
	FIELD(VALUE, edc_stack_account, last_ns)      \
	FIELD(VALUE, edc_stack_account, taken)        \
	FIELD(VALUE, edc_stack_account, skipped)      \
	FIELD(VALUE, edc_stack_account, spent_ns)     \
	SIZE(VALUE, edc_stack_cpu)                    \
	FIELD(VALUE, edc_stack_cpu, at)               \
	FIELD(VALUE, edc_stack_cpu, timer_taken)      \
	FIELD(VALUE, edc_stack_cpu, timer_ns)         \
	FIELD(VALUE, edc_stack_cpu, walking)          \
	FIELD(VALUE, edc_stack_cpu, faulting)         \
	FIELD(VALUE, edc_stack_cpu, own_faults)

#define FUNCTION_LAYOUT(VALUE)                         \
	SIZE(VALUE, edc_function_table)                \
	FIELD(VALUE, edc_function_table, magic)        \
	FIELD(VALUE, edc_function_table, modules)      \
	FIELD(VALUE, edc_function_table, sleds)        \
	SIZE(VALUE, edc_function_module)               \
	FIELD(VALUE, edc_function_module, device)      \
	FIELD(VALUE, edc_function_module, inode)       \
	FIELD(VALUE, edc_function_module, size)        \
	FIELD(VALUE, edc_function_module, modified_ns) \
	FIELD(VALUE, edc_function_module, first_sled)  \
	FIELD(VALUE, edc_function_module, sleds)       \
	SIZE(VALUE, edc_function_sled)                 \
	FIELD(VALUE, edc_function_sled, offset)        \
	FIELD(VALUE, edc_function_sled, function)      \
	FIELD(VALUE, edc_function_sled, kind)

#define MATCHER_LAYOUT(VALUE)                          \
	SIZE(VALUE, edc_match_class)                   \
	FIELD(VALUE, edc_match_class, whole)           \
	FIELD(VALUE, edc_match_class, decision)        \
	FIELD(VALUE, edc_match_class, has_patterns)    \
	FIELD(VALUE, edc_match_class, wanted)          \
	FIELD(VALUE, edc_match_class, texts)           \
	FIELD(VALUE, edc_match_class, text_starts)     \
	FIELD(VALUE, edc_match_class, first)           \
	FIELD(VALUE, edc_match_class, dimensions)      \
	FIELD(VALUE, edc_match_class, words)           \
	FIELD(VALUE, edc_match_class, first_target)    \
	FIELD(VALUE, edc_match_class, in_probe)        \
	FIELD(VALUE, edc_match_class, tests)           \
	FIELD(VALUE, edc_match_class, counted)         \
	FIELD(VALUE, edc_match_class, belongs)         \
	FIELD(VALUE, edc_match_class, test)            \
	FIELD(VALUE, edc_match_class, patterns)        \
	FIELD(VALUE, edc_match_class, keeping)         \
	SIZE(VALUE, edc_match_test)                    \
	FIELD(VALUE, edc_match_test, mask)             \
	FIELD(VALUE, edc_match_test, flip)             \
	FIELD(VALUE, edc_match_test, lowest)           \
	FIELD(VALUE, edc_match_test, span)             \
	FIELD(VALUE, edc_match_test, value)            \
	FIELD(VALUE, edc_match_test, shift)            \
	FIELD(VALUE, edc_match_test, is_last)          \
	FIELD(VALUE, edc_match_test, target)           \
	SIZE(VALUE, edc_match_dimension)               \
	FIELD(VALUE, edc_match_dimension, mask)        \
	FIELD(VALUE, edc_match_dimension, flip)        \
	FIELD(VALUE, edc_match_dimension, value)       \
	FIELD(VALUE, edc_match_dimension, shift)       \
	FIELD(VALUE, edc_match_dimension, first_bound) \
	FIELD(VALUE, edc_match_dimension, steps)       \
	FIELD(VALUE, edc_match_dimension, first_row)   \
	FIELD(VALUE, edc_match_dimension, last)        \
	SIZE(VALUE, edc_match_key)                     \
	FIELD(VALUE, edc_match_key, value)             \
	FIELD(VALUE, edc_match_key, shift)             \
	FIELD(VALUE, edc_match_key, bits)              \
	FIELD(VALUE, edc_match_key, is_signed)         \
	SIZE(VALUE, edc_matcher)                       \
	FIELD(VALUE, edc_matcher, cls)                 \
	FIELD(VALUE, edc_matcher, key)                 \
	FIELD(VALUE, edc_matcher, dimension)           \
	FIELD(VALUE, edc_matcher, bound)               \
	FIELD(VALUE, edc_matcher, row)                 \
	FIELD(VALUE, edc_matcher, target)              \
	FIELD(VALUE, edc_matcher, trigger)             \
	FIELD(VALUE, edc_matcher, zero)                \
	SIZE(VALUE, edc_matcher_trial)                 \
	FIELD(VALUE, edc_matcher_trial, slot)          \
	FIELD(VALUE, edc_matcher_trial, rounds)        \
	FIELD(VALUE, edc_matcher_trial, value)         \
	FIELD(VALUE, edc_matcher_trial, kept)          \
	FIELD(VALUE, edc_matcher_trial, ns)            \
	FIELD(VALUE, edc_matcher_trial, count)         \
	SIZE(VALUE, edc_device_matcher)                \
	FIELD(VALUE, edc_device_matcher, address)      \
	FIELD(VALUE, edc_device_matcher, bytes)        \
	FIELD(VALUE, edc_device_matcher, times)        \
	FIELD(VALUE, edc_device_matcher, triggers)     \
	SIZE(VALUE, edc_device_overdue)                \
	FIELD(VALUE, edc_device_overdue, trigger)      \
	FIELD(VALUE, edc_device_overdue, found)        \
	FIELD(VALUE, edc_device_overdue, before)       \
	FIELD(VALUE, edc_device_overdue, entry)        \
	SIZE(VALUE, edc_trigger)                       \
	FIELD(VALUE, edc_trigger, kind)                \
	FIELD(VALUE, edc_trigger, acts)                \
	FIELD(VALUE, edc_trigger, within)              \
	FIELD(VALUE, edc_trigger, times)               \
	SIZE(VALUE, edc_window)                        \
	FIELD(VALUE, edc_window, used)                 \
	FIELD(VALUE, edc_window, key)                  \
	FIELD(VALUE, edc_window, count)                \
	FIELD(VALUE, edc_window, from)                 \
	FIELD(VALUE, edc_window, time)                 \
	SIZE(VALUE, edc_trigger_state)                 \
	SIZE(VALUE, edc_fired)                         \
	FIELD(VALUE, edc_fired, began)                 \
	FIELD(VALUE, edc_fired, key)                   \
	SIZE(VALUE, edc_firing)                        \
	FIELD(VALUE, edc_firing, number)               \
	FIELD(VALUE, edc_firing, time)                 \
	FIELD(VALUE, edc_firing, began)                \
	FIELD(VALUE, edc_firing, key)                  \
	FIELD(VALUE, edc_firing, event)                \
	FIELD(VALUE, edc_firing, trigger)              \
	FIELD(VALUE, edc_firing, tid)                  \
	FIELD(VALUE, edc_firing, tgid)                 \
	FIELD(VALUE, edc_firing, words)                \
	FIELD(VALUE, edc_firing, sample)               \
	SIZE(VALUE, edc_firings)                       \
	FIELD(VALUE, edc_firings, count)               \
	FIELD(VALUE, edc_firings, forgotten)           \
	FIELD(VALUE, edc_firings, pauses)              \
	FIELD(VALUE, edc_firings, paused)              \
	FIELD(VALUE, edc_firings, unsampled)           \
	FIELD(VALUE, edc_firings, fired)               \
	FIELD(VALUE, edc_firings, entry)               \
	SIZE(VALUE, edc_timed)                         \
	FIELD(VALUE, edc_timed, sum)                   \
	FIELD(VALUE, edc_timed, longest)               \
	FIELD(VALUE, edc_timed, not_shortest)          \
	FIELD(VALUE, edc_timed, starts)                \
	FIELD(VALUE, edc_timed, replaced)              \
	FIELD(VALUE, edc_timed, forgotten)             \
	FIELD(VALUE, edc_timed, ends)                  \
	FIELD(VALUE, edc_timed, bucket)                \
	SIZE(VALUE, edc_pending_start)                 \
	FIELD(VALUE, edc_pending_start, begin)         \
	FIELD(VALUE, edc_pending_start, key)

#define CONSTANTS(VALUE)                            \
	VALUE("EDC_CPU_HEADER", EDC_CPU_HEADER)     \
	VALUE("EDC_BLOCK_SIZE", EDC_BLOCK_SIZE)     \
	VALUE("EDC_BLOCK_HEADER", EDC_BLOCK_HEADER) \
	VALUE("EDC_BLOCK_MAGIC", EDC_BLOCK_MAGIC)   \
	VALUE("EDC_BLOCK_MAX_TICKS", EDC_BLOCK_MAX_TICKS)

#define LAYOUT(VALUE)       \
	BLOCK_LAYOUT(VALUE) \
	RING_LAYOUT(VALUE)  \
	CARD_LAYOUT(VALUE)  \
	RATIO_LAYOUT(VALUE) STACK_LAYOUT(VALUE) FUNCTION_LAYOUT(VALUE) MATCHER_LAYOUT(VALUE) CONSTANTS(VALUE)

#define ALL_CLASSES(CLASS) EDC_CONTROL_CLASSES(CLASS) EDC_KERNEL_CLASSES(CLASS)

/* The argument fills its 16 bits, the fields fill the words, and no token is longer than a token may be. */
#define A(kind, name) +EDC_KIND_BITS_##kind
#define B(kind, name) +EDC_KIND_BITS_##kind
#define F(kind, name) +EDC_KIND_BITS_##kind
#define CHECK_FIELDS(id, IDENT, ident, name, family, words, fields) \
	EDC_ASSERT((0 EDC_FIELDS(fields)) == 16 + words * 64);      \
	EDC_ASSERT(words <= EDC_MAX_WORDS);                         \
	EDC_ASSERT(id > 0 && id <= EDC_ID_LAST && id < EDC_ID_USER_FIRST);
ALL_CLASSES(CHECK_FIELDS)
#undef F
#define F(kind, name)
#define CHECK_ARGUMENT(id, IDENT, ident, name, family, words, fields) EDC_ASSERT((0 EDC_FIELDS(fields)) == 16);
ALL_CLASSES(CHECK_ARGUMENT)
#undef F
#undef B
#undef A

/* No id twice: two equal labels do not compile. */
static inline int is_class(unsigned number)
{
	switch (number) {
#define CASE(id, IDENT, ident, name, family, words, fields) case id:
		ALL_CLASSES(CASE)
#undef CASE
		return 1;
	default:
		return 0;
	}
}

#endif
