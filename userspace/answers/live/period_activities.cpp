// SPDX-License-Identifier: MIT
#include "period_activities.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace monitor::live {

std::size_t PeriodActivities::KeyHash::operator()(const ActivityKey &key) const
{
	const std::uint64_t owner =
	    key.owner.is_ended() ? key.owner.index() << 1 | 1 : reinterpret_cast<std::uintptr_t>(key.owner.thread());
	const std::uint64_t hash =
	    (owner * 0x9e3779b97f4a7c15ull ^ key.activity << 16 ^ key.caller) * 0xbf58476d1ce4e5b9ull;
	return hash ^ hash >> 32;
}

PeriodActivities::Sums &PeriodActivities::sums_of(const ActivityKey &key)
{
	if (const auto found = sums_.find(key); found != sums_.end())
		return found->second;
	if (sums_.size() < max_sums)
		return sums_[key];
	const ActivityKey other{PeriodKey::ended(PeriodKey::other), key.activity, EDC_ACTIVITY_OTHER};
	if (const auto found = sums_.find(other); found != sums_.end())
		return found->second;
	if (sums_.size() < max_sums + max_others - 1)
		return sums_[other];
	return sums_[{other.owner, EDC_ACTIVITY_OTHER, EDC_ACTIVITY_OTHER}];
}

void PeriodActivities::add(PeriodKey owner, const activities::Finished &activity)
{
	Sums &sums = sums_of({owner, tracker_.id_of(activity.number), tracker_.id_of(activity.caller)});
	const std::uint64_t ticks = activity.end - activity.begin;
	++sums.count;
	sums.left += activity.was_left;
	sums.total += ticks;
	sums.exclusive += activity.exclusive;
	sums.inclusive += activity.inclusive;
	if (!activity.is_certain)
		return;
	sums.longest = std::max(sums.longest, ticks);
	sums.lengths.add(ticks);
}

void PeriodActivities::replace_owners(const std::function<PeriodKey(PeriodKey)> &current)
{
	std::vector<std::pair<ActivityKey, Sums>> replaced;
	for (auto each = sums_.begin(); each != sums_.end();) {
		const PeriodKey owner = current(each->first.owner);
		if (owner == each->first.owner) {
			++each;
			continue;
		}
		replaced.emplace_back(ActivityKey{owner, each->first.activity, each->first.caller},
				      std::move(each->second));
		each = sums_.erase(each);
	}
	for (const auto &[key, more] : replaced) {
		Sums &sums = sums_[key];
		sums.count += more.count;
		sums.left += more.left;
		sums.total += more.total;
		sums.exclusive += more.exclusive;
		sums.longest = std::max(sums.longest, more.longest);
		sums.inclusive += more.inclusive;
		sums.lengths.merge(more.lengths);
	}
}

activities::Unpaired PeriodActivities::unpaired() const
{
	const activities::Unpaired &now = tracker_.unpaired();
	return {now.begins - before_.begins, now.ends - before_.ends};
}

void PeriodActivities::clear()
{
	sums_.clear();
	before_ = tracker_.unpaired();
}

} // namespace monitor::live
