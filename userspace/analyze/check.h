// SPDX-License-Identifier: MIT
// Is this trace true? Every statement that `monitor check` makes, computed in one pass: conservation of events,
// agreement with the kernel's own figures, the state machine, order and wholeness, clock. Called by cmd_check.cpp;
// parts: conservation.cpp, kernel_comparison.cpp.
#pragma once

#include <string>
#include <vector>

#include "recording_info.h"
#include "trace/trace.h"

namespace monitor::analyze {

enum class Verdict { holds, fails, not_checked };

struct Statement {
	std::string id; // stable: "conservation", "context_switches" ...
	Verdict verdict = Verdict::holds;
	std::string text; // one sentence; both figures where two are compared
};

std::vector<Statement> check(trace::Trace &trace, const RecordingInfo &info);

} // namespace monitor::analyze
