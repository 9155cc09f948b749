// SPDX-License-Identifier: MIT
// A trace as the page of `monitor view` wants it: what it is and how far it can be trusted, its lanes and modes in
// parts, and tables of a part of the time. All times that the page sees are ticks since the picture's begin.
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

// Bytes for the slices of the lanes of threads, and half as much for those of CPUs.
constexpr std::size_t max_slice_bytes = 64u << 20, max_window_bytes = 48u << 20;
constexpr std::size_t max_answer_bytes = 32u << 20; // of slices at once

// Whether pictures are kept (picture_cache.h): those of traces that take longer to read.
struct Keeping {
	bool is_on = true;
	std::chrono::milliseconds after = std::chrono::seconds(1);
};

class Picture {
public:
	// What there is so far, and which part of the trace it is: called now and then.
	using Progress = std::function<void(const Timeline &, double)>;

	// Reads the whole trace, or what was kept of it (picture_cache.h). `layout`: of the animation. Throws Error.
	Picture(const std::vector<std::string> &directories, trace::Trace trace, const Progress &progress = {},
		const Keeping &keeping = {}, std::optional<play::Layout> layout = {});

	// What the page has to know first: an object.
	const nlohmann::ordered_json &about() const { return about_; }
	const Timeline &timeline() const { return *timeline_; }
	const Groups &groups() const { return groups_; }
	const Rows &rows() const { return rows_; }
	const ActivityLanes &activities() const { return activities_; }

	// Damaged packets, which were left out.
	const trace::Problems &problems() const { return trace_.problems(); }

	// Slices of lanes (tile.h) at any level: of those that the picture does not keep, the part is read again. Where
	// that is too much at once, they are those of the finest level that is not. Throws Error. Any thread.
	std::string slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin, std::string_view lanes,
			   const IsOver &is_over) const;
	// Who had the CPUs in a part of the time, as `monitor report --from --to`: {columns: [{key, title, unit}],
	// rows}. `by`: process, thread, command, cgroup or cpu; calls: which system calls took how long; sleeps: what
	// threads slept in, and who woke them. Throws Error. Any thread; reads the trace again.
	nlohmann::ordered_json table(std::uint64_t from_ticks, std::uint64_t to_ticks, const std::string &by,
				     const IsOver &is_over = {}) const;
	// How long what the rows are about took each time, and the longest (cases.h). Likewise.
	nlohmann::ordered_json cases(std::uint64_t from_ticks, std::uint64_t to_ticks, const CasesWanted &wanted,
				     const IsOver &is_over = {}) const;
	// Flame graphs of the stacks that were taken then, as a page (answers/report/flame_graph.h). Likewise.
	std::string flame_page(std::uint64_t from_ticks, std::uint64_t to_ticks, const IsOver &is_over = {}) const;
	// What was counted then, by parts of the time, `bins` of them: {columns, rows, whole, every}; of a row the
	// first cell is its part's number, parts without a reading are missing. `whole`: a row of all the time;
	// `every`: ticks of a part. Likewise.
	nlohmann::ordered_json lines(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins,
				     const IsOver &is_over = {}) const;
	// What a thread did then (story.h). `thread`: as in about().threads. Likewise.
	nlohmann::ordered_json story(std::uint64_t from_ticks, std::uint64_t to_ticks, std::size_t thread,
				     const IsOver &is_over = {}) const;
	// Moments of it (scenes.h). Likewise, but from where the last ones were.
	nlohmann::ordered_json scenes(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned steps,
				      const IsOver &is_over = {}) const;

private:
	// Throws Error: it cannot be known from this recording.
	void expect_states(const analyze::EventKinds &kinds, bool of_calls) const;
	trace::TimeRange range_of(std::uint64_t from_ticks, std::uint64_t to_ticks) const;
	trace::Trace open_again() const;
	void read_or_find(const Progress &progress, const Keeping &keeping);
	void read(const Progress &progress);
	// Of the threads at these places.
	nlohmann::ordered_json row_json(std::span<const std::uint32_t> places) const;
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
	std::map<std::string, nlohmann::ordered_json> whole_; // tables of all the time
	mutable Scenes scenes_;
};

} // namespace monitor::view
