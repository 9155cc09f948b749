// SPDX-License-Identifier: MIT
#include "stack_rows.h"

#include <span>

#include "answers/report/profile.h"
#include "base/build_suffixes.h"

namespace monitor::diff {
namespace {

using analyze::StackFold;
using report::StackBy;

// Calls visit(key, innermost function, value) for each stack of a tree; `owner` has the item and `of_command`.
template <class Visit> void each_stack(const report::Profile &profile, const RowKey &owner, Visit &&visit)
{
	std::vector<std::string> names, shown;
	for (symbols::FrameName frame : profile.frames) {
		shown.push_back(report::folded_frame(frame.text()));
		frame.function = without_build_suffixes(frame.function);
		names.push_back(report::folded_frame(frame.text()));
	}
	for (const report::Profile::Stack &stack : profile.stacks) {
		RowKey key = owner;
		key.command = profile.frames[stack.frames.front()].function;
		if (key.command.starts_with("kworker/"))
			key.command = "kworker"; // as in the rows of threads
		for (const std::uint32_t frame : std::span(stack.frames).subspan(1)) {
			key.name += (key.name.empty() ? "" : ";") + names[frame];
			key.shown += (key.shown.empty() ? "" : ";") + shown[frame];
			key.program_frames += !profile.frames[frame].is_kernel;
		}
		visit(key, profile.frames[stack.frames.back()].function, stack.value);
	}
}

} // namespace

void add_samples(Rows &rows, report::NamedStacks &stacks, const trace::Clock &clock, Ours ours, unsigned hz)
{
	const auto add = [&](const RowKey &key, std::uint64_t samples) {
		Amount &amount = rows[key];
		amount.leads = true;
		amount.count = amount.count.value_or(0) + samples;
		amount.time_ns = *amount.count * 1'000'000'000 / hz;
	};
	for (const bool of_command : {true, false}) {
		const auto includes = [&](const auto &key, const auto &) {
			return is_ours(*key.thread, ours) == of_command;
		};
		const auto profile = report::profile_of(stacks.tree(StackBy::cpu, includes), clock, StackBy::cpu, "");
		const auto add_stack = [&](const RowKey &key, const std::string &function, std::uint64_t samples) {
			add(key, samples);
			add({Item::function, false, key.command, "", without_build_suffixes(function), 0, function},
			    samples);
		};
		each_stack(profile, {Item::stack, of_command, "", "", ""}, add_stack);
	}
}

void add_sleeps(Rows &rows, report::NamedStacks &stacks, const trace::Clock &clock, Ours ours, const CallTimes &times)
{
	using EndedBy = CallTimes::EndedBy;
	const auto add = [&](Item item, bool of_command, EndedBy ended_by) {
		const report::CallTree tree =
		    stacks.tree(StackBy::offcpu, [&](const StackFold::StackKey &key, const StackFold::Value &value) {
			    return is_ours(*key.thread, ours) == of_command &&
				   times.ended_by(*key.thread, value.time, key.waker) == ended_by;
		    });
		each_stack(report::profile_of(tree, clock, StackBy::offcpu, ""), {item, of_command, "", "", ""},
			   [&](const RowKey &key, const std::string &, std::uint64_t ns) {
				   Amount &amount = rows[key];
				   amount.leads = of_command && ended_by == EndedBy::other;
				   amount.time_ns += ns;
			   });
	};
	add(Item::sleep_stack, true, EndedBy::other);
	add(Item::sleep_stack_for_own, true, EndedBy::own);
	add(Item::sleep_stack, false, EndedBy::other);
}

} // namespace monitor::diff
