// SPDX-License-Identifier: MIT
#include "activity.h"

#include <algorithm>
#include <queue>

namespace monitor::explain {
namespace {

using path::Kind;

struct Lane { // of a thread
	const path::ThreadStretches *of;
	std::size_t next;   // index of the next stretch
	std::uint64_t time; // of the next change: begin of the next stretch, or end of the last one
	Kind kind;          // until `time`

	bool operator<(const Lane &other) const { return time > other.time; } // the earliest is the top
};

} // namespace

Activity activity_of(const path::Stretches &stretches, const std::function<bool(std::uint32_t)> &is_wanted,
		     trace::TimeRange range, unsigned cpus)
{
	std::priority_queue<Lane> lanes;
	for (std::uint32_t index = 0; index < stretches.threads().size(); ++index) {
		const path::ThreadStretches &of = stretches.threads()[index];
		if (!of.stretches.empty() && is_wanted(index))
			lanes.push({&of, 0, of.stretches.front().begin, Kind::unknown});
	}
	Activity activity;
	std::uint64_t counts[2] = {0, 0}, before = range.from; // counts of running threads, of ready ones
	const auto count = [&](Kind kind) {
		return kind == Kind::running ? &counts[0] : kind == Kind::ready ? &counts[1] : nullptr;
	};
	while (!lanes.empty()) {
		Lane lane = lanes.top();
		lanes.pop();
		const std::uint64_t time = std::clamp(lane.time, before, std::max(before, range.to)),
				    passed = time - before;
		activity.oversubscribed += counts[0] + counts[1] > cpus ? passed : 0;
		activity.saturated += counts[0] >= cpus && counts[1] > 0 ? passed : 0;
		activity.ready += counts[1] * passed;
		before = time;
		if (lane.time >= range.to)
			break;
		if (std::uint64_t *old = count(lane.kind))
			--*old;
		const auto &all = lane.of->stretches;
		if (lane.next == all.size())
			continue;
		lane.kind = all[lane.next].kind;
		if (std::uint64_t *now = count(lane.kind))
			++*now;
		++lane.next;
		lane.time = lane.next < all.size() ? all[lane.next].begin : lane.of->end;
		lanes.push(lane);
	}
	return activity;
}

} // namespace monitor::explain
