// SPDX-License-Identifier: MIT
// Small hand-made recordings for the tests of check: one CPU, a recorder's stream, a program's, and what recording.json
// would say of them. One tick is one nanosecond. Without a change every statement holds.
#pragma once

#include <algorithm>

#include "answers/check/check.h"
#include "monitor/card.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace samples {

inline const std::string checked_events =
    event_block(EDC_ID_SYNC, "sync", "u16_t cpu; u64_t monotonic; u64_t realtime; u64_t tai; u64_t width;") +
    event_block(EDC_ID_CLOCK_SET, "clock_set", "u16_t set; u64_t from_ns; u64_t base; u32_t whole; u32_t frac;") +
    event_block(
	EDC_ID_THREAD_STATE, "thread_state",
	"u16_t state; s32_t pid; s32_t tgid; s32_t ppid; u16_t cpu; u16_t syscall; text_t comm[16]; u64_t cgroup; "
	"u32_t flags; s32_t prio;") +
    event_block(
	EDC_ID_THREAD_COUNTS, "thread_counts",
	"u16_t when; s32_t pid; s32_t tgid; u64_t nvcsw; u64_t nivcsw; u64_t sum_exec_runtime; u64_t min_flt; u64_t "
	"maj_flt; u64_t nr_migrations;") +
    event_block(EDC_ID_DRAIN_PASS, "drain_pass",
		"u16_t why; u64_t start; u64_t cpu_ns; u32_t blocks; u32_t free_blocks; u32_t empty_passes; u16_t "
		"fullest; u16_t stalled; u64_t empty_cpu_ns;") +
    event_block(EDC_ID_BLOCK_WRITE, "block_write",
		"u16_t error; u64_t start; u64_t wall_ns; u64_t cpu_ns; u32_t to_stream; u32_t blocks;") +
    event_block(EDC_ID_WRITER_THREAD, "thread", "u16_t reserved; s32_t pid; s32_t tgid;") +
    event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    event_block(EDC_ID_SCHED_MIGRATE_TASK, "sched_migrate_task",
		"u16_t dest_cpu; s32_t pid; u16_t orig_cpu; u16_t prio;") +
    event_block(EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new",
		"u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];") +
    event_block(EDC_ID_SOFTIRQ_ENTRY, "softirq_entry", "u16_t vec;") +
    event_block(EDC_ID_SOFTIRQ_EXIT, "softirq_exit", "u16_t vec;") +
    event_block(EDC_ID_SYS_ENTER, "sys_enter", "u12_t id; abi_t abi;") +
    event_block(EDC_ID_SYS_EXIT, "sys_exit", "s16_t ret;") + event_block(EDC_ID_CPU_IDLE, "cpu_idle", "s16_t state;") +
    event_block(EDC_ID_PAGE_FAULT_USER, "page_fault_user", "x16_t error_code; x64_t address;") +
    event_block(EDC_ID_MINOR_FAULT, "minor_fault", "u16_t user;") + event_block(1024, "mine", "u16_t number;");

inline std::uint64_t two(std::int32_t first, std::int32_t second)
{
	return static_cast<std::uint32_t>(first) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(second)) << 32;
}

class CheckedHistory {
public:
	static constexpr std::uint64_t begin = 1'000'000, end = 801'000'000, idle = 0, thread = 7;

	std::vector<StreamWriter> streams;
	monitor::analyze::RecordingInfo info;
	std::string environment; // of the description
	int control_missing = 0; // tokens that the recorder wrote and that are not there

	CheckedHistory()
	{
		streams.emplace_back(EDC_CPU_UNKNOWN, 0);
		streams.emplace_back(0, 0);
		streams.emplace_back(0, EDC_LEVEL_USER);
		for (StreamWriter &stream : streams)
			stream.open(0);
		user().header().tid = user().header().process = thread;
		info.present = true;
		info.state = "complete";
		info.card = "bpf";
		info.end_reason = "the duration elapsed";
		info.cpus = 1;
		info.start.time = begin;
		info.end.time = end;
		info.programs = {"sched_switch", "sched_migrate_task", "sched_wakeup_new", "softirq_entry",
				 "sys_enter",    "sys_exit",           "cpu_idle",         "irq_handler_entry"};
		info.misses.start = info.misses.end = {{"sched_switch", 0}};
		info.tsc_skew.start = info.tsc_skew.end = {10, 20, 1, 2};
		info.kernel_counts.start.emplace();
		info.kernel_counts.end.emplace();
		info.kernel_counts.start->before = info.kernel_counts.start->after = begin;
		info.kernel_counts.end->before = info.kernel_counts.end->after = end;
		info.witness.start = info.witness.end = {{0, 1000, 1000, 1000, true, 1000, 400, 90, 100}};
	}

	StreamWriter &recorder() { return streams[0]; }
	StreamWriter &user() { return streams[2]; }

	void set(unsigned number, std::uint64_t from_ns, std::uint64_t base, std::uint32_t frac = 0)
	{
		recorder().post(from_ns, EDC_ID_CLOCK_SET, number,
				{from_ns, base, 1 | static_cast<std::uint64_t>(frac) << 32});
	}
	void sync(std::uint64_t time, std::uint64_t monotonic, std::uint64_t width = 40, std::uint64_t realtime = 0)
	{
		recorder().post(time, EDC_ID_SYNC, 0, {monotonic, realtime, 0, width});
	}
	// Syncs ten times a second, and a line that is the truth.
	void steady_clock()
	{
		set(0, 0, 0);
		for (std::uint64_t time = begin; time <= end; time += 100'000'000)
			sync(time, time);
	}
	// A kernel token, counted as its probe would.
	void kernel(std::uint64_t time, unsigned id, unsigned arg = 0, std::initializer_list<std::uint64_t> words = {})
	{
		streams[1].post(time, id, arg, words);
		++counts(id).seen;
	}
	void switches(std::uint64_t time, std::int32_t prev, std::int32_t next)
	{
		kernel(time, EDC_ID_SCHED_SWITCH, 1, {two(prev, next)});
		++info.kernel_counts.end->context_switches;
	}
	void call(std::uint64_t enter, std::uint64_t exit)
	{
		kernel(enter, EDC_ID_SYS_ENTER, 39);
		kernel(exit, EDC_ID_SYS_EXIT);
	}
	void figures(std::uint64_t time, unsigned when, std::uint64_t switched, std::uint64_t ran,
		     std::uint64_t migrated, std::int32_t tid = thread)
	{
		recorder().post(time, EDC_ID_THREAD_COUNTS, when, {two(tid, tid), switched, 0, ran, 0, 0, migrated});
	}
	void user_event(std::uint64_t time, unsigned number = 0)
	{
		user().post(time, 1024, number, {}, EDC_MODE_USER);
		if (!info.user_card)
			info.user_card.emplace();
		++info.user_card->tokens;
	}
	monitor::analyze::ClassCounts &counts(unsigned id)
	{
		const auto found = std::ranges::find(info.classes, id, &monitor::analyze::ClassCounts::id);
		if (found != info.classes.end())
			return *found;
		info.classes.emplace_back();
		info.classes.back().id = id;
		info.classes.back().name = description(checked_events)->by_id(id)->name;
		return info.classes.back();
	}

	std::vector<monitor::check::Statement> statements()
	{
		std::vector<StreamWriter> written = streams; // which it ends
		auto trace = samples::trace(written, checked_events + "\nenv {" + environment + "};\n");
		std::uint64_t control = 0;
		monitor::trace::merge(
		    trace, {},
		    [&](const monitor::trace::Event &event) {
			    control += event.is_control() && !event.stream->is_user();
		    },
		    [](const monitor::trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
		info.recorder.control_tokens = control + control_missing;
		return monitor::check::judge(trace, info);
	}
	// "VERDICT text" of the first statement of that id that is worst; "none" without one.
	std::string said(const std::string &id)
	{
		std::string all = "none";
		for (const auto &statement : statements())
			if (statement.id == id &&
			    (all == "none" || statement.verdict == monitor::check::Verdict::fails))
				all = monitor::check::word(statement.verdict) + (" " + statement.text);
		return all;
	}
	bool fails(const std::string &id) { return said(id).starts_with("FAILS"); }
	bool holds(const std::string &id) { return said(id).starts_with("ok"); }
	// Every statement that fails.
	std::string failures()
	{
		std::string all;
		for (const auto &statement : statements())
			if (statement.verdict == monitor::check::Verdict::fails)
				all += statement.id + ": " + statement.text + "\n";
		return all;
	}
};

} // namespace samples
