// SPDX-License-Identifier: MIT
#include "chosen_activities.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace monitor::path {

ChosenActivities::ChosenActivities(const analyze::FoldInput &input, analyze::ThreadFold &fold, Of of, std::string name)
    : fold_(fold), of_(of), name_(std::move(name)), tracker_(input, fold, {})
{
	tracker_.add(*this);
	fold.add(tracker_);
}

void ChosenActivities::finished(const activities::Finished &activity)
{
	using enum activities::ActivitySource;
	if (activity.source != (of_ == Of::calls ? system_call : program) || activity.end <= activity.begin)
		return;
	const auto [known, is_new] = is_named_.try_emplace(activity.number);
	if (is_new)
		known->second = name_ == (of_ == Of::calls ? fold_.kinds().syscall_label(activity.number)
							   : tracker_.label(activity.number));
	if (known->second)
		all_.push_back({&activity.thread, activity.begin, activity.end});
}

std::vector<ChosenActivities::ThreadRange> ChosenActivities::finish(const Stretches &stretches, bool in_tree)
{
	tracker_.finish();
	std::vector<ThreadRange> found;
	for (const Ended &one : all_) {
		const std::uint32_t index = stretches.find(*one.thread);
		const std::uint64_t begin = std::max(one.begin, fold_.window_begin());
		if (index != nobody && (!in_tree || one.thread->in_tree) && begin < one.end)
			found.push_back({index, {begin, one.end}});
	}
	if (found.empty())
		throw Error("nothing called {} has begun and ended in what is selected", readable(name_));
	return found;
}

} // namespace monitor::path
