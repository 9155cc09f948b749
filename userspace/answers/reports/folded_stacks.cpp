// SPDX-License-Identifier: MIT
#include "folded_stacks.h"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/note.h"
#include "reading/analyze/feed.h"

namespace monitor::reports {

report::StackBy stacks_by(const std::string &name, const analyze::RecordingInfo &info)
{
	std::vector<std::string> recorded;
	for (const auto &[kind, by] : report::stack_groupings)
		if (report::was_recorded(by, info))
			recorded.push_back(kind);
	const bool is_known = info.stacks.timer_hz || !info.stacks.at.empty(); // unknown if the recorder was killed
	for (const auto &[known, by] : report::stack_groupings) {
		if (known != name)
			continue;
		if (is_known && !report::was_recorded(by, info))
			throw Error("this recording has no stacks --by {}; it has: {}", name,
				    fmt::join(recorded, ", "));
		const bool is_of_waits = by == report::StackBy::offcpu || by == report::StackBy::wait;
		if (const std::string names = info.partial_of({"sched_waking"}); is_of_waits && !names.empty())
			throw Error("the recording's --filter left out events of {}, which end the times of --by {}",
				    names, name);
		return by;
	}
	return recorded.empty() ? report::StackBy::cpu : stacks_by(recorded.front(), info);
}

FoldedStacks::FoldedStacks(trace::Trace &of, const selection::Selection &selection, symbols::SymbolOptions options)
    : trace(of), info(analyze::recording_of(of)), thread_fold(of, info, selection.scope(of, info))
{
	thread_fold.add(fold);
	losses = analyze::feed(of, thread_fold);
	if (!fold.any())
		throw Error("{} has no stacks: record with --stacks", of.directory());
	stacks =
	    std::make_unique<report::NamedStacks>(of.directory(), clock(), info, thread_fold, fold, std::move(options));
}

void print_missing(const symbols::Symbolizer &symbolizer)
{
	const std::vector<std::string> &missing = symbolizer.missing();
	for (const std::string &path : std::set<std::string>(missing.begin(), missing.end()))
		print_note("monitor: {} is gone or another file now; its functions have no names\n", printable(path));
	for (const std::string &path : symbolizer.foreign())
		print_note("monitor: {} belongs to another user, so its names were not used: as root, chown it to root "
			   "if you trust it\n",
			   printable(path));
	if (const auto users = symbolizer.users_without_room(); !users.empty())
		print_note("monitor: programs of user {} had more mappings or code than the recorder has room for, of "
			   "which a user has a share: some of their stacks end early\n",
			   fmt::join(users, ", "));
	if (symbolizer.opener_lost())
		print_note("monitor: the process that opens files was ended during the recording: stacks of what "
			   "programs started or loaded later end early, and their functions have no names\n");
	for (const std::string &path : symbolizer.with_unknown_go())
		print_note("monitor: the table of Go's functions in {} is of a version that is not known, or damaged: "
			   "its stacks were followed by frame pointers, callers of functions without a frame and names "
			   "may be missing\n",
			   printable(path));
	for (const auto &[path, missing] : symbolizer.incomplete()) {
		const std::string others =
		    missing.count == 1
			? "another file, which was not found or cannot be read:"
			: fmt::format("{} other files, which were not found or cannot be read: the first was",
				      missing.count);
		print_note("monitor: {} has debug information in {} sought as {}; what was inlined, lines or names are "
			   "missing\n",
			   printable(path), others, printable(fmt::format("{}", fmt::join(missing.paths, ", "))));
	}
	for (const std::string &path : symbolizer.damaged())
		print_note("monitor: the debug information of {} cannot be read, or takes too much memory; what was "
			   "inlined, lines or names are missing\n",
			   printable(path));
}

} // namespace monitor::reports
