// SPDX-License-Identifier: MIT
// .monitor/recording.json as values: what the recording knew beside its tokens. Used by every analysis and report.
// Untrusted: a member that is missing or of another type has its default, so a foreign or damaged file says `unknown`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "counters_info.h"
#include "trace/trace.h"

namespace monitor::analyze {

struct ClassCounts {
	unsigned id = 0;
	std::string name, family;
	std::uint64_t seen = 0, refused = 0, too_deep = 0, filtered = 0;

	std::uint64_t lost() const { return refused + too_deep; }
	std::uint64_t written() const { return seen - refused - too_deep - filtered; }
};

// The kernel's own figures at one moment, read between the trace times `before` and `after`.
struct KernelCounts {
	std::uint64_t before = 0, after = 0;
	std::uint64_t context_switches = 0, interrupts = 0;
	std::vector<std::uint64_t> steal_ns;
	std::map<std::string, std::uint64_t> interrupt_rows;
};

// What the recorder counted of instrumented programs.
struct UserInfo {
	std::uint64_t processes = 0, refused = 0, tokens = 0, discarded = 0, early = 0, damaged = 0,
		      classes_refused = 0;
	std::string damage, why_refused;
};

struct RecordingInfo {
	bool present = false;  // there was a recording.json that could be read
	bool complete = false; // the recording came to a clean end
	std::vector<std::string> command;
	std::int64_t command_pid = 0;
	std::optional<std::int64_t> command_exit;
	std::string note, user, host, kernel, machine, date, card, attach, end_reason, boot_id;
	std::uint64_t cpus = 0;
	std::vector<std::string> families, programs, lacking;
	std::vector<std::int64_t> filter_pids;
	bool filter_command = false;
	bool irq_time_taken_out = false; // of the kernel's own run times

	std::optional<std::uint64_t> start_time, end_time; // trace time: all probes attached, probes still attached
	std::optional<KernelCounts> start_counts, end_counts;
	std::vector<ClassCounts> classes;
	std::map<std::string, std::uint64_t> misses_start, misses_end; // by program
	std::optional<std::uint64_t> control_tokens;                   // of the recorder's own stream
	std::map<std::string, std::uint64_t> fault_counts;             // by class name
	std::map<std::string, double> cost_ns;                         // by family, `rejected`
	std::vector<std::uint64_t> lost_by_cpu;
	std::uint64_t skew_ticks = 0;          // largest, with its uncertainty
	std::uint64_t clocks_not_compared = 0; // CPUs that the recorder could not reach
	std::uint64_t recorder_cpu_ns = 0, wall_ns = 0, dropped_blocks = 0, clamped = 0, traced_refused = 0;
	std::uint64_t start_test_missing = 0;
	std::optional<UserInfo> user_card;
	std::optional<CountersInfo> counters; // record -m

	bool filtering() const { return filter_command || !filter_pids.empty(); }
	bool has_program(const std::string &event) const; // attached, as itself or as its classic twin
	std::uint64_t tokens() const;
	std::uint64_t lost() const;
	std::uint64_t misses() const;
	std::string command_line() const;
	// What the probes took, by the cost calibrated at the start: ns. Empty if it was not measured.
	std::optional<double> probe_cost_ns() const;
};

RecordingInfo parse_recording(const std::string &json);
// Of a trace; of another tracer's only the host is known.
RecordingInfo recording_of(const trace::Trace &trace);

} // namespace monitor::analyze
