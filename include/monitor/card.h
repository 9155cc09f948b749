/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The event-data card of the kernel: the one table of event classes, and the memory a card shares with the recorder.
 *
 * Only this table ties an id to a name and a layout. Cards take ids and lengths from it, and the recorder writes the
 * trace's description from it; the reader uses only that description. Ids are append-only.
 *
 * A row is CLASS(id, IDENT, ident, name, family, words, fields). IDENT and ident are unique: EDC_ID_IDENT is the id,
 * post_ident() the function that posts it (kernel_events.h). `name` is the event's name in the trace, which a short and
 * a long form share. `words` payload words follow the token. Fields are, in order, (A, kind, name): the token's 16-bit
 * argument, or (A, kind, name)(B, kind, name) for an argument of two parts, (F, kind, name): a payload field.
 * EDC_FIELDS(fields) expands to A(kind, name) B(kind, name) F(kind, name) ..., which whoever expands the table defines.
 * Kinds and their sizes are EDC_KIND_* below. Events and fields have the names of the kernel's tracepoints where there
 * is one.
 *
 * Ids: 1 to 255 the recorder's own, 256 to 511 the kernel's cards (EDC_CARD_CLASSES), 1024 to 4095 programs'. Of the
 * kernel's: 256 sched, 280 irq, 320 syscall, 324 counters, 340 fault, 344 ratios and resets, 360 power, 370 block, 380
 * sample, 384 stack, 400 function; 432 triggers; reserved for filters, counts and times 416 to 431; 448 more of
 * syscall. 449 to 511 are free.
 */
#ifndef MONITOR_CARD_H
#define MONITOR_CARD_H

#include "ring.h"
#include "timing.h"
#include "token.h"
#include "trigger.h"

/*
 * Classes of the recorder's own stream, and two that describe others: `thread` in user rings, and in those of a flight
 * recorder block_tokens, the first record of each block.
 */
#define EDC_CONTROL_CLASSES(CLASS)                                                                                     \
	CLASS(1, SYNC, sync, sync, control, 4,                                                                         \
	      (A, u16, cpu)(F, u64, monotonic)(F, u64, realtime)(F, u64, tai)(F, u64, width))                          \
	CLASS(2, CLOCK_SET, clock_set, clock_set, control, 3,                                                          \
	      (A, u16, set)(F, u64, from_ns)(F, u64, base)(F, u32, whole)(F, u32, frac))                               \
	CLASS(3, THREAD_STATE, thread_state, thread_state, control, 6,                                                 \
	      (A, state, state)(F, s32, pid)(F, s32, tgid)(F, s32, ppid)(F, u16, cpu)(F, u16, syscall)(F, comm, comm)( \
		  F, u64, cgroup)(F, u32, flags)(F, s32, prio))                                                        \
	CLASS(4, THREAD_COUNTS, thread_counts, thread_counts, control, 7,                                              \
	      (A, when, when)(F, s32, pid)(F, s32, tgid)(F, u64, nvcsw)(F, u64, nivcsw)(F, u64, sum_exec_runtime)(     \
		  F, u64, min_flt)(F, u64, maj_flt)(F, u64, nr_migrations))                                            \
	CLASS(5, WRITER_THREAD, writer_thread, thread, control, 1, (A, u16, reserved)(F, s32, pid)(F, s32, tgid))      \
	CLASS(6, MAPPING, mapping, mapping, control, 6,                                                                \
	      (A, mapping_change, change)(F, s32, tgid)(F, u32, file)(F, u64, time)(F, x64, start)(F, x64, end)(       \
		  F, x64, offset)(F, s32, parent)(F, u32, reserved))                                                   \
	CLASS(7, COUNT, count, count, control, 1, (A, count_name, count)(F, u64, total))                               \
	CLASS(8, TIMED, timed, timed, control, 4,                                                                      \
	      (A, time_name, timed)(F, u64, number)(F, u64, total)(F, u64, shortest)(F, u64, longest))                 \
	CLASS(9, STATE_SUBJECT, state_subject, state_subject, control, 6,                                              \
	      (A, u16, flags)(F, u32, subject)(F, u32, cpu)(F, s32, pid)(F, s32, tgid)(F, u64, cgroup)(                \
		  F, u64, cpu_ticks)(F, comm, comm))                                                                   \
	CLASS(10, STATE_RUN, state_run, state_run, control, 1,                                                         \
	      (A, tree_state, state)(F, u32, subject)(F, u32, duration))                                               \
	CLASS(11, STATE_LONG_RUN, state_long_run, state_run, control, 2,                                               \
	      (A, tree_state, state)(F, u32, subject)(F, u32, reserved)(F, u64, duration))                             \
	CLASS(12, BLOCK_TOKENS, block_tokens, block_tokens, control, 1, (A, u16, reserved)(F, u64, tokens))            \
	CLASS(13, RECORDER_FIRED, recorder_fired, trigger_fired, control, 3,                                           \
	      (A, trigger_name, trigger)(F, u32, cause)(F, s32, tid)(F, u64, began)(F, s64, key))                      \
	CLASS(14, PROGRAM_FIRED, program_fired, trigger_fired, control, 4,                                             \
	      (A, trigger_name, trigger)(F, u32, cause)(F, s32, tid)(F, u64, began)(F, s64, key)(F, u64, at))          \
	CLASS(15, RECORDER_PAUSED, recorder_paused, paused, control, 2,                                                \
	      (A, u16, reserved)(F, u64, since)(F, u64, duration))                                                     \
	CLASS(16, STATISTICS_PERIOD, statistics_period, statistics_period, control, 4,                                 \
	      (A, x16, flags)(F, u64, end)(F, u64, lost)(F, u64, late)(F, u64, recorder_ns))                           \
	CLASS(17, STATISTICS_EVENTS, statistics_events, statistics_events, control, 1,                                 \
	      (A, u16, event_id)(F, u64, number))                                                                      \
	CLASS(18, STATISTICS_CPU, statistics_cpu, statistics_cpu, control, 7,                                          \
	      (A, u16, cpu)(F, u64, user)(F, u64, kernel)(F, u64, irq)(F, u64, softirq)(F, u64, unattributed)(         \
		  F, u64, unknown)(F, u64, thread_unknown))                                                            \
	CLASS(19, STATISTICS_THREAD, statistics_thread, statistics_thread, control, 7,                                 \
	      (A, x16, flags)(F, s32, pid)(F, s32, tgid)(F, comm, comm)(F, u64, started)(F, u64, cgroup)(              \
		  F, u64, waiting)(F, u64, blocked))                                                                   \
	CLASS(20, STATISTICS_USAGE, statistics_usage, statistics_usage, control, 6,                                    \
	      (A, u16, reserved)(F, u64, user)(F, u64, kernel)(F, u64, irq)(F, u64, softirq)(F, u64, unattributed)(    \
		  F, u64, unknown))                                                                                    \
	CLASS(21, STATISTICS_COUNTS, statistics_counts, statistics_counts, control, 3,                                 \
	      (A, u16, reserved)(F, u32, voluntary)(F, u32, involuntary)(F, u32, migrations)(F, u32, syscalls)(        \
		  F, u32, minor_faults)(F, u32, major_faults))                                                         \
	CLASS(22, STATISTICS_CALLS, statistics_calls, statistics_calls, control, 5,                                    \
	      (A, syscall, id)(B, abi, abi)(F, u32, thread_row)(F, u32, reserved)(F, u64, number)(F, u64, failed)(     \
		  F, u64, total)(F, u64, longest))                                                                     \
	CLASS(23, STATISTICS_SLEEPS, statistics_sleeps, statistics_sleeps, control, 5,                                 \
	      (A, syscall, id)(B, abi, abi)(F, u32, thread_row)(F, u32, waker_row)(F, u32, waker_irq)(                 \
		  F, u32, reserved)(F, u64, number)(F, u64, total)(F, u64, longest))                                   \
	CLASS(24, STATISTICS_BUCKETS, statistics_buckets, statistics_buckets, control, 2,                              \
	      (A, u16, first)(F, u32, number0)(F, u32, number1)(F, u32, number2)(F, u32, number3))                     \
	CLASS(25, STATISTICS_ACTIVITIES, statistics_activities, statistics_activities, control, 6,                     \
	      (A, activity, activity)(F, u32, thread_row)(F, activity, caller)(F, u16, reserved)(F, u64, number)(      \
		  F, u64, left)(F, u64, total)(F, u64, exclusive)(F, u64, longest))                                    \
	CLASS(26, STATISTICS_INCLUSIVE, statistics_inclusive, statistics_inclusive, control, 4,                        \
	      (A, u16, reserved)(F, u64, inclusive)(F, u64, cpu)(F, u64, waiting)(F, u64, blocked))                    \
	CLASS(27, STATISTICS_OPEN, statistics_open, statistics_open, control, 3,                                       \
	      (A, u16, reserved)(F, u64, number)(F, u64, begins)(F, u64, ends))                                        \
	CLASS(28, STATISTICS_TRANSFERS, statistics_transfers, statistics_transfers, control, 3,                        \
	      (A, u16, reserved)(F, u64, number)(F, u64, total)(F, u64, longest))                                      \
	CLASS(29, STATISTICS_CALLS_OTHER_ABI, statistics_calls_other_abi, statistics_calls, control, 5,                \
	      (A, u12, id)(B, abi, abi)(F, u32, thread_row)(F, u32, reserved)(F, u64, number)(F, u64, failed)(         \
		  F, u64, total)(F, u64, longest))                                                                     \
	CLASS(30, STATISTICS_SLEEPS_OTHER_ABI, statistics_sleeps_other_abi, statistics_sleeps, control, 5,             \
	      (A, u12, id)(B, abi, abi)(F, u32, thread_row)(F, u32, waker_row)(F, u32, waker_irq)(F, u32, reserved)(   \
		  F, u64, number)(F, u64, total)(F, u64, longest))                                                     \
	CLASS(31, CPU_OFFLINE, cpu_offline, cpu_offline, control, 1,                                                   \
	      (A, u16, reserved)(F, u32, cpu)(F, u32, reserved1))                                                      \
	CLASS(32, STATISTICS_THROTTLED, statistics_throttled, statistics_throttled, control, 1,                        \
	      (A, u16, reserved)(F, u64, throttled))                                                                   \
	CLASS(33, DRAIN_PASS, drain_pass, drain_pass, control, 5,                                                      \
	      (A, pass_reason, why)(F, u64, start)(F, u64, cpu_ns)(F, u32, blocks)(F, u32, free_blocks)(               \
		  F, u32, empty_passes)(F, u16, fullest)(F, u16, stalled)(F, u64, empty_cpu_ns))                       \
	CLASS(34, BLOCK_WRITE, block_write, block_write, control, 4,                                                   \
	      (A, u16, error)(F, u64, start)(F, u64, wall_ns)(F, u64, cpu_ns)(F, u32, to_stream)(F, u32, blocks))

/* Classes that the kernel's cards post. */
#define EDC_KERNEL_CLASSES(CLASS)                                                                                      \
	CLASS(256, SCHED_SWITCH, sched_switch, sched_switch, sched, 1,                                                 \
	      (A, switch_state, prev_state)(B, switch_flags, prev_flags)(F, s32, prev_pid)(F, s32, next_pid))          \
	CLASS(257, SCHED_WAKING, sched_waking, sched_waking, sched, 1,                                                 \
	      (A, u16, target_cpu)(F, s32, pid)(F, s32, prio))                                                         \
	CLASS(258, SCHED_MIGRATE_TASK, sched_migrate_task, sched_migrate_task, sched, 1,                               \
	      (A, u16, dest_cpu)(F, s32, pid)(F, u16, orig_cpu)(F, u16, prio))                                         \
	CLASS(259, SCHED_WAKEUP_NEW, sched_wakeup_new, sched_wakeup_new, sched, 4,                                     \
	      (A, u16, target_cpu)(F, s32, pid)(F, s32, tgid)(F, s32, parent_pid)(F, s32, prio)(F, comm, comm))        \
	CLASS(260, SCHED_PROCESS_EXEC, sched_process_exec, sched_process_exec, sched, 3,                               \
	      (A, u16, cpu)(F, s32, pid)(F, s32, old_pid)(F, comm, comm))                                              \
	CLASS(261, SCHED_PROCESS_EXIT, sched_process_exit, sched_process_exit, sched, 1,                               \
	      (A, u16, group_dead)(F, s32, pid)(F, s32, tgid))                                                         \
	CLASS(262, TASK_RENAME, task_rename, task_rename, sched, 3,                                                    \
	      (A, s16, oom_score_adj)(F, s32, pid)(F, s32, tgid)(F, comm, newcomm))                                    \
	CLASS(263, EXIT_COUNTS, exit_counts, thread_counts, sched, 7,                                                  \
	      (A, when, when)(F, s32, pid)(F, s32, tgid)(F, u64, nvcsw)(F, u64, nivcsw)(F, u64, sum_exec_runtime)(     \
		  F, u64, min_flt)(F, u64, maj_flt)(F, u64, nr_migrations))                                            \
	CLASS(                                                                                                         \
	    264, CGROUP_ATTACH_TASK, cgroup_attach_task, cgroup_attach_task, sched, 3,                                 \
	    (A, u16, threadgroup)(F, s32, pid)(F, s32, dst_root)(F, u64, dst_id)(F, s32, dst_level)(F, u32, reserved)) \
	CLASS(265, SCHED_PROCESS_EXIT_NAMED, sched_process_exit_named, sched_process_exit, sched, 3,                   \
	      (A, u16, group_dead)(F, s32, pid)(F, s32, tgid)(F, comm, comm))                                          \
	CLASS(266, THREAD_RUNS, thread_runs, thread_runs, sched, 1, (A, u16, reserved)(F, s32, pid)(F, s32, tgid))     \
	CLASS(280, IRQ_HANDLER_ENTRY, irq_handler_entry, irq_handler_entry, irq, 0, (A, u16, irq))                     \
	CLASS(281, IRQ_HANDLER_EXIT, irq_handler_exit, irq_handler_exit, irq, 0, (A, u16, irq))                        \
	CLASS(282, SOFTIRQ_ENTRY, softirq_entry, softirq_entry, irq, 0, (A, softirq, vec))                             \
	CLASS(283, SOFTIRQ_EXIT, softirq_exit, softirq_exit, irq, 0, (A, softirq, vec))                                \
	CLASS(284, LOCAL_TIMER_ENTRY, local_timer_entry, local_timer_entry, irq, 0, (A, u12, vector)(B, u4, user))     \
	CLASS(285, LOCAL_TIMER_EXIT, local_timer_exit, local_timer_exit, irq, 0, (A, u16, vector))                     \
	CLASS(286, RESCHEDULE_ENTRY, reschedule_entry, reschedule_entry, irq, 0, (A, u16, vector))                     \
	CLASS(287, RESCHEDULE_EXIT, reschedule_exit, reschedule_exit, irq, 0, (A, u16, vector))                        \
	CLASS(288, CALL_FUNCTION_ENTRY, call_function_entry, call_function_entry, irq, 0, (A, u16, vector))            \
	CLASS(289, CALL_FUNCTION_EXIT, call_function_exit, call_function_exit, irq, 0, (A, u16, vector))               \
	CLASS(290, CALL_FUNCTION_SINGLE_ENTRY, call_function_single_entry, call_function_single_entry, irq, 0,         \
	      (A, u16, vector))                                                                                        \
	CLASS(291, CALL_FUNCTION_SINGLE_EXIT, call_function_single_exit, call_function_single_exit, irq, 0,            \
	      (A, u16, vector))                                                                                        \
	CLASS(292, IRQ_WORK_ENTRY, irq_work_entry, irq_work_entry, irq, 0, (A, u16, vector))                           \
	CLASS(293, IRQ_WORK_EXIT, irq_work_exit, irq_work_exit, irq, 0, (A, u16, vector))                              \
	CLASS(294, SOFTIRQ_RAISE, softirq_raise, softirq_raise, irq, 0, (A, softirq, vec))                             \
	CLASS(320, SYS_ENTER, sys_enter, sys_enter, syscall, 0, (A, syscall, id)(B, abi, abi))                         \
	CLASS(321, SYS_ENTER_COMPAT, sys_enter_compat, sys_enter, syscall, 0, (A, u12, id)(B, abi, abi))               \
	CLASS(322, SYS_EXIT, sys_exit, sys_exit, syscall, 0, (A, s16, ret))                                            \
	CLASS(323, SYS_EXIT_LONG, sys_exit_long, sys_exit, syscall, 1, (A, syscall, id)(B, abi, abi)(F, s64, ret))     \
	CLASS(340, PAGE_FAULT_USER, page_fault_user, page_fault_user, fault, 1, (A, x16, error_code)(F, x64, address)) \
	CLASS(341, PAGE_FAULT_KERNEL, page_fault_kernel, page_fault_kernel, fault, 1,                                  \
	      (A, x16, error_code)(F, x64, address))                                                                   \
	CLASS(342, MINOR_FAULT, minor_fault, minor_fault, fault, 0, (A, u16, user))                                    \
	CLASS(343, MAJOR_FAULT, major_fault, major_fault, fault, 0, (A, u16, user))                                    \
	CLASS(360, CPU_IDLE, cpu_idle, cpu_idle, power, 0, (A, s16, state))                                            \
	CLASS(361, CPU_FREQUENCY, cpu_frequency, cpu_frequency, power, 1, (A, u16, cpu_id)(F, u64, state))             \
	CLASS(370, BLOCK_RQ_ISSUE, block_rq_issue, block_rq_issue, block, 2,                                           \
	      (A, block_op, op)(F, u32, dev)(F, u32, nr_bytes)(F, u64, sector))                                        \
	CLASS(371, BLOCK_RQ_COMPLETE, block_rq_complete, block_rq_complete, block, 2,                                  \
	      (A, s16, error)(F, u32, dev)(F, u32, nr_bytes)(F, u64, sector))                                          \
	CLASS(372, BLOCK_IO_START, block_io_start, block_io_start, block, 2,                                           \
	      (A, block_op, op)(F, u32, dev)(F, u32, nr_bytes)(F, u64, sector))                                        \
	CLASS(380, SAMPLE, sample, sample, sample, 2, (A, doing, doing)(F, s32, pid)(F, s32, tgid)(F, u64, number))    \
	CLASS(384, STACK_SAMPLE, stack_sample, stack_sample, stack, 4,                                                 \
	      (A, taken_at, at)(F, s32, pid)(F, s32, tgid)(F, x64, address)(F, x64, kernel_stack)(F, x64, user_stack)) \
	CLASS(385, STACK_FRAMES, stack_frames, stack_frames, stack, 7,                                                 \
	      (A, u12, first)(B, u4, count)(F, x64, stack)(F, x64, frame0)(F, x64, frame1)(F, x64, frame2)(            \
		  F, x64, frame3)(F, x64, frame4)(F, x64, frame5))                                                     \
	CLASS(386, STACK_END, stack_end, stack_end, stack, 2,                                                          \
	      (A, u12, frames)(B, stack_ended, ended)(F, x64, stack)(F, x64, address))                                 \
	CLASS(400, FUNCTION_ENTRY, function_entry, function_entry, function, 1,                                        \
	      (A, function, function)(F, x64, stack_pointer))                                                          \
	CLASS(401, FUNCTION_EXIT, function_exit, function_exit, function, 1,                                           \
	      (A, function, function)(F, x64, stack_pointer))                                                          \
	CLASS(432, TRIGGER_FIRED, trigger_fired, trigger_fired, trigger, 3,                                            \
	      (A, trigger_name, trigger)(F, u32, cause)(F, s32, tid)(F, u64, began)(F, s64, key))                      \
	CLASS(433, PAUSED, paused, paused, trigger, 2, (A, u16, reserved)(F, u64, since)(F, u64, duration))            \
	CLASS(448, SYS_EXIT_LONG_COMPAT, sys_exit_long_compat, sys_exit, syscall, 1,                                   \
	      (A, u12, id)(B, abi, abi)(F, s64, ret))

/* Sizes of the kinds in bits. `comm` is 16 bytes of text, NUL-padded. */
#define EDC_KIND_BITS_abi 4
#define EDC_KIND_BITS_activity 16
#define EDC_KIND_BITS_block_op 16
#define EDC_KIND_BITS_comm 128
#define EDC_KIND_BITS_count_name 16
#define EDC_KIND_BITS_doing 16
#define EDC_KIND_BITS_function 16
#define EDC_KIND_BITS_mapping_change 16
#define EDC_KIND_BITS_pass_reason 16
#define EDC_KIND_BITS_s16 16
#define EDC_KIND_BITS_s32 32
#define EDC_KIND_BITS_s64 64
#define EDC_KIND_BITS_softirq 16
#define EDC_KIND_BITS_stack_ended 4
#define EDC_KIND_BITS_state 16
#define EDC_KIND_BITS_switch_flags 4
#define EDC_KIND_BITS_switch_state 12
#define EDC_KIND_BITS_syscall 12
#define EDC_KIND_BITS_taken_at 16
#define EDC_KIND_BITS_time_name 16
#define EDC_KIND_BITS_tree_state 16
#define EDC_KIND_BITS_trigger_name 16
#define EDC_KIND_BITS_u12 12
#define EDC_KIND_BITS_u16 16
#define EDC_KIND_BITS_u4 4
#define EDC_KIND_BITS_u32 32
#define EDC_KIND_BITS_u64 64
#define EDC_KIND_BITS_when 16
#define EDC_KIND_BITS_x16 16
#define EDC_KIND_BITS_x64 64

/* Expands a row's fields one by one; see above. */
#define EDC_FIELDS(fields) EDC_FIELDS_LAST_(EDC_FIELDS_0_ fields)
#define EDC_FIELDS_LAST_(...) EDC_FIELDS_END_(__VA_ARGS__)
#define EDC_FIELDS_END_(...) __VA_ARGS__##END_
#define EDC_FIELDS_0_(part, kind, name) part(kind, name) EDC_FIELDS_1_
#define EDC_FIELDS_1_(part, kind, name) part(kind, name) EDC_FIELDS_0_
#define EDC_FIELDS_0_END_
#define EDC_FIELDS_1_END_

/*
 * Counters (record -m): the classes `counters` and `counters_scaled` of each set. Their fields depend on what is
 * counted, so the table above has no rows for them. The fields are the counters' values, u64 each; `counters_scaled`
 * first has the times that the set was enabled and running, in ns. All count from the opening of the counters.
 */
#define EDC_COUNTER_SETS 8
#define EDC_COUNTERS_IN_SET 5

/*
 * With --ratio-format the class is `ratios` instead: a normalised ratio (ratio.h) for each pair of counters, of what
 * was counted since the CPU's previous `ratios` token. rems16: 16 bits each, the first in the argument; rems32: 32 bits
 * each, and the argument is unused.
 */
#define EDC_RATIO_PAIRS 8

/*
 * A selective reset (record --reset-on). It follows a reading of all counters, which closes one segment and opens the
 * next. The argument is the number of the event among those requested.
 */
#define EDC_RESET_TRACEPOINTS 4

/*
 * mapping: at `time`, the program mapped `file` (a number in .monitor/files) from `offset` on for execution; was
 * replaced by another program (exec), which has none of the mappings of before; or was created, with a copy of those
 * of its parent.
 */
#define EDC_MAPPING_ADDED 0
#define EDC_MAPPING_EXEC 1
#define EDC_MAPPING_COPIED 2

/* sample.doing: what a CPU was doing when the sample interrupted it (record --sample-every) */
#define EDC_DOING_IDLE 0
#define EDC_DOING_USER 1
#define EDC_DOING_KERNEL 2

enum edc_id {
#define EDC_ID_OF_(id, IDENT, ...) EDC_ID_##IDENT = id,
	EDC_CONTROL_CLASSES(EDC_ID_OF_) EDC_KERNEL_CLASSES(EDC_ID_OF_)
#undef EDC_ID_OF_
	/* without a row: their fields depend on what is counted */
	EDC_ID_COUNTERS = 324,        /* + set */
	EDC_ID_COUNTERS_SCALED = 332, /* + set */
	EDC_ID_RATIOS = 344,
	EDC_ID_COUNTERS_RESET = 345,
};

/* softirq_raise: only of these two are there events. */
#define EDC_SOFTIRQ_NET_TX 2
#define EDC_SOFTIRQ_NET_RX 3

/* Argument of thread_counts: at the start, at the end, at a thread's last switch. */
#define EDC_WHEN_START 0
#define EDC_WHEN_END 1
#define EDC_WHEN_EXIT 2

/* thread_state.flags */
#define EDC_THREAD_KERNEL 1
#define EDC_THREAD_RUNNING 2
#define EDC_THREAD_FILTERED 4 /* not selected by -p: shown as `other` */
/* thread_state.flags: written at the end of the recording (names of threads whose own tokens were lost) */
#define EDC_THREAD_AT_END 8
/* thread_state.flags: as it was later, when a flight recorder was asked for a snapshot that begins at this time */
#define EDC_THREAD_LATER 32
/* thread_state.flags: the kernel hides this thread from BPF; its own events are missing, its counts unknown */
#define EDC_THREAD_HIDDEN 16

/* drain_pass.why: what the drain thread was woken by, or whose pass it is */
#define EDC_PASS_POLL 0   /* the interval between two passes */
#define EDC_PASS_CLOCK 1  /* a clock snapshot was due */
#define EDC_PASS_RING 2   /* a ring of the kernel was half full */
#define EDC_PASS_BELL 3   /* a program's ring was half full, or a program arrived */
#define EDC_PASS_PERIOD 4 /* what is written at intervals was due */
#define EDC_PASS_STOP 5   /* the recording ends: the thread's last pass */
#define EDC_PASS_START 6  /* before the thread starts */
#define EDC_PASS_END 7    /* after the thread's end */

/* state_subject.flags */
#define EDC_SUBJECT_IN_COMMAND 1 /* the recorded command or a descendant */

/* statistics_period.flags */
#define EDC_PERIOD_LOSSY 1 /* events were lost: its figures are lower bounds, and some time is unknown */

/* statistics_events.event_id: of events before the first period or after the last one, in either */
#define EDC_EVENTS_OUTSIDE 0x8000

/* statistics_thread.flags */
#define EDC_ROW_IN_COMMAND 1 /* the recorded command or a descendant */
#define EDC_ROW_KERNEL 2
#define EDC_ROW_FILTERED 4 /* not selected by -p */
#define EDC_ROW_HIDDEN 8   /* the kernel hides it from BPF */
#define EDC_ROW_ENDED 16   /* the sum of the threads of a command in a cgroup that have ended */
#define EDC_ROW_OTHER 32   /* the sum of what found no row */

/* statistics_sleeps.waker_row, .waker_irq: none */
#define EDC_NO_ROW 0xffffffff
#define EDC_NO_IRQ 0xffffffff

/* Activities in statistics: the id of the class that begins it, or of a function its number and this. */
#define EDC_ACTIVITY_FUNCTION 4096
#define EDC_ACTIVITY_OTHER 65534 /* any, or a caller that is not known, as there was no room */
#define EDC_NO_ACTIVITY 65535    /* as a caller: none */

/*
 * thread_state.syscall: the argument of sys_enter, see syscall_arg.h, or this: none, or unknown. sys_*.id: a number
 * that the argument cannot hold.
 */
#define EDC_NO_SYSCALL 0xfff

/* thread states as the kernel's tracepoints print them; preempted is their R+ */
#define EDC_STATE_PREEMPTED 0x100
#define EDC_STATE_DEAD 0x30  /* X or Z */
#define EDC_STATE_BITS 0xfff /* of the argument of sched_switch */

/*
 * sched_switch.prev_flags: what else the kernel knows of a thread that is switched out. Which of them it shows is in
 * recording.json, `switch_flags`: without its name there a bit that is 0 says nothing.
 */
#define EDC_SWITCH_THROTTLED 1 /* it could run, but the quota of its group, or of one above, is used up */
#define EDC_SWITCH_IOWAIT 2    /* it sleeps, and the kernel accounts that as waiting for I/O */
#define EDC_SWITCH_MEMSTALL 4  /* it waits for memory to be reclaimed, or reclaims it (PSI) */

/* Number of classes in the kernel range that a card counts separately. */
#define EDC_CARD_CLASSES 256

/* Nesting levels of probes on one CPU. Level 0 has 15/16 of the blocks. */
#define EDC_CARD_LEVELS 4

/*
 * Slot rings, for probes that may be preempted. Such probes do not nest, so each takes a free slot while it writes.
 * Only with --reset-on and --functions.
 */
#define EDC_CARD_SLOTS 8
#define EDC_CARD_RINGS (EDC_CARD_LEVELS + EDC_CARD_SLOTS)

/*
 * What a filter may look at, of any event: the token's argument and payload words, and where it was posted. `name` is
 * that of the running thread. The values of an event are judged where they are: matcher.h.
 */
#define EDC_VALUE_ARGUMENT 0
#define EDC_VALUE_WORD 1 /* to 7 */
#define EDC_VALUE_CPU 8
#define EDC_VALUE_LEVEL 9
#define EDC_VALUE_TID 10
#define EDC_VALUE_TIME 11
#define EDC_VALUE_NAME 12                     /* and 13: 16 bytes of text */
#define EDC_VALUE_NAMES (3 << EDC_VALUE_NAME) /* their bits */
#define EDC_MATCH_VALUES 16
#define EDC_MATCH_PATTERNS 256 /* of a class */
#define EDC_MATCH_WORDS (EDC_MATCH_PATTERNS / 64)
#define EDC_MATCH_COUNTS 64 /* record --count */

/*
 * The clock of a card that cannot read the TSC: converts monotonic time to trace time, piecewise linear, continuous,
 * increasing. Set k is valid from its from_ns to that of set k + 1, which the recorder publishes in advance:
 *     time(ns) = base + d * whole + d * frac / 2^32,   d = ns - from_ns
 */
#define EDC_CLOCK_SETS 32

struct edc_clock_set {
	__u64 from_ns;
	__u64 base;
	__u32 whole;
	__u32 frac;
};

struct edc_clock {
	__u64 newest; /* number of the newest set, stored at newest % EDC_CLOCK_SETS */
	__u64 pad[7];
	struct edc_clock_set set[EDC_CLOCK_SETS];
};

/*
 * The set that a ring's writer uses, a copy that nobody else reads or writes: from its from_ns on for valid_ns, 0: not
 * at all. It ends when the next set takes effect. One that is published later takes effect more than
 * EDC_CLOCK_USED_NS after it was not yet there, so that is as long as the newest set is used without looking again.
 */
#define EDC_CLOCK_USED_NS 1000000

struct edc_clock_used {
	struct edc_clock_set set;
	__u64 valid_ns;
};

/* `d` ns after from_ns, up to 2^32. */
static inline __attribute__((always_inline)) __u64 edc_clock_after(const struct edc_clock_set *set, __u64 d)
{
	return set->base + d * set->whole + (d * set->frac >> 32);
}

/* The product is split so that it neither overflows nor goes backwards for 2^47 ns (39 hours) after from_ns. */
static inline __attribute__((always_inline)) __u64 edc_clock_at(const struct edc_clock_set *set, __u64 ns)
{
	__u64 d = ns - set->from_ns;

	if (!(d >> 32))
		return edc_clock_after(set, d);
	return set->base + d * set->whole + ((d >> 16) * set->frac >> 16) + ((d & 0xffff) * set->frac >> 32);
}

/* Counts of each class at one level: seen = written + discarded + filtered + paused; written: the tokens in blocks. */
struct edc_level {
	struct edc_ring ring;
	struct edc_clock_used clock;
	__u64 seen[EDC_CARD_CLASSES];
	__u64 discarded[EDC_CARD_CLASSES];
	__u64 filtered[EDC_CARD_CLASSES];
	__u64 paused[EDC_CARD_CLASSES]; /* also counted in ring.discarded */
	__u64 value[EDC_MATCH_VALUES];  /* the probe's: of the event that is being judged, */
	__u64 hit[EDC_MATCH_WORDS];     /* and the patterns that it matches */
	__u64 count[EDC_MATCH_COUNTS];  /* events of each --count */
	__u64 event;                    /* its class and argument, as in edc_firing, if it has to be judged */
	__u64 fires;                    /* bits of the triggers that it fires, */
	__u64 payload[3];               /* and the payload of the token of one of them */
	struct edc_fired fired[EDC_TRIGGERS];
	__u64 sample;   /* number of the one that a firing began; 0: none */
	__u64 in_pause; /* events were left out since the last one that was stored */
	__u64 pad;
};

/* A slot and what its owner reads there: a program that may be preempted has little stack (bpf/reset.bpf.c). */
struct edc_slot {
	__u64 taken;
	__u64 value[3];
	__u64 words[2 + EDC_COUNTERS_IN_SET];
};

/* What the recorder writes: a separate page, the only one that the module lets it write. */
struct edc_reader {
	__u64 read[EDC_CARD_RINGS]; /* blocks consumed so far, per ring */
	__u64 pad[12];
	__u64 hold; /* CPU 0's only, in a flight recorder: number of the hold of all rings, 0: they run (ring.h) */
	__u64 pad3[7];
	__u64 firings; /* taken so far: trigger.h */
	__u64 pad4[7];
	__u64 paused;  /* CPU 0's only: since when events are not stored, because a trigger stopped that; 0: they are */
	__u64 sampled; /* CPU 0's only: the number of the last sample of all CPUs by a trigger */
	__u64 sampled_in; /* likewise the tick in which a probe began it */
	__u64 pad5[469];
};

/* All PIDs and TIDs are below this (the kernel's PID_MAX_LIMIT). */
#define EDC_PROCESS_NUMBERS (1 << 22)

/* edc_cpu.runs: the thread has entered a system call since the switch to it, and not left it. */
#define EDC_IN_CALL 0x80000000

/*
 * What a card and the recorder share for one CPU; its blocks follow at EDC_CPU_HEADER. An event that is only recorded
 * touches three cache lines of it: the one that ends with what the ring of level 0 needs at each token, that of its
 * clock, and its class's count.
 */
struct edc_cpu {
	struct edc_reader reader;
	__u32 depth;   /* probes in progress on this CPU */
	__u32 runs;    /* the probes': the thread that runs here, by its last switch or call; EDC_IN_CALL */
	__u32 stopped; /* the recorder's: post nothing (with the module: EDC_DEVICE_STOP) */
	__u32 pad;
	__u64 counted_ns; /* monotonic time of the last reading of the counters */
	__u64 readings;   /* reading generation: lets a preemptible reader detect another reading */
	struct edc_level level[EDC_CARD_RINGS]; /* the slot rings come last */
	/* seen but lost: at depth EDC_CARD_LEVELS or more; resets without a free slot, or preempted at every try */
	__u64 too_deep[EDC_CARD_CLASSES];
	struct edc_slot slot[EDC_CARD_SLOTS];
	__u64 ratio_last[2 * EDC_RATIO_PAIRS]; /* the probes': counts at the last `ratios` token */
	__u64 ratio_known;                     /* ratio_last is valid */
	struct edc_timed timed[EDC_TIMES];     /* record --time */
	struct edc_firings firings;            /* record --trigger */
} __attribute__((aligned(64)));

#define EDC_CPU_HEADER 188416

EDC_ASSERT(sizeof(struct edc_reader) == EDC_BLOCK_SIZE);
EDC_ASSERT(__builtin_offsetof(struct edc_reader, hold) == 192);
EDC_ASSERT(__builtin_offsetof(struct edc_reader, paused) == 320);
EDC_ASSERT(__builtin_offsetof(struct edc_cpu, level) % 64 + __builtin_offsetof(struct edc_ring, opened) == 64);
EDC_ASSERT((__builtin_offsetof(struct edc_cpu, level) + __builtin_offsetof(struct edc_level, clock)) % 64 == 32);
EDC_ASSERT(sizeof(struct edc_level) % 64 == 0);
EDC_ASSERT(sizeof(struct edc_cpu) <= EDC_CPU_HEADER);

/* One thread, as reported by the task iterator. */
struct edc_task {
	__u64 time; /* trace clock */
	__s32 pid, tgid, ppid;
	__u32 flags; /* EDC_THREAD_* */
	__u16 state, cpu, syscall, pad;
	__s32 prio;
	char comm[16];
	__u64 cgroup, nvcsw, nivcsw, sum_exec_runtime, min_flt, maj_flt, nr_migrations;
	__u64 start_ns; /* when it was created, monotonic */
};

EDC_ASSERT(sizeof(struct edc_task) == 120);

/* CPUs that come online, as numbers. */
#define EDC_NEW_CPUS_BYTES (1 << 16)

/* A group of cgroup 2 that was made, as a probe tells the recorder through a ring of its own. */
#define EDC_NEW_CGROUPS_BYTES (1 << 18)

struct edc_new_cgroup {
	__u64 id, parent;
	char name[256];
};

#endif
