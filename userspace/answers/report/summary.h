// SPDX-License-Identifier: MIT
// What a recording cost and how good it is, in one place: the line below every report, the end of `record`, `info`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reading/analyze/clock_bound.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"
#include "reading/cost/probe_cost.h"
#include "reading/events/time_text.h"
#include "reading/events/trace.h"

namespace monitor::report {

// What the rows of a report cover.
struct Window {
	std::int64_t begin_ns = 0, end_ns = 0; // since the start of the trace
	std::string begin_text, end_text;
	std::vector<std::uint32_t> cpus; // empty: all
	bool of_threads = false;         // only of selected ones
	bool is_all = true;              // of the recording
};
Window window_of(const analyze::ThreadFold &fold, const trace::Trace &trace, const trace::TimeText &times);

// Whose rows a report has that may be of the recorded command alone, and what it left out.
struct ShownRows {
	enum class Of : std::uint8_t { all, command, options };

	Of of = Of::all;
	std::optional<std::uint64_t> others{}; // rows, of stacks: none
	std::uint64_t amount = 0;              // in all: ns, or stacks
	bool is_time = true;
};
// "left out: 12 rows of other processes, 3.4 s in all; --all shows them\n", or "".
std::string others_text(const ShownRows &shown);

struct Summary {
	std::uint64_t tokens = 0;
	std::optional<std::uint64_t> lost, misses;   // empty: unknown (killed recording, another tracer)
	std::optional<std::uint64_t> claimed_lost;   // by instrumented programs, in addition: only they can count it
	std::optional<std::uint64_t> clock_bound_ns; // the largest
	std::uint64_t clocks_not_compared = 0;       // CPUs that the bound is not of, of
	std::uint64_t cpus_online = 0;
	std::vector<std::uint64_t> lost_by_cpu;
	std::uint64_t missing = 0; // tokens that were written, and are not in the files: what is lost is unknown
	std::uint64_t calls_of_unknown = 0; // system calls that are in no row, of all threads,
	std::vector<std::pair<std::string, std::uint64_t>> unknown_calls; // and how many of each, the most first
	std::uint64_t functions_of_unknown = 0; // entries and exits of functions that are in no row
	std::uint64_t pauses = 0, paused = 0;   // how often triggers paused the recording; events not stored meanwhile
	std::vector<std::int64_t> other_recorders; // PIDs of those that ran at its start or end
	std::optional<double> paused_ns;           // how long in all
	std::uint64_t phases = 0;                  // in which the probes were detached to calibrate
	double phases_ns = 0;                      // how long in all
	std::uint64_t bytes = 0;                   // of the streams
	double wall_ns = 0;
	std::optional<double> recorder_cpu_ns;
	std::optional<cost::ProbeCost> probes;       // of a complete recording
	std::optional<std::uint64_t> hidden_threads; // hidden from the probes by the kernel; empty: not looked for
	std::optional<Window> window;                // of a report
	std::optional<ShownRows> shown_rows;         // of one that may show the command alone
	std::optional<analyze::Periods> periods;     // of a recording of statistics: all figures are of these
	std::size_t lives = 0;                       // recordings that these periods are of; 0: one
	std::vector<std::string> left_out;           // classes, by -e,
	std::string unknown;                         // and what is unknown therefore
	bool stack_opener_lost = false;              // some stacks end early
	bool complete = false;
	bool user_has_edges = false; // not calibrated: what calls and faults take outside of their tokens is user time
	bool counts_only = false;    // of statistics: `tokens` were counted, not recorded
	bool is_generic_ctf = false; // of another tracer: clock bound and cost are unknown
};

// `bound` must have been fed the recorder's stream; `tokens` as read.
Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  std::uint64_t tokens);

// After a fold of the whole trace: with what was hidden, what is in no row, and the window.
Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  const analyze::ThreadFold &fold, const trace::Losses &losses);

// The same without reading more than the recorder's stream: tokens as the probes counted them.
Summary summarize(trace::Trace &trace, const analyze::RecordingInfo &info);

// Of a killed recording.
inline constexpr const char *incomplete_text =
    "this trace is incomplete: the recording was killed or its disk was full; its last packets are missing";

// A line, or "" if there are none.
std::string damage_text(std::size_t problems);

// "at least 61.1 ms = 3.05 % of one CPU (loops)", "62.00 ms to 91.50 ms = 3.10 to 4.57 % of one CPU", or "unknown
// (WHY)".
std::string probes_text(const Summary &summary);

// "1,234,567 tokens, lost 0, clock bound 94 ns; cost: recorder 9.46 ms = 0.47 % of one CPU, probes at least
// 61.1 ms = 3.05 % of one CPU (loops)", and another line for each thing
// that makes the trace incomplete.
std::string summary_text(const Summary &summary);
std::string summary_json(const Summary &summary);
// ", 8.12 bytes per token", or "" if there are no tokens.
std::string per_token_text(const Summary &summary);

} // namespace monitor::report
