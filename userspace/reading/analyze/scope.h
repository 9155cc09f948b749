// SPDX-License-Identifier: MIT
// What a fold accounts for: a part of the time, some CPUs, some threads. States are always tracked over the whole
// trace, so they are right when the scope begins.
// Time is divided at the scope's bounds. A momentary event belongs to the scope if its time does, and a finished
// interval by its end: what adjacent scopes account for adds up to the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "reading/events/merge.h"

namespace monitor::analyze {

struct Scope {
	trace::TimeRange range;
	std::vector<std::uint32_t> cpus;                  // empty: all
	std::optional<std::vector<bool>> threads;         // by index in ThreadFold::threads(); empty: all
	std::optional<std::set<std::uint64_t>> cgroups{}; // threads while in one of these; empty: all

	bool includes_time(std::uint64_t time) const { return time >= range.from && time <= range.to; }
	bool includes_cpu(std::uint32_t cpu) const
	{
		return cpus.empty() || std::ranges::find(cpus, cpu) != cpus.end();
	}
	bool includes(std::uint64_t time, std::uint32_t cpu) const { return includes_time(time) && includes_cpu(cpu); }
	bool includes_thread(std::size_t index) const
	{
		return !threads || (index < threads->size() && (*threads)[index]);
	}
	bool includes_cgroup(std::uint64_t id) const { return !cgroups || cgroups->contains(id); }
};

// Parts of some time, in ticks: before, within and after a scope.
struct Ticks {
	std::uint64_t before = 0, within = 0, after = 0;

	std::uint64_t all() const { return before + within + after; }
	Ticks &operator+=(const Ticks &other)
	{
		before += other.before;
		within += other.within;
		after += other.after;
		return *this;
	}
	// A scope has ended: what was within it is before the next one.
	void leave()
	{
		before += within;
		within = 0;
	}
	// How many of its last ticks are within the scope.
	std::uint64_t within_last(std::uint64_t ticks) const
	{
		return std::min(ticks - std::min(ticks, after), within);
	}
};

} // namespace monitor::analyze
