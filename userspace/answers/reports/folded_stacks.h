// SPDX-License-Identifier: MIT
// A trace folded only for its stacks, and notes on them.
#pragma once

#include <memory>
#include <string>

#include "answers/report/named_stacks.h"
#include "answers/selection/selection.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/stacks.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/trace.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::reports {

// For a name other than a kind's, the first kind recorded. Throws Error with the recorded kinds if that kind was not.
report::StackBy stacks_by(const std::string &name, const analyze::RecordingInfo &info);

// Prints to standard error the files whose functions have no names.
void print_missing(const symbols::Symbolizer &symbolizer);

struct FoldedStacks {
	const trace::Trace &trace;
	analyze::RecordingInfo info;
	analyze::ThreadFold thread_fold;
	analyze::StackFold fold;
	trace::Losses losses;
	std::unique_ptr<report::NamedStacks> stacks;

	// Throws Error, also if there are no stacks.
	FoldedStacks(trace::Trace &trace, const selection::Selection &selection, symbols::SymbolOptions options);
	const trace::Clock &clock() const { return trace.description().clock; }
};

} // namespace monitor::reports
