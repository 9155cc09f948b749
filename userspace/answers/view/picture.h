// SPDX-License-Identifier: MIT
// A trace for the page of `monitor view`: a description and its trustworthiness, its lanes and modes in parts, and
// tables of parts of the time. All times in the page are ticks since the picture's begin.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "activity_lanes.h"
#include "cases.h"
#include "groups.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "rows.h"
#include "scenes.h"
#include "timeline.h"
#include "window.h"

namespace monitor::analyze {
class ClockBound;
}

namespace monitor::view {

// Limits in bytes of the slices of threads' lanes; half as much for those of CPUs.
constexpr std::size_t max_slice_bytes = 64u << 20, max_window_bytes = 48u << 20;
constexpr std::size_t max_answer_bytes = 32u << 20; // of slices in one answer

// Which pictures are cached (picture_cache.h): those of traces that take longer to read.
struct CachePolicy {
	bool is_on = true;
	std::chrono::milliseconds after = std::chrono::seconds(1);
};

class Picture {
public:
	// Called from time to time with the picture so far, and the fraction of the trace read.
	using Progress = std::function<void(const Timeline &, double)>;

	// Reads the whole trace, or the cached picture (picture_cache.h). `layout`: for the animation. Throws Error.
	Picture(const std::vector<std::string> &directories, trace::Trace trace, const Progress &progress = {},
		const CachePolicy &caching = {}, std::optional<play::Layout> layout = {});

	// What the page needs first: an object.
	const nlohmann::ordered_json &about() const { return about_; }
	const Timeline &timeline() const { return *timeline_; }
	const Groups &groups() const { return groups_; }
	const Rows &rows() const { return rows_; }
	const ActivityLanes &activities() const { return activities_; }

	// Damaged packets, which were left out.
	const trace::Problems &problems() const { return trace_.problems(); }

	// Slices of lanes (tile.h) at any level: for levels that the picture does not keep, that part of the trace is
	// read again; if it is too large, the answer has the finest level kept. Throws Error. Called by any thread.
	std::string slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin, std::string_view lanes,
			   const IsOver &is_over) const;
	// Usage of the CPUs in a part of the time, as `monitor report --from --to`: {columns: [{key, title, unit}],
	// rows}. `by`: process, thread, command, cgroup or cpu; calls: durations of system calls; sleeps: calls and
	// wakers of sleeps. Throws Error. Called by any thread; reads the trace again.
	nlohmann::ordered_json table(std::uint64_t from_ticks, std::uint64_t to_ticks, const std::string &by,
				     const IsOver &is_over = {}) const;
	// The durations behind a table's row, and the longest (cases.h). Likewise.
	nlohmann::ordered_json cases(std::uint64_t from_ticks, std::uint64_t to_ticks, const CasesWanted &wanted,
				     const IsOver &is_over = {}) const;
	// Flame graphs of the part's stacks, as a page (answers/report/flame_graph.h). Likewise.
	std::string flame_page(std::uint64_t from_ticks, std::uint64_t to_ticks, const IsOver &is_over = {}) const;
	// Counters over the part, in `bins` intervals: {columns, rows, whole, every}; the first cell of a row is its
	// interval's number, intervals without a reading are missing. `whole`: a row for the whole part; `every`: ticks
	// per interval. Likewise.
	nlohmann::ordered_json lines(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins,
				     const IsOver &is_over = {}) const;
	// What a thread did in the part (story.h). `thread`: index in about().threads. Likewise.
	nlohmann::ordered_json story(std::uint64_t from_ticks, std::uint64_t to_ticks, std::size_t thread,
				     const IsOver &is_over = {}) const;
	// Scenes of the part (scenes.h). Likewise, but continues from the last scenes.
	nlohmann::ordered_json scenes(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned steps,
				      const IsOver &is_over = {}) const;

private:
	// Throws Error: the recording lacks the events for this.
	void expect_states(const analyze::EventKinds &kinds, bool of_calls) const;
	trace::TimeRange range_of(std::uint64_t from_ticks, std::uint64_t to_ticks) const;
	trace::Trace open_again() const;
	void load_or_read(const Progress &progress, const CachePolicy &caching);
	void read(const Progress &progress);
	// For the threads at these indices.
	nlohmann::ordered_json row_json(std::span<const std::uint32_t> indices) const;
	void describe(const analyze::ThreadFold &fold, const analyze::ClockBound &bound, const trace::Losses &losses);

	std::vector<std::string> directories_;
	trace::Trace trace_; // as it was read
	analyze::RecordingInfo info_;
	std::string identity_; // of its files (picture_cache.h)
	std::unique_ptr<Timeline> timeline_;
	Rows rows_;
	Groups groups_;
	ActivityLanes activities_;
	nlohmann::ordered_json about_;
	std::map<std::string, nlohmann::ordered_json> whole_tables_; // of the whole time, by `by` of table()
	mutable Scenes scenes_;
};

} // namespace monitor::view
