// SPDX-License-Identifier: MIT
// A trace that is read for its stacks alone, and what is to be said of stacks.
#pragma once

#include <memory>
#include <string>

#include "answers/report/named_stacks.h"
#include "answers/selection/selection.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/stacks.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::reports {

// Anything else is the first that was recorded. Throws Error, what is there instead, if stacks of that kind were not.
report::StackBy stacks_by(const std::string &name, const analyze::RecordingInfo &info);

// On standard error: files whose functions have no names.
void print_missing(const symbols::Symbolizer &symbolizer);

struct FoldedStacks {
	const trace::Trace &trace;
	analyze::RecordingInfo info;
	analyze::ThreadFold thread_fold;
	analyze::StackFold fold;
	trace::Losses losses;
	std::unique_ptr<report::NamedStacks> stacks;

	// Throws Error, also if it has none.
	FoldedStacks(trace::Trace &trace, const selection::Selection &selection, symbols::SymbolOptions options);
	const trace::Clock &clock() const { return trace.description().clock; }
};

} // namespace monitor::reports
