// SPDX-License-Identifier: MIT
#include "recordings.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::diff {
namespace {

PrintedSide side_of(const analyze::RecordingInfo &info)
{
	return {{}, info.short_command(), info.host, info.kernel};
}

// The lengths differ by more than 2 %.
bool differs_in_length(const Change &elapsed)
{
	const double ratio = elapsed.ratio().value_or(1);
	return ratio < 0.98 || ratio > 1.02;
}

// The kernel's name (comm) of the recorded command's first thread.
std::string program_of(const analyze::RecordingInfo &info)
{
	constexpr std::size_t max_bytes = 15;
	const std::string path = info.command.empty() ? "" : info.command.front();
	return path.substr(path.rfind('/') + 1).substr(0, max_bytes);
}

bool has_rows_of(const PrintedSide &side, const std::string &command)
{
	return std::ranges::any_of(side.repetitions, [&](const Measured &each) {
		return std::ranges::any_of(
		    each.rows, [&](const auto &row) { return row.first.of_command && row.first.command == command; });
	});
}

// For programs with different names, whose rows do not match; "" otherwise.
std::string unmatched_text(const Printed &printed, const std::string &before, const std::string &after)
{
	const auto only_in = [](const PrintedSide &side, const PrintedSide &other, const std::string &command) {
		return has_rows_of(side, command) && !has_rows_of(other, command);
	};
	if (!only_in(printed.before, printed.after, before) || !only_in(printed.after, printed.before, after))
		return "";
	return fmt::format("the commands differ: rows are matched by name, so those of {} and {} are not matched",
			   printable(before), printable(after));
}

} // namespace

Printed compare_recordings(const std::vector<Part> &before, const std::vector<Part> &after,
			   const ReadingOptions &options)
{
	std::vector<Input> inputs;
	for (const std::vector<Part> *side : {&before, &after})
		for (const Part &part : *side)
			inputs.push_back(input_of(trace::Trace::open(part.directory), part));
	expect_repetitions(std::span(inputs).first(before.size()));
	expect_repetitions(std::span(inputs).subspan(before.size()));
	const auto is_chosen = [&](RowKind kind) { return options.chosen.empty() || options.chosen.contains(kind); };
	Plan plan = plan_of(inputs);
	plan.with_activities = is_chosen(RowKind::activities);
	plan.with_stacks = options.with_stacks &&
			   (is_chosen(RowKind::functions) || is_chosen(RowKind::stacks) || is_chosen(RowKind::sleeps));
	Printed printed;
	printed.before = side_of(inputs.front().info);
	printed.after = side_of(inputs[before.size()].info);
	printed.notes = differences(inputs, before.size());
	for (std::size_t i = 0; i < inputs.size(); ++i) {
		const Part &part = inputs[i].part;
		const auto progress = [&](double fraction) {
			if (options.progress)
				options.progress(part, i, fraction);
		};
		progress(0);
		trace::Trace trace = options.open(part.directory);
		PrintedSide &side = i < before.size() ? printed.before : printed.after;
		side.repetitions.push_back(measure(trace, part, {plan, progress}));
	}
	printed.comparison = compare(printed.before.repetitions, printed.after.repetitions, plan.ours, options.chosen);
	if (const std::string unmatched =
		unmatched_text(printed, program_of(inputs.front().info), program_of(inputs[before.size()].info));
	    !unmatched.empty())
		printed.notes.push_back(unmatched);
	const bool is_of_command = plan.ours == Ours::command && std::ranges::none_of(inputs, [](const Input &input) {
					   return input.part.is_window();
				   });
	if (!is_of_command && differs_in_length(printed.comparison.elapsed_ns))
		printed.notes.emplace_back("the two sides have different lengths; the time of anything that runs "
					   "throughout differs accordingly");
	return printed;
}

} // namespace monitor::diff
