// SPDX-License-Identifier: MIT
// `monitor explain`: what the elapsed time of a command, a thread or a machine was made of, in a few sentences, each
// with a command that shows more. The evidence of a trace is gathered here; rules.h judges it.
#pragma once

#include <string>

#include "answers/selection/selection.h"
#include "evidence.h"
#include "finding.h"
#include "reading/events/trace.h"
#include "thresholds.h"

namespace monitor::explain {

struct Question {
	std::string directory; // for the commands
	selection::Selection selection;
};

// Reads the trace once; with a path a second time for the modes of what is on it, and a third time if the path goes on
// after the wanted time. Throws Error.
Evidence gather(trace::Trace &trace, const Question &question, const Thresholds &thresholds);

Explanation explain(trace::Trace &trace, const Question &question);

} // namespace monitor::explain
