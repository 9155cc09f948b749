// SPDX-License-Identifier: MIT
// Traces with counters, made in memory: readings and switches of a few CPUs, and the recording.json that says what the
// readings mean. One tick is one nanosecond.
//
// Two sets: `instructions` and `clock` (in ns) in the first, a second counter `instructions` in the other. Used by
// test_counters.cpp and test_measurements.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "monitor/card.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/counters_info.h"
#include "reading/analyze/thread_fold.h"
#include "samples.h"

namespace counter_history {

using Json = nlohmann::json;
using Values = std::vector<std::uint64_t>;
using List = std::vector<Json>; // braces around one Json would be that Json

inline constexpr unsigned short_id = EDC_ID_COUNTERS, long_id = EDC_ID_COUNTERS_SCALED; // + set

inline const std::string events =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(short_id, "counters", "u16_t reserved; u64_t instructions; u64_t clock;") +
    samples::event_block(long_id, "counters",
			 "u16_t reserved; u64_t enabled; u64_t running; u64_t instructions; u64_t clock;") +
    samples::event_block(short_id + 1, "counters", "u16_t reserved; u64_t instructions;") +
    samples::event_block(long_id + 1, "counters", "u16_t reserved; u64_t enabled; u64_t running; u64_t instructions;");

// The member `counters` of recording.json, without readings and measurements.
inline Json description()
{
	return Json::parse(R"({"every_ns": 0, "notes": ["a note"], "measurements": [], "sets": [
		{"id": 324, "scaled_id": 332, "counters": [
			{"name": "instructions", "unit": "", "field": "instructions"},
			{"name": "cpu-clock", "unit": "ns", "field": "clock"}]},
		{"id": 325, "scaled_id": 333, "counters": [
			{"name": "instructions", "unit": "", "field": "instructions"}]}]})");
}

inline Json reading(std::uint64_t cpu, std::uint64_t time, const Values &values, std::uint64_t set = 0,
		    std::uint64_t enabled_ns = 1000, std::uint64_t running_ns = 1000)
{
	return {{"cpu", cpu},      {"set", set}, {"time", time}, {"enabled_ns", enabled_ns}, {"running_ns", running_ns},
		{"values", values}};
}

inline Json measurement(const std::string &name, const std::string &per, const List &numerator,
			const List &denominator = {}, const std::string &unit = "")
{
	return {{"name", name},
		{"unit", unit},
		{"group", "test"},
		{"formula", name},
		{"per", per},
		{"numerator", numerator},
		{"denominator", denominator},
		{"missing", ""}};
}

inline Json term(std::int64_t counter, double factor = 1)
{
	return {{"counter", counter}, {"factor", factor}};
}

struct History {
	std::vector<samples::StreamWriter> streams; // by CPU
	List start, end, measurements;

	// Each CPU runs thread 7 when its first packet opens.
	explicit History(std::uint32_t cpus = 1)
	{
		for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
			streams.emplace_back(cpu, 0);
			open(cpu, 0);
		}
	}
	void open(std::uint32_t cpu, std::uint64_t time, std::uint64_t discarded = 0, std::uint32_t tid = 7)
	{
		streams[cpu].open(time, discarded).tid = tid;
	}
	void reads(std::uint32_t cpu, std::uint64_t time, std::initializer_list<std::uint64_t> values, unsigned set = 0)
	{
		streams[cpu].post(time, short_id + set, 0, values);
	}
	// `words`: for how long the set was enabled and running, then the values.
	void reads_long(std::uint32_t cpu, std::uint64_t time, std::initializer_list<std::uint64_t> words,
			unsigned set = 0)
	{
		streams[cpu].post(time, long_id + set, 0, words);
	}
	void switches(std::uint32_t cpu, std::uint64_t time, std::uint64_t prev, std::uint64_t next)
	{
		streams[cpu].post(time, EDC_ID_SCHED_SWITCH, 1, {prev | next << 32});
	}
	// A reading of the first set, and the switch that it comes with.
	void turns(std::uint32_t cpu, std::uint64_t time, std::initializer_list<std::uint64_t> values,
		   std::uint64_t prev, std::uint64_t next)
	{
		reads(cpu, time, values);
		switches(cpu, time, prev, next);
	}

	Json counters() const
	{
		Json json = description();
		json["measurements"] = measurements;
		json["readings"] = {{"start", start}, {"end", end}};
		return json;
	}
};

// What `json` says of a recording from `begin` on whose window is 1000 ticks long.
inline monitor::analyze::RecordingInfo recording(const Json &counters, std::uint64_t begin = 0)
{
	const Json json = {{"version", 1},
			   {"state", "complete"},
			   {"programs", {"sched_switch"}},
			   {"start", {{"time", begin}}},
			   {"end", {{"time", begin + 1000}}},
			   {"counters", counters}};
	return monitor::analyze::parse_recording(json.dump());
}

// Of the member `counters`.
inline std::optional<monitor::analyze::CountersInfo> counters_info(const Json &counters)
{
	return monitor::analyze::parse_recording(Json{{"counters", counters}}.dump()).counters;
}

inline monitor::trace::Trace trace_of(History &history, const std::string &description = events)
{
	return samples::trace(history.streams, description);
}

struct Folded {
	explicit Folded(History &history, std::uint64_t every_ticks = 0, std::uint64_t begin = 0,
			const std::string &description = events)
	    : Folded(history, history.counters(), every_ticks, begin, description)
	{
	}
	Folded(History &history, const Json &counters, std::uint64_t every_ticks = 0, std::uint64_t begin = 0,
	       const std::string &description = events)
	    : info(recording(counters, begin)), trace(trace_of(history, description)), thread_fold(trace, info),
	      fold(trace.description(), info.counters.value(), begin, every_ticks)
	{
		thread_fold.add(fold);
		monitor::analyze::feed(trace, thread_fold);
		fold.finish(thread_fold);
	}

	// Of all parts. Thread 0: idle of all CPUs.
	monitor::analyze::CounterSums thread(std::int32_t tid) const
	{
		monitor::analyze::CounterSums sums = fold.none();
		for (const auto &[number, part] : fold.parts())
			for (const auto &[thread, cgroups] : part.threads)
				if (thread->tid == tid)
					sums += part.of(*thread);
		return sums;
	}
	monitor::analyze::CounterSums unknown() const
	{
		monitor::analyze::CounterSums sums = fold.none();
		for (const auto &[number, part] : fold.parts())
			sums += part.unknown;
		return sums;
	}
	monitor::analyze::CounterSums all_threads() const
	{
		monitor::analyze::CounterSums sums = fold.none();
		for (const auto &[number, part] : fold.parts())
			for (const auto &[thread, cgroups] : part.threads)
				sums += part.of(*thread);
		return sums;
	}
	monitor::analyze::CounterSums all_cpus() const
	{
		monitor::analyze::CounterSums sums = fold.none();
		for (const auto &[number, part] : fold.parts())
			for (const auto &[number, cpu] : part.cpus)
				sums += cpu;
		return sums;
	}
	// By counter: what threads, idle and unknown have is `total`, and so do the CPUs.
	bool balances(const Values &total) const
	{
		monitor::analyze::CounterSums sums = all_threads();
		sums += unknown();
		return sums.counts == total && all_cpus().counts == total && sums.ticks == all_cpus().ticks;
	}

	monitor::analyze::RecordingInfo info;
	monitor::trace::Trace trace;
	monitor::analyze::ThreadFold thread_fold;
	monitor::analyze::CounterFold fold;
};

} // namespace counter_history
