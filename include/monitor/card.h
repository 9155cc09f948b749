/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The event-data card of the kernel: the one table of event classes, and the memory a card shares with the recorder.
 *
 * The table is the only place where an id, a name and a layout meet. Cards take ids and lengths from it, the recorder
 * writes the trace's description from it; the reader knows only that description. Numbers are append-only.
 *
 * A row is CLASS(id, name, family, words, fields): `words` payload words follow the token. Fields are, in order,
 * A(kind, name): the token's 16-bit argument, or A(kind, name) B(kind, name) for an argument of two parts,
 * F(kind, name): a payload field. Kinds and their sizes are EDC_KIND_* below. Who expands the table defines A, B and F.
 * Events and fields bear the names of the kernel's tracepoints where there is one.
 */
#ifndef MONITOR_CARD_H
#define MONITOR_CARD_H

#include "ring.h"
#include "token.h"

/* Classes of the recorder's own stream. */
#define EDC_CONTROL_CLASSES(CLASS)                                                                            \
	CLASS(1, sync, control, 4, A(u16, cpu) F(u64, monotonic) F(u64, realtime) F(u64, tai) F(u64, width))  \
	CLASS(2, clock_set, control, 3, A(u16, set) F(u64, from_ns) F(u64, base) F(u32, whole) F(u32, frac))  \
	CLASS(3, thread_state, control, 6,                                                                    \
	      A(state, state) F(s32, pid) F(s32, tgid) F(s32, ppid) F(u16, cpu) F(u16, syscall) F(comm, comm) \
		  F(u64, cgroup) F(u32, flags) F(s32, prio))                                                  \
	CLASS(4, thread_counts, control, 7,                                                                   \
	      A(when, when) F(s32, pid) F(s32, tgid) F(u64, nvcsw) F(u64, nivcsw) F(u64, sum_exec_runtime)    \
		  F(u64, min_flt) F(u64, maj_flt) F(u64, nr_migrations))                                      \
	CLASS(5, thread, control, 1, A(u16, reserved) F(s32, pid) F(s32, tgid))

/* Classes that the kernel's cards post. */
#define EDC_KERNEL_CLASSES(CLASS)                                                                                  \
	CLASS(256, sched_switch, sched, 1, A(state, prev_state) F(s32, prev_pid) F(s32, next_pid))                 \
	CLASS(257, sched_waking, sched, 1, A(u16, target_cpu) F(s32, pid) F(s32, prio))                            \
	CLASS(258, sched_migrate_task, sched, 1, A(u16, dest_cpu) F(s32, pid) F(u16, orig_cpu) F(u16, prio))       \
	CLASS(259, sched_wakeup_new, sched, 4,                                                                     \
	      A(u16, target_cpu) F(s32, pid) F(s32, tgid) F(s32, parent_pid) F(s32, prio) F(comm, comm))           \
	CLASS(260, sched_process_exec, sched, 3, A(u16, cpu) F(s32, pid) F(s32, old_pid) F(comm, comm))            \
	CLASS(261, sched_process_exit, sched, 1, A(u16, group_dead) F(s32, pid) F(s32, tgid))                      \
	CLASS(262, task_rename, sched, 3, A(s16, oom_score_adj) F(s32, pid) F(s32, tgid) F(comm, newcomm))         \
	CLASS(263, thread_counts, sched, 7,                                                                        \
	      A(when, when) F(s32, pid) F(s32, tgid) F(u64, nvcsw) F(u64, nivcsw) F(u64, sum_exec_runtime)         \
		  F(u64, min_flt) F(u64, maj_flt) F(u64, nr_migrations))                                           \
	CLASS(264, cgroup_attach_task, sched, 2, A(u16, threadgroup) F(s32, pid) F(s32, dst_level) F(u64, dst_id)) \
	CLASS(280, irq_handler_entry, irq, 0, A(u16, irq))                                                         \
	CLASS(281, irq_handler_exit, irq, 0, A(u16, irq))                                                          \
	CLASS(282, softirq_entry, irq, 0, A(softirq, vec))                                                         \
	CLASS(283, softirq_exit, irq, 0, A(softirq, vec))                                                          \
	CLASS(284, local_timer_entry, irq, 0, A(u12, vector) B(u4, user))                                          \
	CLASS(285, local_timer_exit, irq, 0, A(u16, vector))                                                       \
	CLASS(286, reschedule_entry, irq, 0, A(u16, vector))                                                       \
	CLASS(287, reschedule_exit, irq, 0, A(u16, vector))                                                        \
	CLASS(288, call_function_entry, irq, 0, A(u16, vector))                                                    \
	CLASS(289, call_function_exit, irq, 0, A(u16, vector))                                                     \
	CLASS(290, call_function_single_entry, irq, 0, A(u16, vector))                                             \
	CLASS(291, call_function_single_exit, irq, 0, A(u16, vector))                                              \
	CLASS(292, irq_work_entry, irq, 0, A(u16, vector))                                                         \
	CLASS(293, irq_work_exit, irq, 0, A(u16, vector))                                                          \
	CLASS(320, sys_enter, syscall, 0, A(syscall, id) B(abi, abi))                                              \
	CLASS(321, sys_enter, syscall, 0, A(u12, id) B(abi, abi))                                                  \
	CLASS(322, sys_exit, syscall, 0, A(s16, ret))                                                              \
	CLASS(323, sys_exit, syscall, 1, A(syscall, id) B(abi, abi) F(s64, ret))                                   \
	CLASS(340, page_fault_user, fault, 1, A(x16, error_code) F(x64, address))                                  \
	CLASS(341, page_fault_kernel, fault, 1, A(x16, error_code) F(x64, address))                                \
	CLASS(342, minor_fault, fault, 0, A(u16, user))                                                            \
	CLASS(343, major_fault, fault, 0, A(u16, user))                                                            \
	CLASS(360, cpu_idle, power, 0, A(s16, state))                                                              \
	CLASS(361, cpu_frequency, power, 1, A(u16, cpu_id) F(u64, state))                                          \
	CLASS(370, block_rq_issue, block, 2, A(x16, op) F(u32, dev) F(u32, nr_bytes) F(u64, sector))               \
	CLASS(371, block_rq_complete, block, 2, A(s16, error) F(u32, dev) F(u32, nr_bytes) F(u64, sector))         \
	CLASS(380, sample, sample, 2, A(doing, doing) F(s32, pid) F(s32, tgid) F(u64, number))

/* Sizes of the kinds in bits. `comm` is 16 bytes of text, NUL-padded. */
#define EDC_KIND_BITS_abi 4
#define EDC_KIND_BITS_comm 128
#define EDC_KIND_BITS_doing 16
#define EDC_KIND_BITS_s16 16
#define EDC_KIND_BITS_s32 32
#define EDC_KIND_BITS_s64 64
#define EDC_KIND_BITS_softirq 16
#define EDC_KIND_BITS_state 16
#define EDC_KIND_BITS_syscall 12
#define EDC_KIND_BITS_u12 12
#define EDC_KIND_BITS_u16 16
#define EDC_KIND_BITS_u4 4
#define EDC_KIND_BITS_u32 32
#define EDC_KIND_BITS_u64 64
#define EDC_KIND_BITS_when 16
#define EDC_KIND_BITS_x16 16
#define EDC_KIND_BITS_x64 64

/* EDC_ID_<name>: ids by name; a second class of the same name is EDC_ID_<name>_<id>. */
#define EDC_ID_sync 1
#define EDC_ID_clock_set 2
#define EDC_ID_thread_state 3
#define EDC_ID_thread_counts 4

/*
 * Counters (record -m): the classes `counters` and `counters_scaled` of each set. Their fields depend on what is
 * counted, so no row above has them: the counters' values, u64 each; `counters_scaled` has before them for how long the
 * set was enabled and running, in ns. All run from the opening of the counters on.
 */
#define EDC_COUNTER_SETS 8
#define EDC_COUNTERS_IN_SET 5
#define EDC_ID_counters 324        /* + set */
#define EDC_ID_counters_scaled 332 /* + set */

/*
 * Or, with --ratio-format, the class `ratios`: a normalised ratio (ratio.h) for each pair of counters, of what was
 * counted since the CPU's token before. rems16: 16 bits each, the first in the argument; rems32: 32 bits each, behind
 * an argument that says nothing.
 */
#define EDC_RATIO_PAIRS 8
#define EDC_ID_ratios 344

/*
 * A selective reset (record --reset-on): behind a reading of all counters, which closes one segment and opens the next.
 * The argument is the number of the event among those that were asked for.
 */
#define EDC_RESET_TRACEPOINTS 4
#define EDC_ID_counters_reset 345

/* sample.doing: what a CPU was at when it was interrupted to tell (the kernel module, record --sample-every) */
#define EDC_ID_sample 380
#define EDC_DOING_IDLE 0
#define EDC_DOING_USER 1
#define EDC_DOING_KERNEL 2

/* Argument of thread_counts: at the start, at the end, at a thread's last switch. */
#define EDC_WHEN_START 0
#define EDC_WHEN_END 1
#define EDC_WHEN_EXIT 2

/* thread_state.flags */
#define EDC_THREAD_KERNEL 1
#define EDC_THREAD_RUNNING 2
#define EDC_THREAD_FILTERED 4 /* outside of what -p selected: shown as `other` */
/* thread_state.flags: written at the end of the recording (names of threads whose own tokens were lost) */
#define EDC_THREAD_AT_END 8
/* thread_state.flags: the kernel hides this thread from BPF; its own events are missing, its counts not known */
#define EDC_THREAD_HIDDEN 16

/* thread_state.syscall, sys_*.id: none, or not known */
#define EDC_NO_SYSCALL 0xfff

/* thread states as the kernel's tracepoints print them; preempted is their R+ */
#define EDC_STATE_PREEMPTED 0x100

/* Classes of the kernel range that a card counts one by one. */
#define EDC_CARD_CLASSES 128

/* Nesting levels of probes on one CPU. Level 0 has 15/16 of the blocks. */
#define EDC_CARD_LEVELS 4

/*
 * Rings for probes that may be preempted: so they do not nest, and each takes a free lane for as long as it writes.
 * Only with --reset-on.
 */
#define EDC_CARD_LANES 8
#define EDC_CARD_RINGS (EDC_CARD_LEVELS + EDC_CARD_LANES)

/* Counts of one class at one level: seen = written + refused + filtered, written being the tokens in blocks. */
struct edc_level {
	struct edc_ring ring;
	__u64 seen[EDC_CARD_CLASSES];
	__u64 refused[EDC_CARD_CLASSES];
	__u64 filtered[EDC_CARD_CLASSES];
};

/* Who has a lane, and what it reads there: a program that may be preempted has little stack (bpf/reset.bpf.c). */
struct edc_lane {
	__u64 taken;
	__u64 value[3];
	__u64 words[2 + EDC_COUNTERS_IN_SET];
};

/* What the recorder writes: a page of its own, the only one that the module lets it write. */
struct edc_reader {
	__u64 read[EDC_CARD_RINGS]; /* blocks taken so far, of each ring */
	__u64 pad[4];
	__u32 stopped; /* the recording is over, post nothing */
	__u32 pad2[991];
};

/* Numbers of processes and threads are below it (the kernel's PID_MAX_LIMIT). */
#define EDC_PROCESS_NUMBERS (1 << 22)

/* What a card and the recorder share for one CPU; its blocks follow at EDC_CPU_HEADER. */
struct edc_cpu {
	struct edc_reader reader;
	__u32 depth; /* probes in progress on this CPU */
	__u32 pad[3];
	__u64 counted_ns; /* monotonic: the counters were read last */
	__u64 readings;   /* of counters: whoever may be preempted sees by it that another one was made */
	__u64 pad2[4];
	__u64 too_deep[EDC_CARD_CLASSES];       /* seen at depth EDC_CARD_LEVELS or more, or without a lane: lost */
	struct edc_level level[EDC_CARD_RINGS]; /* the lanes are the last ones */
	struct edc_lane lane[EDC_CARD_LANES];
	__u64 ratio_last[2 * EDC_RATIO_PAIRS]; /* the probes': counts at the last token `ratios` */
	__u64 ratio_known;                     /* they are there */
};

#define EDC_CPU_HEADER 49152

EDC_ASSERT(sizeof(struct edc_reader) == EDC_BLOCK_SIZE);
EDC_ASSERT(__builtin_offsetof(struct edc_reader, stopped) == 128);
EDC_ASSERT(sizeof(struct edc_cpu) <= EDC_CPU_HEADER);

/*
 * The clock of a card without a TSC read: trace time of a monotonic time, piecewise linear, continuous, increasing.
 * Set k holds from its from_ns to that of set k + 1, which the recorder publishes ahead of time:
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
	__u64 newest; /* number of the newest set; it lies at newest % EDC_CLOCK_SETS */
	__u64 pad[7];
	struct edc_clock_set set[EDC_CLOCK_SETS];
};

/* The product is split so that it neither overflows nor steps back for 2^47 ns (39 hours) after from_ns. */
static inline __attribute__((always_inline)) __u64 edc_clock_at(const struct edc_clock_set *set, __u64 ns)
{
	__u64 d = ns - set->from_ns;

	if (!(d >> 32))
		return set->base + d * set->whole + (d * set->frac >> 32);
	return set->base + d * set->whole + ((d >> 16) * set->frac >> 16) + ((d & 0xffff) * set->frac >> 32);
}

/* One thread as the task iterator reports it. */
struct edc_task {
	__u64 time; /* trace clock */
	__s32 pid, tgid, ppid;
	__u32 flags; /* EDC_THREAD_* */
	__u16 state, cpu, syscall, pad;
	__s32 prio;
	char comm[16];
	__u64 cgroup, nvcsw, nivcsw, sum_exec_runtime, min_flt, maj_flt, nr_migrations;
};

EDC_ASSERT(sizeof(struct edc_task) == 112);

#endif
