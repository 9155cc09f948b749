// SPDX-License-Identifier: MIT
#include "report_stacks.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "answers/report/flame_graph.h"
#include "answers/report/table.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "open.h"
#include "problems.h"
#include "reading/events/trace.h"

namespace monitor {
namespace {

std::string title_of(const FoldedStacks &of)
{
	const trace::TimeRange window = analyze::window_of(of.trace, of.info);
	const auto ns = static_cast<double>(of.clock().to_ns(window.to - window.from));
	return fmt::format("{}, {} recorded on {}", of.info.command.empty() ? "the machine" : of.info.short_command(),
			   report::duration_text(ns), of.info.host.empty() ? "?" : of.info.host);
}

void add_notes(const FoldedStacks &of, std::vector<std::string> &notes)
{
	if (!of.trace.problems().empty())
		notes.push_back(fmt::format("{} packets of {} are damaged and were left out",
					    of.trace.problems().total(), of.trace.directory()));
	if (const auto lost = of.losses.total_lost(); lost && *lost)
		notes.push_back(fmt::format("{} events of {} were lost", *lost, of.trace.directory()));
}

// Without stacks of wakers, waits are shown if they are asked for: they say little more than offcpu.
bool is_worth_showing(report::StackBy by, const FoldedStacks &of, bool is_chosen)
{
	return of.stacks->tree(by).total() > 0 && (by != report::StackBy::wait || is_chosen || of.fold.has_wakers());
}

} // namespace

report::StackBy stacks_by(const std::string &name, const analyze::RecordingInfo &info)
{
	std::vector<std::string> recorded;
	for (const auto &[kind, by] : stack_groupings)
		if (report::was_recorded(by, info))
			recorded.push_back(kind);
	const bool is_known = info.stack_timer_hz || !info.stacks_at.empty(); // not if the recorder was killed
	for (const auto &[known, by] : stack_groupings) {
		if (known != name)
			continue;
		if (is_known && !report::was_recorded(by, info))
			throw Error(fmt::format("this recording has no stacks --by {}; it has: {}", name,
						fmt::join(recorded, ", ")));
		const bool is_of_waits = by == report::StackBy::offcpu || by == report::StackBy::wait;
		if (const std::string names = info.partial_of({"sched_waking"}); is_of_waits && !names.empty())
			throw Error(fmt::format("the recording's --filter left out events of {}, which end the times "
						"of --by {}",
						names, name));
		return by;
	}
	return recorded.empty() ? report::StackBy::cpu : stacks_by(recorded.front(), info);
}

symbols::SymbolOptions symbol_options(const ReportArguments &arguments)
{
	symbols::SymbolOptions options;
	options.debug_directories = arguments.debug_directories;
	options.lines = arguments.lines;
	return options;
}

FoldedStacks::FoldedStacks(const std::string &directory, const std::string &tdl, const Selection &selection,
			   symbols::SymbolOptions options)
    : trace(open_trace({directory}, tdl)), info(analyze::recording_of(trace)),
      machine(trace, info, selection.scope(trace, info))
{
	machine.add(fold);
	losses = analyze::fold(trace, machine);
	if (!fold.any())
		throw Error(fmt::format("{} has no stacks: record with --stacks", directory));
	stacks = std::make_unique<NamedStacks>(directory, clock(), info, machine, fold, std::move(options));
}

void print_missing(const symbols::Symbolizer &symbolizer)
{
	const std::vector<std::string> &missing = symbolizer.missing();
	for (const std::string &path : std::set<std::string>(missing.begin(), missing.end()))
		print_note(fmt::format("monitor: {} is gone or another file now; its functions have no names\n",
				       printable(path)));
	for (const std::string &path : symbolizer.foreign())
		print_note(
		    fmt::format("monitor: {} belongs to another user, so its names were not used: as root, chown "
				"it to root if you trust it\n",
				printable(path)));
	if (const auto users = symbolizer.users_without_room(); !users.empty())
		print_note(fmt::format(
		    "monitor: programs of user {} had more mappings or code than the recorder has room for, of which a "
		    "user has a share: some of their stacks end early\n",
		    fmt::join(users, ", ")));
	if (symbolizer.opener_lost())
		print_note("monitor: the process that opens files was ended during the recording: stacks of what "
			   "programs started or loaded later end early, and their functions have no names\n");
	for (const auto &[path, sought] : symbolizer.incomplete()) {
		const std::string others =
		    sought.count == 1
			? "another file, which was not found or cannot be read:"
			: fmt::format("{} other files, which were not found or cannot be read: the first was",
				      sought.count);
		print_note(
		    fmt::format("monitor: {} has debug information in {} sought as {}; what was inlined, lines or "
				"names are missing\n",
				printable(path), others, printable(fmt::format("{}", fmt::join(sought.paths, ", ")))));
	}
	for (const std::string &path : symbolizer.damaged())
		print_note(fmt::format(
		    "monitor: the debug information of {} cannot be read, or takes too much memory; what was "
		    "inlined, lines or names are missing\n",
		    printable(path)));
}

int write_flame_page(const ReportArguments &arguments)
{
	std::vector<std::unique_ptr<FoldedStacks>> traces;
	for (const std::string &directory : arguments.words)
		traces.push_back(std::make_unique<FoldedStacks>(directory, arguments.tdl, arguments.selection,
								symbol_options(arguments)));
	FoldedStacks &shown = *traces.back(), *before = traces.size() > 1 ? traces.front().get() : nullptr;
	report::FlamePage page;
	page.title = title_of(shown);
	if (before)
		page.before = title_of(*before);
	for (const auto &[name, by] : stack_groupings) {
		if (arguments.by_is_chosen && name != arguments.by)
			continue;
		if (!is_worth_showing(by, shown, arguments.by_is_chosen) &&
		    !(before && is_worth_showing(by, *before, arguments.by_is_chosen)))
			continue;
		page.graphs.push_back({name, report::is_time(by), &shown.stacks->tree(by),
				       before ? &before->stacks->tree(by) : nullptr, &shown.clock(),
				       before ? &before->clock() : nullptr});
	}
	int exit_code = 0;
	for (const std::unique_ptr<FoldedStacks> &each : traces) {
		add_notes(*each, page.notes);
		print_missing(each->stacks->symbolizer());
		print_problems(each->trace.problems());
		if (!each->trace.problems().empty())
			exit_code = 1;
	}
	if (page.graphs.empty())
		throw Error(arguments.by_is_chosen
				? fmt::format("nothing to draw: no stacks of this kind, --by {}, within the options",
					      arguments.by)
				: "nothing to draw: no stacks within the options");
	const std::string text = report::flame_page(page);
	write_all(open_file(arguments.output, O_WRONLY | O_CREAT | O_TRUNC, 0644).get(), std::as_bytes(std::span(text)),
		  arguments.output);
	print_note(fmt::format("{}: {} of {} kB, for a browser\n", printable(arguments.output),
			       page.graphs.size() == 1 ? "a flame graph" : "flame graphs", text.size() / 1000));
	return exit_code;
}

} // namespace monitor
