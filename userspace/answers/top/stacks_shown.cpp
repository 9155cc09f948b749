// SPDX-License-Identifier: MIT
#include "stacks_shown.h"

#include <vector>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::top {
namespace {

using StackJson = nlohmann::ordered_json;

double percent(std::uint64_t part, std::uint64_t whole)
{
	return whole ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string taken_where(const std::string &by)
{
	if (by == "cpu")
		return "on the CPU";
	if (by == "offcpu")
		return "asleep";
	if (by == "wait")
		return "asleep, and who ended it";
	return by == "fault" ? "at page faults" : "at other events";
}

std::string innermost_first(const NamedWindow::Stack &stack, bool omits_kernel = false)
{
	std::string text;
	bool has_left_out = false;
	for (std::size_t i = stack.frames.size(); i-- > 0;) {
		const bool is_left_out = omits_kernel && stack.in_kernel[i] && !text.empty();
		if (!is_left_out || !has_left_out)
			text += (text.empty() ? "" : " < ") + (is_left_out ? "..." : printable(stack.frames[i]));
		has_left_out = is_left_out;
	}
	return text;
}

std::string fitted(const NamedWindow::Stack &stack, unsigned width)
{
	std::string text = innermost_first(stack);
	return text.size() > width ? innermost_first(stack, true) : text;
}

} // namespace

std::string stacks_title(const NamedWindow::StackTotals &kind)
{
	return fmt::format("Stacks {}: {}", taken_where(kind.by),
			   kind.is_time ? report::duration_text(static_cast<double>(kind.total))
					: fmt::format("{} {}", kind.total, kind.by == "cpu" ? "samples" : "taken"));
}

report::Table stacks_table(const NamedWindow::StackTotals &kind, unsigned width)
{
	using report::Unit;
	report::Table table;
	table.columns = {{"percent", "share%", Unit::percent},
			 {kind.is_time ? "time_ns" : "count", kind.is_time ? "time" : "count",
			  kind.is_time ? Unit::nanoseconds : Unit::count},
			 {"stack", "stack, the innermost function first", Unit::text}};
	for (const NamedWindow::Stack &stack : kind.stacks)
		table.rows.push_back({percent(stack.value, kind.total), stack.value, fitted(stack, width)});
	if (kind.other)
		table.rows.push_back({percent(kind.other, kind.total), kind.other, "other"});
	return table;
}

std::string stacks_note(const NamedWindow &window)
{
	if (window.is_pending)
		return "the names of its stacks are being looked up";
	std::vector<std::string> notes;
	if (window.unnamed)
		notes.push_back(
		    fmt::format("{} frames are shown by address: their names are being looked up", window.unnamed));
	if (window.left_out)
		notes.push_back(fmt::format("{} descriptions of stacks found no room", window.left_out));
	if (!window.users_without_room.empty())
		notes.push_back(fmt::format("some stacks of user {} end early: no room for what the programs map",
					    fmt::join(window.users_without_room, ", ")));
	if (window.opener_lost)
		notes.push_back(
		    "stacks of what was started or loaded lately end early: the process that opens files was ended");
	if (!window.missing.empty())
		notes.push_back(fmt::format("{} file{} cannot be read, or changed: {}", window.missing.size(),
					    window.missing.size() == 1 ? "" : "s", printable(window.missing.front())));
	if (!window.incomplete.empty())
		notes.push_back(fmt::format("the debug information of {} file{} cannot be read whole: {}",
					    window.incomplete.size(), window.incomplete.size() == 1 ? "" : "s",
					    printable(window.incomplete.front())));
	return fmt::format("{}", fmt::join(notes, "; "));
}

StackJson printable_list(const std::vector<std::string> &paths)
{
	StackJson list = StackJson::array();
	for (const std::string &path : paths)
		list.push_back(printable(path));
	return list;
}

nlohmann::ordered_json stacks_json(const NamedWindow &window)
{
	StackJson by = StackJson::object();
	for (const NamedWindow::StackTotals &kind : window.kinds) {
		StackJson stacks = StackJson::array();
		for (const NamedWindow::Stack &stack : kind.stacks) {
			StackJson frames = StackJson::array();
			for (const std::string &frame : stack.frames)
				frames.push_back(printable(frame));
			stacks.push_back({{"percent", percent(stack.value, kind.total)},
					  {kind.is_time ? "ns" : "count", stack.value},
					  {"frames", std::move(frames)}});
		}
		by[kind.by] = {{kind.is_time ? "total_ns" : "total", kind.total},
			       {"other", kind.other},
			       {"truncated_percent", percent(kind.truncated, kind.total)},
			       {"without_stack_percent", percent(kind.without_stack, kind.total)},
			       {"stacks", std::move(stacks)}};
	}
	return {{"named", !window.is_pending && window.unnamed == 0},
		{"unnamed_frames", window.unnamed},
		{"descriptions_left_out", window.left_out},
		{"users_without_room", window.users_without_room},
		{"opener_lost", window.opener_lost},
		{"missing_files", printable_list(window.missing)},
		{"incomplete_files", printable_list(window.incomplete)},
		{"by", std::move(by)}};
}

} // namespace monitor::top
