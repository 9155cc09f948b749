// SPDX-License-Identifier: MIT
// Is this trace true? All statements that `monitor check` makes, computed in one pass: conservation of events,
// agreement with the kernel's own figures, the state machine, order and wholeness, clock. Called by cmd_check.cpp;
// parts: conservation.cpp, kernel_comparison.cpp, kernel_totals.cpp, clock_check.cpp, witness_check.cpp,
// user_times.cpp.
#pragma once

#include <string>
#include <vector>

#include "reading/events/trace.h"
#include "recording_info.h"

namespace monitor::analyze {

// not_checked: the figure to compare with is unknown, or too small for a comparison. not_witnessed: the trace agrees
// with itself, but nothing independent of the probes can confirm it.
enum class Verdict { holds, fails, not_checked, not_witnessed };

const char *word(Verdict verdict);

struct Statement {
	std::string id; // stable: "conservation", "context_switches" ...
	Verdict verdict = Verdict::holds;
	std::string text; // one sentence; both figures where two are compared
};

std::vector<Statement> check(trace::Trace &trace, const RecordingInfo &info);

} // namespace monitor::analyze
