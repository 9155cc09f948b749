// SPDX-License-Identifier: MIT
// Lanes of the activities that programs mark. A kind is an activity of a process, and has a lane, like a group of
// threads (groups.h): the time that it was open in all threads of the process. Fed by a Tracker
// (reading/activities/tracker.h), so the sums are those of `monitor report activities`. Made by picture.cpp; next in
// the flow: tile.cpp.
// A start or an end without its other half is in no lane, only counted. Levels finer than those kept are not read
// again from the trace: they show the slices of the finest one kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "lane.h"
#include "reading/activities/tracker.h"
#include "rows.h"
#include "timeline.h"

namespace monitor::view {

// Intervals in a thread's lane do not overlap: of nested activities it has the outermost.
struct ActivityThread {
	std::uint32_t index = key_unknown; // index of the thread in the picture
	Lane lane{0};
};

struct ActivityKind {
	std::string name, process;
	std::int32_t pid = 0;
	std::uint64_t count = 0, longest = 0; // ticks
	std::uint64_t total = 0;              // ticks, without those nested in the same kind
	std::vector<ActivityThread> threads = {};
};

class ActivityLanes {
public:
	static constexpr std::size_t max_bytes = 32u << 20;

	ActivityLanes() = default;
	// From the cache. Throws Error.
	ActivityLanes(const Timeline &timeline, CacheReader &reader);
	void save(CacheWriter &writer) const;

	// Sorted by descending time.
	const std::vector<ActivityKind> &kinds() const { return kinds_; }
	unsigned first_level() const { return first_level_; }
	// A kind's slices that overlap these bins; the key is the index of the thread with most of the time.
	std::vector<Slice> slices(std::size_t kind, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const;
	// {kinds: [{name, process, pid, count, total, longest, threads}], begins, ends, left_out}: `threads` by their
	// rows, `begins` and `ends` without their other half, `left_out`: number in no lane for lack of memory.
	nlohmann::ordered_json json(const Rows &rows) const;

private:
	friend class ActivityFold;

	std::vector<ActivityKind> kinds_;
	unsigned first_level_ = 0;
	std::uint64_t begins_ = 0, ends_ = 0, left_out_ = 0;
};

class ActivityFold final : public activities::Observer {
public:
	static constexpr std::size_t max_lanes = 1u << 14;
	static constexpr std::size_t max_held = 1u << 20;

	// The arguments must outlive this.
	ActivityFold(const analyze::ThreadFold &fold, const activities::Tracker &tracker, const Timeline &timeline,
		     std::size_t max_bytes = ActivityLanes::max_bytes)
	    : fold_(fold), tracker_(tracker), timeline_(timeline), max_bytes_(max_bytes)
	{
	}

	void finished(const activities::Finished &activity) override;
	void not_nested(const activities::Finished &inner) override;
	// Called once, after the tracker's and the timeline's finish().
	ActivityLanes finish();

private:
	struct Interval {
		std::uint64_t from, to;
		std::size_t lane; // index in lanes_
	};
	struct ThreadLane {
		std::size_t kind;
		const analyze::Thread *thread;
		Lane lane;
		std::uint32_t added = 0;
	};
	// Activities of a thread nested in one, until that ends, or is known never to end.
	struct Nested {
		std::vector<Interval> held;
		std::uint64_t not_held = 0; // for lack of memory
	};

	std::optional<std::size_t> lane_of(const activities::Finished &activity);
	void add(const Interval &interval);
	std::vector<Interval> take_from(Nested &nested, const Interval &outer);
	void limit_memory();

	const analyze::ThreadFold &fold_;
	const activities::Tracker &tracker_;
	const Timeline &timeline_;
	std::size_t max_bytes_, held_ = 0, adds_ = 0;
	ActivityLanes made_;
	// The process as its first thread, or, if that is unknown, by its number.
	std::map<std::tuple<const analyze::Thread *, std::int32_t, std::uint32_t>, std::size_t> kinds_;
	std::vector<const analyze::Thread *> leaders_; // by kind
	std::map<std::pair<const analyze::Thread *, std::size_t>, std::size_t> lane_indices_;
	std::vector<ThreadLane> lanes_;
	std::map<std::pair<const analyze::Thread *, std::uint32_t>, Nested> nested_;
};

} // namespace monitor::view
