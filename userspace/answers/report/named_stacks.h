// SPDX-License-Identifier: MIT
// The stacks of a trace with names, as call trees. Made from StackFold after the fold; used by reports, flame graphs,
// exports and the picture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "call_tree.h"
#include "leaf_functions.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/stacks.h"
#include "reading/analyze/thread_fold.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::report {

// The values of --by.
inline const std::vector<std::pair<std::string, StackBy>> stack_groupings = {{"cpu", StackBy::cpu},
									     {"offcpu", StackBy::offcpu},
									     {"wait", StackBy::wait},
									     {"fault", StackBy::fault},
									     {"other", StackBy::other}};
// Whether stacks of that kind, or of any, were taken; in a killed recording they may have been.
bool was_recorded(StackBy by, const analyze::RecordingInfo &info);
bool has_stacks(const analyze::RecordingInfo &info);

// The stacks of a trace with names. The constructor's arguments must outlive it.
class NamedStacks {
public:
	NamedStacks(const std::string &directory, const trace::Clock &clock, const analyze::RecordingInfo &info,
		    const analyze::ThreadFold &thread_fold, const analyze::StackFold &fold,
		    symbols::SymbolOptions options);
	NamedStacks(const NamedStacks &) = delete;

	// Called before the first tree: restricts trees to the recorded command.
	void show_command() { shows_command_ = true; }
	// Made on demand.
	const CallTree &tree(StackBy by);
	// The total() that the tree would have of other processes.
	std::uint64_t others(StackBy by);
	// The tree of some threads.
	CallTree tree(StackBy by, const CallTree::Includes &includes);
	// For the samples that are included.
	LeafFunctions leaf_functions(const IncludesSample &includes)
	{
		return report::leaf_functions(fold_, symbolizer_, includes);
	}
	const symbols::Symbolizer &symbolizer() const { return symbolizer_; }

private:
	const analyze::ThreadFold &thread_fold_;
	const analyze::StackFold &fold_;
	symbols::Symbolizer symbolizer_;
	bool shows_command_ = false;
	std::map<StackBy, CallTree> trees_;
	std::map<StackBy, std::uint64_t> others_;
};

} // namespace monitor::report
