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
	bool of_threads = false;         // only selected threads
	bool is_all = true;              // the whole recording
};
Window window_of(const analyze::ThreadFold &fold, const trace::Trace &trace, const trace::TimeText &times);

// Whose rows a report shows, perhaps only the recorded command's, and what it left out.
struct ShownRows {
	enum class Of : std::uint8_t { all, command, options };

	Of of = Of::all;
	std::optional<std::uint64_t> others{}; // number of rows; for stacks: none
	std::uint64_t amount = 0;              // total: ns, or stacks
	bool is_time = true;
};
// "left out: 12 rows of other processes, 3.4 s in all; --all shows them\n", or "".
std::string others_text(const ShownRows &shown);

struct Summary {
	std::uint64_t tokens = 0;
	std::optional<std::uint64_t> lost, misses;   // empty: unknown (killed recording, another tracer)
	std::optional<std::uint64_t> claimed_lost;   // in addition, counted by instrumented programs
	std::optional<std::uint64_t> clock_bound_ns; // the largest bound
	std::uint64_t clocks_not_compared = 0;       // number of CPUs that the bound does not cover, and of all
	std::uint64_t cpus_online = 0;
	std::vector<std::uint64_t> lost_by_cpu;
	std::uint64_t missing = 0; // tokens that were written, but are not in the files: what is lost is unknown
	std::uint64_t calls_of_unknown = 0; // system calls of all threads that are in no row,
	std::vector<std::pair<std::string, std::uint64_t>> unknown_calls; // by name, most frequent first
	std::uint64_t functions_of_unknown = 0;    // entries and exits of functions that are in no row
	std::uint64_t pauses = 0, paused = 0;      // pauses by triggers; events not stored during these
	std::vector<std::int64_t> other_recorders; // PIDs of recorders that ran at its start or end
	std::optional<double> paused_ns;           // in total
	std::uint64_t phases = 0;                  // number of phases with detached probes, for calibration
	double phases_ns = 0;                      // in total
	std::uint64_t bytes = 0;                   // size of the streams
	double wall_ns = 0;
	std::optional<double> recorder_cpu_ns;
	std::optional<cost::ProbeCost> probes;       // for a complete recording
	std::optional<std::uint64_t> hidden_threads; // hidden from the probes by the kernel; nullopt: unknown
	std::optional<Window> window;                // for a report
	std::optional<ShownRows> shown_rows;         // for reports that may show only the command
	std::optional<analyze::Periods> periods;     // for statistics: all figures cover these
	std::size_t recordings = 0;                  // number of recordings with these periods; 0: one
	std::vector<std::string> left_out;           // classes left out by -e,
	std::string unknown;                         // and what is therefore unknown
	bool stack_opener_lost = false;              // some stacks are incomplete
	bool has_contradictory_ends = false;         // recording.json's start and end are not those of the tokens
	bool complete = false;
	bool user_has_edges = false; // not calibrated: edges of calls and faults are user time
	bool counts_only = false;    // for statistics: `tokens` were counted, not recorded
	bool is_generic_ctf = false; // another tracer's: clock bound and cost are unknown
};

// `bound` must have been fed the recorder's stream; `tokens`: number read.
Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  std::uint64_t tokens);

// After a fold of the whole trace: also what was hidden, what is in no row, and the window.
Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  const analyze::ThreadFold &fold, const trace::Losses &losses);

// The same from the recorder's stream only: tokens as the probes counted them.
Summary summarize(trace::Trace &trace, const analyze::RecordingInfo &info);

// For a killed recording.
inline constexpr const char *incomplete_text =
    "this trace is incomplete: the recording was killed or its disk was full; its last packets are missing";

// A line, or "" without problems.
std::string damage_text(std::size_t problems);

// "at least 61.1 ms = 3.05 % of one CPU (loops)", "62.00 ms to 91.50 ms = 3.10 to 4.57 % of one CPU", or "unknown
// (WHY)".
std::string probes_text(const Summary &summary);

// "1,234,567 tokens, lost 0, clock bound 94 ns; cost: recorder 9.46 ms = 0.47 % of one CPU, probes at least 61.1 ms =
// 3.05 % of one CPU (loops)", and a line for each thing that makes the trace incomplete.
std::string summary_text(const Summary &summary);
std::string summary_json(const Summary &summary);
// ", 8.12 bytes per token", or "" if there are no tokens.
std::string per_token_text(const Summary &summary);

} // namespace monitor::report
