// SPDX-License-Identifier: MIT
// Small hand-made histories of a process that marks activities: `a` and `b`, each with a begin and an end. One tick is
// one nanosecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "monitor/card.h"
#include "monitor/ring.h"
#include "samples.h"

namespace activity_history {

inline constexpr unsigned a_begin = 1024, a_end = 1025, b_begin = 1026, b_end = 1027, plain = 1028, a_end_long = 1029;
inline constexpr unsigned thread_is = 5;

inline const std::string kernel_events =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKING, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(300, "kernel_begin", "u16_t arg;") + samples::event_block(301, "kernel_end", "u16_t arg;");

inline const std::string events =
    kernel_events + samples::event_block(thread_is, "thread", "u16_t arg; s32_t pid; s32_t tgid;") +
    samples::event_block(a_begin, "a_begin", "u16_t arg;") + samples::event_block(a_end, "a_end", "u16_t arg;") +
    samples::event_block(b_begin, "b_begin", "range_t arg;") + samples::event_block(b_end, "b_end", "u16_t arg;") +
    samples::event_block(plain, "c_begin", "u16_t arg;") +
    samples::event_block(a_end_long, "a_end", "u16_t arg; u64_t bytes;");

inline std::uint64_t pair(std::uint32_t first, std::uint32_t second)
{
	return first | static_cast<std::uint64_t>(second) << 32;
}

// One process of several threads, with a ring per CPU, and one CPU's kernel stream.
struct History {
	std::vector<samples::StreamWriter> streams;
	std::vector<std::uint32_t> writing; // by CPU: the thread

	explicit History(std::uint32_t cpus = 1)
	{
		streams.emplace_back(0, 0);
		streams.back().open(0);
		for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
			streams.emplace_back(cpu, EDC_LEVEL_USER);
			open(cpu, 0, 7);
		}
	}
	void open(std::uint32_t cpu, std::uint64_t time, std::uint32_t process, std::uint64_t discarded = 0)
	{
		edc_block &header = streams[1 + cpu].open(time, discarded);
		header.tid = header.process = process;
		writing.resize(std::max<std::size_t>(writing.size(), cpu + 1));
		writing[cpu] = process;
	}
	void posts(std::uint64_t time, unsigned id, unsigned arg = 0, std::uint32_t tid = 7, std::uint32_t cpu = 0)
	{
		if (writing[cpu] != tid)
			streams[1 + cpu].post(time, thread_is, 0, {pair(tid, 7)}, EDC_MODE_USER);
		writing[cpu] = tid;
		streams[1 + cpu].post(time, id, arg, {}, EDC_MODE_USER);
	}
	void switches(std::uint64_t time, std::uint32_t prev, std::uint64_t state, std::uint32_t next)
	{
		streams[0].post(time, EDC_ID_SCHED_SWITCH, static_cast<unsigned>(state), {pair(prev, next)});
	}
	void wakes(std::uint64_t time, std::uint32_t tid)
	{
		streams[0].post(time, EDC_ID_SCHED_WAKING, 0, {pair(tid, 120)});
	}
};

} // namespace activity_history
