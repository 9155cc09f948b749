// SPDX-License-Identifier: MIT
// Lanes of the activities that programs mark. A kind is an activity of a process, and has a lane as a group of threads
// has (groups.h): how long it was open, in all of the process's threads together. Fed by a Tracker
// (reading/activities/tracker.h), so the sums are those of `monitor report activities`. Made by picture.cpp; next in
// the flow: tile.cpp.
//
// A begin or an end without a partner is in no lane, only counted. Finer levels than those that are kept are not read
// again: they have the slices of the finest one that is.
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

// In the lane of a thread no two overlap: of those inside each other the outermost is there.
struct ActivityThread {
	std::uint32_t place = key_unknown; // of the thread in the picture
	Lane lane{0};
};

struct ActivityKind {
	std::string name, process;
	std::int32_t pid = 0;
	std::uint64_t count = 0, longest = 0; // ticks
	std::uint64_t total = 0;              // ticks, without those inside another one of the kind
	std::vector<ActivityThread> threads = {};
};

class ActivityLanes {
public:
	static constexpr std::size_t max_bytes = 32u << 20;

	ActivityLanes() = default;
	// Of a picture, as it was kept. Throws Error.
	ActivityLanes(const Timeline &timeline, KeptReader &reader);
	void keep(KeptWriter &writer) const;

	// Those open longest first.
	const std::vector<ActivityKind> &kinds() const { return kinds_; }
	unsigned first_level() const { return first_level_; }
	// Of a kind the slices that reach into these bins; the key is the place of the thread that had most of it.
	std::vector<Slice> slices(std::size_t kind, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const;
	// {kinds: [{name, process, pid, count, total, longest, threads}], begins, ends, left_out}: `threads` by their
	// rows, `begins` and `ends` without a partner, `left_out`: how many are in no lane for lack of memory.
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

	// All must outlive this.
	ActivityFold(const analyze::ThreadFold &fold, const activities::Tracker &tracker, const Timeline &timeline,
		     std::size_t max_bytes = ActivityLanes::max_bytes)
	    : fold_(fold), tracker_(tracker), timeline_(timeline), max_bytes_(max_bytes)
	{
	}

	void finished(const activities::Finished &activity) override;
	void not_nested(const activities::Finished &inner) override;
	// After the tracker's own, and the timeline's. Once.
	ActivityLanes finish();

private:
	struct Interval {
		std::uint64_t from, to;
		std::size_t lane; // place in lanes_
	};
	struct ThreadLane {
		std::size_t kind;
		const analyze::Thread *thread;
		Lane lane;
		std::uint32_t added = 0;
	};
	// Of one activity of a thread, until the one around them ends, or is known never to.
	struct Nested {
		std::vector<Interval> held;
		std::uint64_t not_held = 0; // for lack of memory
	};

	std::optional<std::size_t> lane_of(const activities::Finished &activity);
	void add(const Interval &interval);
	std::vector<Interval> take_from(Nested &nested, const Interval &outer);
	void keep_within();

	const analyze::ThreadFold &fold_;
	const activities::Tracker &tracker_;
	const Timeline &timeline_;
	std::size_t max_bytes_, held_ = 0, adds_ = 0;
	ActivityLanes made_;
	// A process by its first thread, or, if that is unknown, by its number.
	std::map<std::tuple<const analyze::Thread *, std::int32_t, std::uint32_t>, std::size_t> kinds_;
	std::vector<const analyze::Thread *> leaders_; // of the kinds
	std::map<std::pair<const analyze::Thread *, std::size_t>, std::size_t> places_;
	std::vector<ThreadLane> lanes_;
	std::map<std::pair<const analyze::Thread *, std::uint32_t>, Nested> nested_;
};

} // namespace monitor::view
