// SPDX-License-Identifier: MIT
#include "named_stacks.h"

#include <algorithm>

namespace monitor::report {
namespace {

symbols::SymbolOptions stacks_with_times(symbols::SymbolOptions options, const trace::Clock &clock,
					 const analyze::RecordingInfo &info, const analyze::StackFold &fold)
{
	if (info.end.time)
		options.end_ns = clock.wall_ns(*info.end.time);
	options.ticks_of = [&clock, &fold](std::uint64_t monotonic_ns) { return fold.time_of(monotonic_ns, clock); };
	return options;
}

} // namespace

bool was_recorded(StackBy by, const analyze::RecordingInfo &info)
{
	if (!info.complete() && info.stacks.timer_hz == 0 && info.stacks.at.empty())
		return true; // it was killed before it could say
	const auto has = [&](const char *kind) { return info.stacks.at.contains(kind); };
	switch (by) {
	case StackBy::cpu:
		return info.stacks.timer_hz != 0;
	case StackBy::offcpu:
	case StackBy::wait:
		return has("switch");
	case StackBy::fault:
		return has("fault");
	case StackBy::other:
		break;
	}
	return has("waking") || has("other");
}

bool has_stacks(const analyze::RecordingInfo &info)
{
	return std::ranges::any_of(stack_groupings,
				   [&](const auto &grouping) { return was_recorded(grouping.second, info); });
}

NamedStacks::NamedStacks(const std::string &directory, const trace::Clock &clock, const analyze::RecordingInfo &info,
			 const analyze::ThreadFold &thread_fold, const analyze::StackFold &fold,
			 symbols::SymbolOptions options)
    : thread_fold_(thread_fold), fold_(fold),
      symbolizer_(directory, stacks_with_times(std::move(options), clock, info, fold))
{
	for (const analyze::MappingToken &token : fold.mappings())
		symbolizer_.code().add(token);
	symbolizer_.code().finish();
}

const CallTree &NamedStacks::tree(StackBy by)
{
	if (const auto known = trees_.find(by); known != trees_.end())
		return known->second;
	std::uint64_t &others = others_[by];
	const auto is_of_command = [&](const analyze::StackFold::StackKey &key,
				       const analyze::StackFold::Value &value) {
		if (!key.thread->in_tree)
			others += is_time(by) ? value.blocked : value.count;
		return key.thread->in_tree;
	};
	return trees_
	    .try_emplace(by, thread_fold_, fold_, symbolizer_, by,
			 shows_command_ ? CallTree::Includes(is_of_command) : CallTree::Includes())
	    .first->second;
}

std::uint64_t NamedStacks::others(StackBy by)
{
	tree(by);
	return others_[by];
}

CallTree NamedStacks::tree(StackBy by, const CallTree::Includes &includes)
{
	return CallTree(thread_fold_, fold_, symbolizer_, by, includes);
}

} // namespace monitor::report
