// SPDX-License-Identifier: MIT
#include "recordings.h"

#include <algorithm>

namespace monitor::diff {
namespace {

PrintedSide described(const analyze::RecordingInfo &info)
{
	return {{}, info.short_command(), info.host, info.kernel};
}

// By more than one in fifty.
bool is_longer(const Change &elapsed)
{
	const double ratio = elapsed.ratio().value_or(1);
	return ratio < 0.98 || ratio > 1.02;
}

} // namespace

Printed compare_recordings(const std::vector<Part> &before, const std::vector<Part> &after,
			   const ReadingOptions &options)
{
	std::vector<Input> inputs;
	for (const std::vector<Part> *side : {&before, &after})
		for (const Part &part : *side)
			inputs.push_back(input_of(trace::Trace::open(part.directory), part));
	const auto is_chosen = [&](Kind kind) { return options.chosen.empty() || options.chosen.contains(kind); };
	Plan plan = plan_of(inputs);
	plan.with_activities = is_chosen(Kind::activities);
	plan.with_stacks = is_chosen(Kind::stacks);
	Printed printed;
	printed.before = described(inputs.front().info);
	printed.after = described(inputs[before.size()].info);
	printed.notes = differences(inputs, before.size());
	for (std::size_t i = 0; i < inputs.size(); ++i) {
		const Part &part = inputs[i].part;
		const auto progress = [&](double done) {
			if (options.progress)
				options.progress(part, i, done);
		};
		progress(0);
		trace::Trace trace = options.open(part.directory);
		PrintedSide &side = i < before.size() ? printed.before : printed.after;
		side.repetitions.push_back(measure(
		    trace, part,
		    {plan, options.name_stacks ? options.name_stacks(part.directory) : NameStacks(), progress}));
	}
	printed.comparison = compare(printed.before.repetitions, printed.after.repetitions, plan.ours, options.chosen);
	const bool is_of_command = plan.ours == Ours::command && std::ranges::none_of(inputs, [](const Input &input) {
					   return input.part.is_window();
				   });
	if (!is_of_command && is_longer(printed.comparison.elapsed_ns))
		printed.notes.emplace_back("the sides last differently: what runs all the time differs by that");
	return printed;
}

} // namespace monitor::diff
