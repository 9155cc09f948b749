// SPDX-License-Identifier: MIT
// What a recording cost and how good it is, in one place: the line under every report, the end of `record`, `info`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/clock_bound.h"
#include "analyze/recording_info.h"
#include "trace/trace.h"

namespace monitor::report {

struct Summary {
	std::uint64_t tokens = 0;
	std::optional<std::uint64_t> lost, misses;   // empty: unknown (killed recording, another tracer)
	std::optional<std::uint64_t> clock_bound_ns; // the largest
	std::vector<std::uint64_t> lost_by_cpu;
	std::uint64_t bytes = 0; // of the streams
	double wall_ns = 0;
	std::optional<double> recorder_cpu_ns, probes_cpu_ns; // the probes' by calibration
	std::optional<std::uint64_t> hidden_threads; // that the kernel hides from the probes; empty: not looked for
	bool complete = false;
	bool is_described = false; // of another tracer: neither of both is known
};

// `bound` must have been fed the recorder's stream; `tokens` as read.
Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  std::uint64_t tokens);

// The same without reading more than the recorder's stream: tokens as the probes counted them.
Summary summarize(trace::Trace &trace, const analyze::RecordingInfo &info);

// "1,234,567 tokens, lost 0, clock bound 94 ns; cost: recorder 0.6 % of one CPU, probes 1.2 % (calibrated)", and a
// second line for each thing that makes the trace less than whole.
std::string summary_text(const Summary &summary);
std::string summary_json(const Summary &summary);

} // namespace monitor::report
