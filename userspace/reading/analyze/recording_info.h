// SPDX-License-Identifier: MIT
// .monitor/recording.json as values: what the recording holds besides its tokens. Used by every analysis and report.
// Untrusted: a missing member, or one of another type, has its default, so a foreign or damaged file yields `unknown`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibration_info.h"
#include "counters_info.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"

namespace monitor::analyze {

struct ClassCounts {
	unsigned id = 0;
	std::string name, family;
	std::uint64_t seen = 0, discarded = 0, too_deep = 0, filtered = 0, paused = 0;

	std::uint64_t lost() const { return discarded + too_deep; }
	std::uint64_t written() const { return seen - discarded - too_deep - filtered - paused; }
};

// The kernel's own figures at one moment, read between the trace times `before` and `after`.
struct KernelCounts {
	std::uint64_t before = 0, after = 0;
	std::uint64_t context_switches = 0, interrupts = 0;
	std::vector<std::uint64_t> steal_ns;
	std::map<std::string, std::uint64_t> interrupt_rows;
	std::optional<std::uint64_t> softirqs{}, thread_creations{};
	std::uint64_t idle_before = 0, idle_after = 0; // trace times around the read of
	std::optional<std::uint64_t> idle_ends{};      // idle states that ended, all CPUs
	// record --count-only: what the probes had counted before and after the read, by class name.
	std::map<std::string, std::uint64_t> counted_before{}, counted_after{};
};

// System calls that the recorder made on a CPU outside the recording, and what the probes saw:
// recording/calibration/witness.h.
struct CallWitness {
	unsigned cpu = 0;
	std::uint64_t calls = 0, entries = 0, exits = 0;
	bool alone = false;
	std::uint64_t brackets = 0, width = 0, outside = 0, allowed = 0; // ticks
};

// How far apart the CPUs' clocks are, as the recorder measured it: the larger of each figure at start and end.
struct ClockSkew {
	std::uint64_t uncertainty = 0, cpus_compared = 0, cpus_online = 0;
	std::uint64_t min_uncertainty = 0; // ticks, of the closer of the two comparisons
};

// record --statistics: one of several recordings into the same trace.
struct Life {
	std::optional<std::uint64_t> begin, end; // trace time; no end: it was killed, or still runs
};

// What a process says it lost.
struct UserClaim {
	std::uint64_t process = 0, discarded = 0, early = 0;
	bool possible = true; // false: more than the CPUs can post, and not included in the sums
};

// What the recorder counted of instrumented programs; `discarded` and `early` are what the programs say.
struct UserInfo {
	std::uint64_t processes = 0, refused = 0, tokens = 0, filtered = 0, discarded = 0, early = 0, damaged = 0,
		      classes_refused = 0, unanswered = 0, not_searched = 0, claims = 0;
	std::string damage, why_refused;
	std::vector<UserClaim> largest_claims;
};

struct StatisticsInfo {
	std::uint64_t period_ns = 0;
	std::uint64_t keep_ns = 0; // older periods were removed; 0: none
	bool counts_only = false;  // the numbers of events, by class
	std::optional<std::uint64_t> hidden_threads{};
	// How long after the end of a period its counts were read, and how long that took, at most.
	std::optional<std::uint64_t> max_late_ns{}, max_width_ns{};
};

// Chosen by record --functions.
struct RecordedFunction {
	std::string name;
	bool is_patched = false; // in the command's processes, not probed by the kernel
};

// Left out by record --budget.
struct FunctionLeftOut {
	std::size_t function = 0;
	std::uint64_t time = 0; // of the trace: events may be missing from then on
	double seconds = 0;     // before it, in which:
	std::uint64_t events = 0;
	double percent = 0; // of the CPU time used
};

// What became of a trigger; in a snapshot until it was written.
struct TriggerInfo {
	std::string name, when, what;
	std::string key;                                        // the number that its events have in common; "": none
	std::string mark;                                       // the TEXT of its mark
	std::optional<std::uint64_t> fired, told;               // told: the recorder learned of it in time
	std::uint64_t by_programs = 0;                          // of these, by events of programs
	std::optional<std::uint64_t> samples, samples_left_out; // of all CPUs
	std::optional<std::uint64_t> reaction_median_ns, reaction_p99_ns, reaction_max_ns;
	std::optional<std::uint64_t> runs, runs_failed, running, runs_left_out, signals, signals_refused;
};

// What record --count counted.
struct EventCount {
	std::string name, expression;
	std::uint64_t count = 0, of_programs = 0; // the latter is part of the former
	std::vector<std::uint64_t> by_cpu;
	bool is_damaged = false; // some of these are no numbers, or not the parts of `count`
};

// What record --time timed. Durations in ticks of the trace's clock.
struct EventTime {
	struct OfCpu {
		std::uint64_t number = 0, total = 0;
	};

	std::string name, start, end, start_key, end_key;
	std::uint64_t number = 0, total = 0, shortest = 0, longest = 0;
	std::uint64_t starts = 0, replaced = 0, forgotten = 0, ends = 0; // as in edc_timed (monitor/timing.h)
	std::map<unsigned, std::uint64_t> buckets;
	std::vector<OfCpu> by_cpu; // where they ended
	bool is_damaged = false;   // some of these are no numbers

	// Starts without an end when the recording ended.
	std::uint64_t open() const
	{
		const std::uint64_t ended = replaced + forgotten + number;
		return starts - std::min(starts, ended);
	}
	// "START .. END per KEY"
	std::string text() const;
};

// What record --states wrote run lengths of.
struct RecordedStates {
	std::string name, tree;             // of the tree's file, and its text
	std::vector<std::uint32_t> cpus;    // online at the start
	std::uint64_t begin = 0;            // the time that the run lengths cover
	std::optional<std::uint64_t> end{}; // none: the recording was not completed
	std::uint64_t late = 0;             // events that came too late to be classified in the order of time
	bool is_damaged = false;            // begin and end are not those of the recording
};

// A snapshot of record --flight. Times of the trace.
struct FlightInfo {
	std::uint64_t asked = 0;                                       // when it was requested
	std::uint64_t held_ns = 0;                                     // how long nothing was overwritten
	std::uint64_t discarded = 0, overwritten = 0, torn_blocks = 0; // tokens, in and before it; blocks
	std::uint64_t programs_since = 0; // events of programs that are older were overwritten
	bool is_settled = true;           // no probe was in progress at its end
	std::vector<std::uint64_t> since; // by CPU: from when on all its events are there
};

struct RecordingInfo {
	bool present = false;  // a recording.json was present and readable
	bool complete = false; // the recording ended cleanly
	std::vector<std::string> command;
	std::int64_t command_pid = 0;
	std::optional<std::int64_t> command_exit;
	std::string note, user, host, kernel, machine, date, card, attach, end_reason, boot_id;
	std::uint64_t cpus = 0;
	std::vector<std::string> families, programs, lacking;
	std::vector<std::int64_t> filter_pids;
	bool filter_command = false;
	std::string filter_expression; // record --filter
	// Classes of which it left out events, and those that form pairs with them: what is derived from these is not
	// known.
	std::set<std::string> partial;
	bool has_tokens = true; // false: record --no-tokens
	// record --statistics: sums of periods instead of events.
	std::optional<StatisticsInfo> statistics;
	bool has_counts_only() const { return statistics && statistics->counts_only; }
	std::optional<RecordedStates> states;
	std::optional<FlightInfo> flight;
	// record --states --no-tokens: events were read, and not written.
	bool has_only_states() const { return !has_tokens && states; }
	std::vector<EventCount> counts;
	std::vector<TriggerInfo> triggers; // record --trigger
	std::uint64_t triggers_forgotten = 0;
	std::vector<std::int64_t> other_recorders;  // PIDs of those that ran at the start or the end
	std::uint64_t triggers_without_token = 0;   // firings of which only the number is known
	std::uint64_t pauses = 0, paused_ticks = 0; // because of triggers
	// The recorder noticed what was missing until then, as trace times: of the kernel's events, and of programs'.
	std::optional<std::uint64_t> triggers_until, program_triggers_until;
	std::vector<EventTime> times;
	std::uint64_t counted_ns = 0;               // how long, from the attachment of the first probe
	std::optional<std::uint64_t> counted_since; // trace time
	std::map<unsigned, double> judgement_ns;    // by class id: what --filter and --count add to a probe
	bool irq_time_taken_out = false;            // excluded from the kernel's own run times
	bool is_virtual = false;                    // a virtual machine

	std::optional<std::uint64_t> start_time, end_time; // trace time: all probes attached, probes still attached
	std::vector<Life> lives; // all, the oldest first; empty: there is one. Counts are of the last one
	std::optional<KernelCounts> start_counts, end_counts;
	std::vector<ClassCounts> classes;
	std::map<std::string, std::uint64_t> misses_start, misses_end; // by program
	std::optional<std::uint64_t> control_tokens;                   // of the recorder's own stream
	std::map<std::string, std::uint64_t> fault_counts;             // by class name
	std::map<std::string, double> cost_ns;                         // by family, `rejected`: calibrated at the start
	std::optional<Calibration> calibration;
	std::vector<RecordedFunction> functions; // by number
	std::optional<double> function_budget;   // percent
	std::vector<FunctionLeftOut> functions_left_out;
	struct StackCounts {
		std::uint64_t taken = 0, left_out = 0; // by the budget
	};
	std::map<std::string, StackCounts> stacks_at; // by the kind of event: switch, waking, fault, other
	struct WithoutRoom {
		std::uint32_t user = 0;
		std::uint64_t mappings = 0, tables = 0; // lists of mappings, unwind tables
	};
	std::vector<WithoutRoom> stacks_without_room;
	bool stack_opener_lost = false; // from some moment on no file of code could be opened
	unsigned stack_timer_hz = 0;
	std::uint64_t stacks_ns = 0; // what taking stacks took in the probes, measured each time
	std::vector<std::uint64_t> lost_by_cpu;
	std::vector<std::uint32_t> offline_at_start;                 // CPUs
	std::map<std::uint32_t, std::vector<std::string>> late_cpus; // that came online: names of what was opened there
	std::uint64_t skew_ticks = 0;                                // the largest, including its uncertainty
	std::uint64_t clocks_not_compared = 0;                       // CPUs that the recorder could not reach
	ClockSkew skew;
	std::vector<CallWitness> witness_start, witness_end;
	std::int64_t recorder_pid = 0; // 0: unknown, of an older recorder
	std::uint64_t recorder_cpu_ns = 0, wall_ns = 0, dropped_blocks = 0, clamped = 0, traced_refused = 0;
	std::uint64_t preflight_missing = 0;
	std::optional<UserInfo> user_card;
	std::optional<CountersInfo> counters; // record -m

	// Gaps that the recorder made, because it measured without probes (record --calibrate); 0: none.
	std::uint64_t phase_marks() const
	{
		return calibration && calibration->phases ? calibration->phases->marks : 0;
	}
	// They are its only gaps.
	bool has_only_phases() const { return phase_marks() && !lost() && !paused(); }
	bool filtering() const { return filter_command || !filter_pids.empty(); }
	// Of those given, the ones of which --filter left out events: `sys_enter, sys_exit`; "" if none.
	std::string partial_of(std::initializer_list<const char *> events) const;
	// Whether --filter left out events of any class that was recorded.
	bool has_partial() const;
	// Attached, as itself or as its tp_ twin, and all its events recorded.
	bool has_program(const std::string &event) const { return !partial.contains(event) && attached(event); }
	bool attached(const std::string &event) const;
	std::uint64_t tokens() const;
	std::uint64_t lost() const; // as the recorder counted it
	std::uint64_t too_deep() const;
	std::uint64_t paused() const; // not stored, because a trigger had stopped that
	std::uint64_t misses() const;
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
