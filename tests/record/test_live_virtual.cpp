// SPDX-License-Identifier: MIT
// Times as if nobody measured, in the windows of a fold whose blocks come while they are written: those that are
// computed from all events in that part of the time.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "answers/live/refresh.h"
#include "answers/top/columns.h"
#include "answers/top/text.h"
#include "live_folding.h"
#include "window_figures.h"

namespace test_live_virtual {

using namespace windows;
using namespace live_folding;

namespace {

constexpr const char *calibrated = R"(, "calibration": {"start": {
	"syscall": {"low": 1.5, "median": 2, "high": 2.25, "off_difference": 0.01, "rounds": 22},
	"sched": {"low": 2.5, "median": 3, "high": 3.5, "off_difference": 0.02, "rounds": 22}}})";

using Removed = std::map<std::int32_t, std::vector<double>>; // by thread

Removed removed(const ThreadFold &thread_fold, const cost::VirtualTimes &times)
{
	Removed all;
	for (const analyze::Thread &thread : thread_fold.threads())
		for (std::size_t i = 0; i < cost::bounds; ++i) {
			const cost::RemovedTimes of = times.removed(thread, static_cast<cost::Bound>(i));
			if (of.running != 0 || of.waiting != 0 || of.blocked != 0)
				all[thread.tid].insert(all[thread.tid].end(), {of.running, of.waiting, of.blocked});
		}
	return all;
}

Removed removed_until(trace::Trace &trace, const cost::VirtualCost &cost, std::uint64_t begin, std::uint64_t from,
		      std::uint64_t to)
{
	analyze::RecordingInfo info = make_info(begin, to, true, false);
	info.recorder.pid = ::getpid();
	ThreadFold thread_fold(trace, info, {{from, to - 1}, {}, {}});
	cost::VirtualTimes times(thread_fold, info, cost);
	thread_fold.add(times);
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    if (event.time >= to)
			    return;
		    thread_fold.event(event);
		    times.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t gap_from, std::uint64_t until, std::uint64_t) {
		    if (gap_from < to)
			    thread_fold.gap(stream, gap_from, until);
	    });
	return removed(thread_fold, times);
}

std::vector<std::string> texts_of(const live::Refresh &refresh)
{
	std::vector<std::string> texts;
	for (const auto &row : refresh.rows.rows) {
		std::string text = top::name_of_row(row);
		for (const top::FigureColumn &column : top::figure_columns({}, true))
			if (column.name.starts_with("virtual"))
				text += " " + column.text(refresh, row);
		texts.push_back(text);
	}
	return texts;
}

} // namespace

TEST_CASE("live virtual times: each window has what is computed from all events of that time")
{
	std::mt19937 random(19);
	std::size_t windows = 0, threads = 0;
	for (int round = 0; round < 100; ++round) {
		std::uint64_t time = 100;
		History history = random_history(random, time);
		trace::Trace trace = samples::trace(history.all(), events);
		const std::uint64_t begin = 60 + random() % 80;
		LiveFold *made = nullptr;
		LiveFold fold(90 + random() % 400, [&] {
			const live::VirtualFold &now = *made->virtual_times();
			CHECK(now.is_known() == !made->has_losses());
			if (!now.is_known())
				return;
			const ThreadFold &thread_fold = made->thread_fold();
			const std::uint64_t from = thread_fold.window_begin(), to = thread_fold.window_end();
			INFO("round " << round << ", from " << from << " to " << to);
			const Removed live = removed(thread_fold, now.times());
			CHECK(live == removed_until(trace, now.cost(), begin, from, to));
			++windows;
			threads += live.size();
		});
		made = &fold;
		fold.compensate();
		fold.start(start_at(begin, events, calibrated));
		CHECK(fold.virtual_times()->cost().why_not.empty());
		feed_all(fold, history.all(), trace.description(), time + 10, random);
	}
	CHECK(windows > 300);
	CHECK(threads > 1000);
}

TEST_CASE("live virtual times: rows have them with their range, and after a loss none")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	for (std::uint64_t at = 1'000; at < 12'000; at += 1'000) {
		history.posts(0, at, EDC_ID_SYS_ENTER, 39);
		history.posts(0, at + 500, EDC_ID_SYS_EXIT);
	}
	history.cpu(0).open(15'000, 5);
	history.switches(0, 15'000, 7, sleeping, 8);
	live::Refreshes refreshes(10'000);
	refreshes.keep_all();
	refreshes.compensate();
	refreshes.fold()->start(start_at(100, events, calibrated));
	CHECK(refreshes.why_not_virtual().empty());
	std::mt19937 random(1);
	feed_all(*refreshes.fold(), history.all(), *samples::description(events), 30'100, random);
	const auto all = all_of(refreshes);
	REQUIRE(all.size() == 3);
	// Of 10 us 19 events had 2.2 ns each, and a switch 3.3; half of the CPUs were busy.
	CHECK(texts_of(*all[0]) == std::vector<std::string>{"? 99.6 83.6 112.7 0.0"});
	CHECK(texts_of(*all[1]) == std::vector<std::string>{"? - - - -", "? - - - -"});
	CHECK(top::virtual_text(*all[1]) ==
	      "virtual times: unknown, as events were lost, and what they cost with them");
	const auto json = nlohmann::json::parse(top::refresh_json(*all[1], {}));
	CHECK(json["virtual"]["known"] == false);
	CHECK(json["rows"][0]["virtual_cpu_ns"].is_null());
}

TEST_CASE("live virtual times: what is not calibrated is refused with the reason")
{
	live::Refreshes refreshes(100);
	refreshes.compensate();
	refreshes.fold()->start(start_at(100, events));
	CHECK(refreshes.why_not_virtual() == "it is not known what an event cost: record without --no-calibration");
	CHECK_FALSE(refreshes.fold()->virtual_times()->is_known());
}

} // namespace test_live_virtual
