// SPDX-License-Identifier: MIT
// .monitor/recording.json as its readers use it: what the recording holds besides its tokens, and what follows from it.
// Untrusted: a missing member, or one of another type, has its default, so a foreign or damaged file yields `unknown`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>

#include "base/recording_file/contents.h"
#include "counters_info.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"

namespace monitor::analyze {

using namespace recording_file; // the parts of the file

// How far apart the CPUs' clocks are, as the recorder measured it: the larger of each figure at start and end.
struct ClockSkew {
	std::uint64_t uncertainty = 0, cpus_compared = 0, cpus_online = 0;
	std::uint64_t min_uncertainty = 0; // ticks, of the closer of the two comparisons
	std::uint64_t ticks = 0;           // including its uncertainty
	std::uint64_t not_compared = 0;    // CPUs that the recorder could not reach
};

// "START .. END per KEY"
std::string text_of(const EventTime &time);
// Starts without an end when the recording ended.
std::uint64_t open_of(const EventTime &time);

struct RecordingInfo : Contents {
	bool present = false; // a recording.json was present and readable
	// Classes of which --filter left out events, and those that form pairs with them: what is derived from these is
	// not known.
	std::set<std::string> partial;
	std::optional<CountersInfo> counters; // record -m

	bool has_counts_only() const { return statistics && statistics->counts_only; }
	// record --states --no-tokens: events were read, and not written.
	bool has_only_states() const { return !has_tokens && states; }
	// The times that run lengths of states cover are not those of the recording.
	bool has_damaged_states() const;
	// Of the first of several recordings.
	std::optional<std::uint64_t> start_time() const;
	// Recordings into the trace; 0: there is one.
	std::size_t number_of_lives() const { return lives.empty() ? 0 : lives.size() + 1; }
	ClockSkew skew() const;
	// By class id: what --filter and --count add to a probe, in ns.
	std::map<unsigned, double> judgement_ns() const;
	// Gaps that the recorder made, because it measured without probes (record --calibrate); 0: none.
	std::uint64_t phase_marks() const
	{
		return calibration && calibration->phases ? calibration->phases->marks : 0;
	}
	// They are its only gaps.
	bool has_only_phases() const { return phase_marks() && !lost() && !paused(); }
	bool filtering() const { return filter.command || !filter.pids.empty(); }
	// Of those given, the ones of which --filter left out events: `sys_enter, sys_exit`; "" if none.
	std::string partial_of(std::initializer_list<const char *> events) const;
	// Whether --filter left out events of any class that was recorded.
	bool has_partial() const;
	// The families, and what -e left out of them.
	std::string events_text() const;
	// What switches say of the threads that they stop: "say throttled, iowait; unknown: memstall". "": nothing.
	std::string switches_text() const;
	// Switches say whether the thread is throttled.
	bool tells_throttled() const;
	// With its group: threads of that which are queued, or woken, have no switch that says it (before Linux 6.18).
	bool throttles_groups() const;
	// What is unknown because -e left out classes: a sentence without its end, or "".
	std::string unknown_text() const;
	// Attached, as itself or as its tp_ twin, and all its events recorded.
	bool has_program(const std::string &event) const { return !partial.contains(event) && attached(event); }
	bool attached(const std::string &event) const;
	std::uint64_t tokens() const;
	std::uint64_t lost() const; // as the recorder counted it
	std::uint64_t too_deep() const;
	std::uint64_t paused() const; // not stored, because a trigger had stopped that
	std::uint64_t missed() const; // runs of probes that the kernel refused
	std::string command_line() const;
	std::string short_command() const; // of at most 80 characters
};

// The window that all sums and rates cover: from when all probes were attached to the last moment they all were; the
// whole trace if that is unknown.
trace::TimeRange window_of(const trace::Trace &trace, const RecordingInfo &info);

// The range, of a recording of statistics widened to whole periods.
trace::TimeRange whole_periods(const trace::Trace &trace, const RecordingInfo &info, trace::TimeRange range);

RecordingInfo parse_recording(const std::string &json);
// Of a trace; for another tracer's only the host is known.
RecordingInfo recording_of(const trace::Trace &trace);

} // namespace monitor::analyze
