// SPDX-License-Identifier: MIT
#include "reclaim.h"

#include <algorithm>

#include "monitor/card.h"

namespace monitor::explain {

Reclaim::Reclaim(const trace::Description &description, const analyze::RecordingInfo &info,
		 const analyze::ThreadFold &fold)
    : fold_(fold), is_recorded_(std::ranges::count(info.switch_flags, "memstall") > 0)
{
	fields_.resize(is_recorded_ ? description.classes().size() : 0);
	for (const auto &cls : description.classes())
		if (is_recorded_ && fold.kinds()[*cls].kind == analyze::EventMeaning::sched_switch)
			fields_[cls->index] = {trace::FieldRef(*cls, "prev_flags"), trace::FieldRef(*cls, "prev_pid"),
					       trace::FieldRef(*cls, "next_pid")};
}

void Reclaim::after(const trace::Event &event)
{
	if (event.cls->index >= fields_.size() || !fields_[event.cls->index].flags)
		return;
	const Fields &fields = fields_[event.cls->index];
	const bool is_memstall = fields.flags.get<std::uint32_t>(event) & EDC_SWITCH_MEMSTALL;
	if (!is_memstall && sleeps_.empty())
		return;
	const analyze::Thread *left = fold_.thread(fields.prev_pid.get<std::int32_t>(event));
	if (const auto previous = sleeps_.find(left); previous != sleeps_.end() && previous->second.back().to == ~0ull)
		previous->second.back().to = previous->second.back().from; // the switch to it was lost
	if (is_memstall && left)
		sleeps_[left].push_back({event.time, ~0ull});
	const auto next = sleeps_.find(fold_.thread(fields.next_pid.get<std::int32_t>(event)));
	if (next != sleeps_.end() && next->second.back().to == ~0ull)
		next->second.back().to = event.time;
}

std::uint64_t Reclaim::within(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) const
{
	const auto found = sleeps_.find(&thread);
	if (found == sleeps_.end())
		return 0;
	std::uint64_t sum = 0;
	auto span = std::ranges::lower_bound(found->second, from, {}, &trace::TimeRange::to);
	for (; span != found->second.end() && span->from < to; ++span)
		sum += std::min(span->to, to) - std::max(span->from, from);
	return sum;
}

} // namespace monitor::explain
