// SPDX-License-Identifier: MIT
// The report stacks: names for the stacks of a trace, and its flame graphs as a page. Used by cmd_report.cpp.
#pragma once

#include <map>
#include <string>

#include "answers/report/call_tree.h"
#include "reading/analyze/machine.h"
#include "reading/analyze/stacks.h"
#include "reading/symbols/symbolizer.h"
#include "report_arguments.h"

namespace monitor {

// By the name that --by has for it; anything else is `cpu`.
report::StackBy stacks_by(const std::string &name);

// The stacks of a trace with their names. What it is made of must outlive it.
class NamedStacks {
public:
	NamedStacks(const std::string &directory, const analyze::Machine &machine, const analyze::StackFold &fold);
	NamedStacks(const NamedStacks &) = delete;

	// Made when it is first asked for.
	const report::CallTree &tree(report::StackBy by);
	// On standard error: files whose functions have no names.
	void tell_missing() const;

private:
	const analyze::Machine &machine_;
	const analyze::StackFold &fold_;
	symbols::Symbolizer symbolizer_;
	std::map<report::StackBy, report::CallTree> trees_;
};

// `monitor report DIR [DIR] stacks -o FILE`. The exit code.
int write_flame_page(const ReportArguments &arguments);

} // namespace monitor
