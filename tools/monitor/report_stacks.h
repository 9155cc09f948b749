// SPDX-License-Identifier: MIT
// The stacks of a trace with their names, and flame graphs of them as a page. Used by cmd_report.cpp and cmd_pack.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "answers/report/named_stacks.h"
#include "reading/analyze/machine.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/stacks.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"
#include "reading/symbols/symbolizer.h"
#include "report_arguments.h"

namespace monitor {

using report::NamedStacks;
using report::stack_groupings;

// Anything else is the first that was recorded. Throws Error, what is there instead, if stacks of that kind were not.
report::StackBy stacks_by(const std::string &name, const analyze::RecordingInfo &info);

symbols::SymbolOptions symbol_options(const ReportArguments &arguments);
// On standard error: files whose functions have no names.
void print_missing(const symbols::Symbolizer &symbolizer);

// A trace that was read for its stacks alone.
struct FoldedStacks {
	trace::Trace trace;
	analyze::RecordingInfo info;
	analyze::Machine machine;
	analyze::StackFold fold;
	trace::Losses losses;
	std::unique_ptr<NamedStacks> stacks;

	// Throws Error, also if it has none.
	FoldedStacks(const std::string &directory, const std::string &tdl, const Selection &selection,
		     symbols::SymbolOptions options);
	const trace::Clock &clock() const { return trace.description().clock; }
};

// `monitor report DIR [DIR] stacks -o FILE`. The exit code.
int write_flame_page(const ReportArguments &arguments);

} // namespace monitor
