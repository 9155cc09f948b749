// SPDX-License-Identifier: MIT
// Is this trace true? All statements of `monitor check`. In one pass: conservation of events,
// agreement with the kernel's own figures, the state machine, order and wholeness, clock; and in further passes what
// was counted in the kernel, run lengths and hosts. A file for each.
#pragma once

#include <string>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

using namespace analyze; // whose states are judged

// not_checked: the figure to compare with is unknown, or too small for a comparison. not_witnessed: the trace agrees
// with itself, but nothing independent of the probes can confirm it.
enum class Verdict { holds, fails, not_checked, not_witnessed };

const char *word(Verdict verdict);

struct Statement {
	std::string id; // stable: "conservation", "context_switches" ...
	Verdict verdict = Verdict::holds;
	std::string text; // one sentence; both figures where two are compared
};

std::vector<Statement> judge(trace::Trace &trace, const RecordingInfo &info);

} // namespace monitor::check
