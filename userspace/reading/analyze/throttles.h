// SPDX-License-Identifier: MIT
// When groups of threads were throttled on a CPU, for kernels before 6.18: from the first switch that shows it until a
// thread of the group runs there again. Threads of the group that are queued on that CPU, or are woken to it, have no
// switch that shows it: the throttled part of their wait is derived from this.
// Invariant: the throttles of a group on a CPU are disjoint and in the order of time. Only the last ones are kept;
// older waits count as waiting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "thread.h"

namespace monitor::analyze {

class Throttles {
public:
	bool is_empty() const { return groups_.empty(); }

	void begin(std::uint32_t cpu, std::uint64_t cgroup, std::uint64_t time)
	{
		if (groups_.size() == max_groups)
			groups_.clear();
		std::deque<Throttle> &all = groups_[{cpu, cgroup}];
		if (!all.empty() && all.back().end == no_end)
			return;
		if (all.size() == max_kept)
			all.pop_front();
		all.push_back({time, no_end});
	}
	// A thread of the group runs on the CPU.
	void end(std::uint32_t cpu, std::uint64_t cgroup, std::uint64_t time)
	{
		if (const auto found = groups_.find({cpu, cgroup}); found != groups_.end())
			end(found->second, time);
	}
	// The CPU's state is unknown from now on.
	void lose(std::uint32_t cpu, std::uint64_t time)
	{
		for (auto &[key, all] : groups_)
			if (key.first == cpu)
				end(all, time);
	}

	// Divides a thread's wait: visit(from, to, is_throttled).
	template <class Visit>
	void divide(const Thread &thread, std::uint64_t cgroup, std::uint64_t from, std::uint64_t to,
		    Visit &&visit) const
	{
		if (thread.state == State::throttled)
			return visit(from, to, true);
		if (const auto found = groups_.find({thread.queue, cgroup}); found != groups_.end()) {
			const std::deque<Throttle> &all = found->second;
			for (auto throttle = std::ranges::upper_bound(all, from, {}, &Throttle::end);
			     throttle != all.end() && throttle->begin < to; ++throttle) {
				const std::uint64_t begin = std::max({throttle->begin, from, thread.queued}),
						    end = std::min(throttle->end, to);
				if (begin >= end)
					continue;
				if (from < begin)
					visit(from, begin, false);
				visit(begin, end, true);
				from = end;
			}
		}
		if (from < to)
			visit(from, to, false);
	}

private:
	static constexpr std::uint64_t no_end = ~0ull;
	static constexpr std::size_t max_groups = 4096, max_kept = 64;

	struct Throttle {
		std::uint64_t begin, end;
	};
	static void end(std::deque<Throttle> &all, std::uint64_t time)
	{
		if (all.back().end == no_end)
			all.back().end = time;
	}

	std::map<std::pair<std::uint32_t, std::uint64_t>, std::deque<Throttle>> groups_; // by CPU and cgroup
};

} // namespace monitor::analyze
