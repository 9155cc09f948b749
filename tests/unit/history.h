// SPDX-License-Identifier: MIT
// Histories of a machine's CPUs for the tests of the fold: tokens of hand-made or random switches, calls, faults and
// interrupts. One tick is one nanosecond. Used by test_thread_fold.cpp, test_scope.cpp and quota_history.h.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "monitor/card.h"
#include "reading/analyze/recording_info.h"
#include "samples.h"

namespace history {

inline const std::string events =
    samples::event_block(EDC_ID_THREAD_STATE, "thread_state",
			 "u16_t state; s32_t pid; s32_t tgid; s32_t ppid; u32_t cpu; u32_t syscall; u32_t flags;") +
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch",
			 "u12_t prev_state; u4_t prev_flags; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKING, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new",
			 "u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];") +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXEC, "sched_process_exec",
			 "u16_t compat; s32_t pid; s32_t old_pid; text_t comm[16];") +
    samples::event_block(EDC_ID_CGROUP_ATTACH_TASK, "cgroup_attach_task",
			 "u16_t threadgroup; s32_t pid; s32_t dst_root; u64_t dst_id; s32_t dst_level; u32_t "
			 "reserved;") +
    samples::event_block(EDC_ID_EXIT_COUNTS, "thread_counts",
			 "u16_t when; s32_t pid; s32_t tgid; u64_t nvcsw; u64_t nivcsw; u64_t sum_exec_runtime; u64_t "
			 "min_flt; u64_t maj_flt;") +
    samples::event_block(EDC_ID_IRQ_HANDLER_ENTRY, "irq_handler_entry", "u16_t irq;") +
    samples::event_block(EDC_ID_IRQ_HANDLER_EXIT, "irq_handler_exit", "u16_t irq;") +
    samples::event_block(EDC_ID_SOFTIRQ_ENTRY, "softirq_entry", "u16_t vec;") +
    samples::event_block(EDC_ID_SOFTIRQ_EXIT, "softirq_exit", "u16_t vec;") +
    samples::event_block(EDC_ID_SYS_ENTER, "sys_enter", "u12_t id; abi_t abi;") +
    samples::event_block(EDC_ID_SYS_EXIT, "sys_exit", "s16_t ret;") +
    samples::event_block(EDC_ID_SYS_EXIT_LONG, "sys_exit", "u12_t id; abi_t abi; s64_t ret;") +
    samples::event_block(EDC_ID_PAGE_FAULT_USER, "page_fault_user", "x16_t error_code; x64_t address;") +
    samples::event_block(EDC_ID_MINOR_FAULT, "minor_fault", "u16_t user;");

inline constexpr std::uint64_t sleeping = 1, running = 0, dead = 16, throttled = EDC_SWITCH_THROTTLED << 12;

inline std::uint64_t pair(std::int32_t first, std::int32_t second)
{
	return static_cast<std::uint32_t>(first) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(second)) << 32;
}

struct History {
	std::vector<samples::StreamWriter> streams;
	History() { streams.reserve(2); } // references stay

	samples::StreamWriter &cpu(std::uint32_t number)
	{
		while (streams.size() <= number) {
			streams.emplace_back(static_cast<std::uint32_t>(streams.size()), 0);
			streams.back().open(0);
		}
		return streams[number];
	}
	void switches(std::uint32_t on, std::uint64_t time, std::int32_t prev, std::uint64_t state, std::int32_t next)
	{
		cpu(on).post(time, EDC_ID_SCHED_SWITCH, static_cast<unsigned>(state), {pair(prev, next)});
	}
	void wakes(std::uint32_t on, std::uint64_t time, std::int32_t tid)
	{
		cpu(on).post(time, EDC_ID_SCHED_WAKING, 0, {pair(tid, 120)});
	}
	void posts(std::uint32_t on, std::uint64_t time, unsigned id, unsigned arg = 0) { cpu(on).post(time, id, arg); }
	// `root`: 0: of cgroup 2.
	void moves(std::uint32_t on, std::uint64_t time, std::int32_t tid, std::uint64_t cgroup, bool process = false,
		   std::int32_t root = 0)
	{
		cpu(on).post(time, EDC_ID_CGROUP_ATTACH_TASK, process, {pair(tid, root), cgroup, 0});
	}
	void fault(std::uint32_t on, std::uint64_t time) { cpu(on).post(time, EDC_ID_PAGE_FAULT_USER, 6, {0x1000}); }
	// What the recorder says of a thread at the start.
	void lists(std::uint64_t time, std::int32_t tid, std::uint64_t state, std::uint32_t call, std::uint32_t flags)
	{
		if (!std::exchange(has_list, true))
			list.open(0);
		list.post(time, EDC_ID_THREAD_STATE, static_cast<unsigned>(state),
			  {pair(tid, tid), pair(1, 0), static_cast<std::uint64_t>(flags) << 32 | call});
	}
	std::vector<samples::StreamWriter> &all()
	{
		if (std::exchange(has_list, false))
			streams.push_back(list);
		return streams;
	}

	samples::StreamWriter list{EDC_CPU_UNKNOWN, 0};
	bool has_list = false;
};

inline monitor::analyze::RecordingInfo make_info(std::uint64_t begin, std::uint64_t end, bool complete, bool filtering,
						 bool is_snapshot = false)
{
	monitor::analyze::RecordingInfo info;
	info.filter.command = filtering;
	info.present = true;
	if (is_snapshot)
		info.flight.emplace();
	info.state = complete ? "complete" : "incomplete";
	info.start.time = begin;
	if (complete)
		info.end.time = end;
	info.programs = {"sched_waking", "sys_enter",    "sys_exit",          "page_fault_user",
			 "minor_fault",  "sched_switch", "irq_handler_entry", "softirq_entry"};
	return info;
}

// Of two CPUs, or one, and five threads; `time` becomes that of the last token. Each number is drawn in a statement of
// its own: compilers differ in the order of arguments, and the histories must not.
inline History random_history(std::mt19937 &random, std::uint64_t &time, unsigned cpus = 2)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	History history;
	history.cpu(cpus - 1);
	std::uint64_t discarded = 0;
	for (int i = 0; i < 150; ++i) {
		time += below(40);
		const std::uint32_t on = below(cpus);
		switch (below(8)) {
		case 0: {
			const auto next = static_cast<std::int32_t>(below(4));
			const std::uint32_t state = below(2);
			const std::uint64_t flags = state == 0 && time % 3 == 0 ? throttled : 0;
			history.switches(on, time, static_cast<std::int32_t>(below(4)), state | flags, next);
			break;
		}
		case 1:
			history.wakes(on, time, static_cast<std::int32_t>(below(5)));
			break;
		case 2:
			history.fault(on, time);
			break;
		case 3:
			if (below(8) == 0)
				history.cpu(on).open(time, discarded += 5);
			break;
		default:
			const unsigned ids[] = {EDC_ID_SYS_ENTER,         EDC_ID_SYS_EXIT,         EDC_ID_MINOR_FAULT,
						EDC_ID_IRQ_HANDLER_ENTRY, EDC_ID_IRQ_HANDLER_EXIT, EDC_ID_SOFTIRQ_ENTRY,
						EDC_ID_SOFTIRQ_EXIT};
			const unsigned argument = below(3);
			history.posts(on, time, ids[below(7)], argument);
		}
	}
	return history;
}

// The same: a listing of one of the threads, as running or not.
inline void list_one(History &history, std::mt19937 &random)
{
	const std::uint32_t flags = random() % 4 ? 0 : EDC_THREAD_RUNNING;
	const bool second = random() % 2;
	const auto tid = static_cast<std::int32_t>(random() % 5);
	history.lists(random() % 30, tid, second, EDC_NO_SYSCALL, flags);
}

} // namespace history
