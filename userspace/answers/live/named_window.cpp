// SPDX-License-Identifier: MIT
#include "named_window.h"

#include <algorithm>
#include <functional>
#include <set>

#include "answers/report/profile.h"

namespace monitor::live {
namespace {

NamedWindow::StackTotals kind_of(const report::CallTree &tree, const trace::Clock &clock, report::StackBy by,
				 const std::string &name)
{
	const auto amount = [&](std::uint64_t value) { return report::is_time(by) ? clock.to_ns(value) : value; };
	report::Profile profile = report::profile_of(tree, clock, by, name);
	NamedWindow::StackTotals kind;
	kind.by = name;
	kind.is_time = profile.is_time;
	kind.total = profile.total();
	kind.truncated = amount(tree.truncated());
	kind.without_stack = amount(tree.without_stack());
	std::ranges::stable_sort(profile.stacks, std::greater<>(), &report::Profile::Stack::value);
	for (const report::Profile::Stack &stack : profile.stacks) {
		const bool is_rest =
		    tree.beyond_limit() && profile.frames[stack.frames.back()].function == report::CallTree::other;
		if (is_rest || kind.stacks.size() >= max_shown_stacks) {
			kind.other += stack.value;
			continue;
		}
		NamedWindow::Stack &shown = kind.stacks.emplace_back();
		shown.value = stack.value;
		for (std::size_t i = 1; i < stack.frames.size(); ++i) {
			const symbols::FrameName &frame = profile.frames[stack.frames[i]];
			shown.frames.push_back(frame.text());
			shown.in_kernel.push_back(frame.is_kernel);
		}
	}
	return kind;
}

} // namespace

NamedWindow named_window(const StackWindow &window, symbols::Symbolizer &symbolizer, const trace::Clock &clock,
			 const StackKinds &kinds)
{
	const report::StackOwners owners = {
	    [](const analyze::Thread &) { return true; }, // if not yet, then soon: it was woken
	    [&](const analyze::Thread &thread) -> const std::string & { return window.commands.at(&thread); },
	    [&](std::uint32_t interrupt, std::uint32_t number) {
		    return window.interrupts.at({interrupt, number});
	    }};
	NamedWindow named;
	named.process = window.process;
	named.thread = window.thread;
	named.left_out = window.left_out;
	symbolizer.take_unnamed();
	for (const auto &[name, by] : kinds)
		named.kinds.push_back(
		    kind_of(report::CallTree(owners, window.stacks, symbolizer, by), clock, by, name));
	named.unnamed = symbolizer.take_unnamed();
	const std::set<std::string> missing(symbolizer.missing().begin(), symbolizer.missing().end());
	named.users_without_room = symbolizer.users_without_room();
	named.opener_lost = symbolizer.opener_lost();
	named.missing.assign(missing.begin(), missing.end());
	named.incomplete = symbolizer.damaged();
	for (auto &[path, files] : symbolizer.incomplete())
		named.incomplete.push_back(std::move(path));
	return named;
}

} // namespace monitor::live
