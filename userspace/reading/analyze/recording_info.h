// SPDX-License-Identifier: MIT
// .monitor/recording.json as its readers use it: what the recording has besides tokens, and what follows from that.
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

// How far apart the CPUs' clocks are, as the recorder measured it: of each figure the larger at start and end.
struct ClockSkew {
	std::uint64_t uncertainty = 0, cpus_compared = 0, cpus_online = 0;
	std::uint64_t min_uncertainty = 0; // ticks, of the closer comparison
	std::uint64_t ticks = 0;           // including its uncertainty
	std::uint64_t not_compared = 0;    // CPUs that the recorder could not run on
};

// "START .. END per KEY"
std::string text_of(const EventTime &time);
// Starts without an end when the recording ended.
std::uint64_t open_of(const EventTime &time);

inline constexpr double max_cost_of_event_ns = 1e9; // the file is untrusted

struct RecordingInfo : Contents {
	bool present = false; // a recording.json was present and readable
	// Classes with events left out by --filter, and the other halves of their pairs: what is derived from these is
	// unknown.
	std::set<std::string> partial;
	bool had_impossible_costs = false;    // of events, which are left out
	std::optional<CountersInfo> counters; // record -m

	bool has_counts_only() const { return statistics && statistics->counts_only; }
	// record --states --no-tokens: events were processed and not written.
	bool has_only_states() const { return !has_tokens && states; }
	// The run lengths of states cover other times than the recording.
	bool has_damaged_states() const;
	// Of several recordings, the first one's.
	std::optional<std::uint64_t> start_time() const;
	// The number of runs of the recorder that wrote this trace; 0: only one.
	std::size_t number_of_lives() const { return lives.empty() ? 0 : lives.size() + 1; }
	ClockSkew skew() const;
	// Cost of --filter and --count in the probe by class id, in ns.
	std::map<unsigned, double> judgement_ns() const;
	// Gaps that the recorder made to measure without probes (record --calibrate); 0: none.
	std::uint64_t phase_marks() const
	{
		return calibration && calibration->phases ? calibration->phases->marks : 0;
	}
	// The only gaps are those that --calibrate made.
	bool has_only_phases() const { return phase_marks() && !lost() && !paused(); }
	bool filtering() const { return filter.command || !filter.pids.empty(); }
	// Those of the given events that --filter left out partly: `sys_enter, sys_exit`; "" if none.
	std::string partial_of(std::initializer_list<const char *> events) const;
	// Whether --filter left out events of any recorded class.
	bool has_partial() const;
	// The families, and the classes that -e left out of them.
	std::string events_text() const;
	// What switches say about the state of threads: "say throttled, iowait; unknown: memstall". "": nothing.
	std::string switches_text() const;
	// Whether switches say that a thread is throttled.
	bool knows_throttled() const;
	// Whether groups are throttled as a whole (before Linux 6.18): their queued or woken threads have no switch
	// that says so.
	bool throttles_groups() const;
	// What is unknown because -e left out classes: a clause, or "".
	std::string unknown_text() const;
	// Whether a program for this event was attached, itself or its tp_ twin, and no event was left out.
	bool has_program(const std::string &event) const { return !partial.contains(event) && attached(event); }
	bool attached(const std::string &event) const;
	std::uint64_t tokens() const;
	std::uint64_t lost() const; // according to the recorder
	// Whether the CPUs had as much time as the recorder used.
	bool has_possible_cpu_time(std::uint64_t elapsed_ns) const;
	// Whether lost_by_cpu, if the recorder wrote it, is all that was lost.
	bool has_losses_of_cpus() const;
	std::uint64_t too_deep() const;
	std::uint64_t paused() const; // not stored while a trigger had stopped the recording
	std::uint64_t missed() const; // runs of probes that the kernel skipped
	std::string command_line() const;
	std::string short_command() const; // of at most 80 characters
	std::string title() const;         // "COMMAND on HOST: NOTE", for viewers
};

// Whether the start and the end of a completed recording, as recording.json has them, are in the wrong order, or not in
// the time of its tokens.
bool has_contradictory_ends(const trace::Trace &trace, const RecordingInfo &info);
// The window of all sums and rates: from when all probes were attached until the first was detached; the whole trace if
// that is unknown, or contradicts the tokens.
trace::TimeRange window_of(const trace::Trace &trace, const RecordingInfo &info);

// The range, for a recording of statistics widened to whole periods.
trace::TimeRange whole_periods(const trace::Trace &trace, const RecordingInfo &info, trace::TimeRange range);

RecordingInfo parse_recording(const std::string &json);
// The recording of a trace; for another tracer's only the host is known.
RecordingInfo recording_of(const trace::Trace &trace);

} // namespace monitor::analyze
