// SPDX-License-Identifier: MIT
// Activities of programs in the windows of a fold whose blocks come while they are written: those that a fold of all
// blocks has in that part of the time; and threads that have ended are known no more.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "activity_history.h"
#include "answers/live/refresh.h"
#include "live_folding.h"
#include "reading/activities/totals.h"

namespace test_live_activities {

using namespace monitor;
using namespace activity_history;
using namespace live_folding;

namespace {

constexpr std::uint64_t running = 0, sleeping = 1, dead = 16;

// Each thread marks activities within each other, and ends all that it began; `is_nesting`: also within their like.
void marks_at_random(History &history, std::mt19937 &random, std::uint64_t &time, bool is_nesting, bool has_losses)
{
	std::vector<std::vector<unsigned>> open(3);
	history.switches(6, 0, running, 7); // of threads of which nothing is known it would be asked whether they exist
	history.switches(7, 7, sleeping, 8);
	history.switches(8, 8, sleeping, 9);
	for (int i = 0; i < 150; ++i) {
		const std::size_t place = random() % open.size();
		std::vector<unsigned> &begun = open[place];
		const auto tid = static_cast<std::uint32_t>(7 + place);
		const unsigned begin = random() % 2 ? a_begin : b_begin;
		time += 1 + random() % 20;
		if (has_losses && random() % 25 == 0)
			history.open(0, time, 7, 1 + random() % 3);
		if (history.streams[1].room() < 100)
			history.open(0, time, 7);
		const bool may_begin = is_nesting || std::ranges::find(begun, begin) == begun.end();
		if (may_begin && begun.size() < 4 && random() % 2) {
			begun.push_back(begin);
			history.posts(time, begin, static_cast<unsigned>(random() % 3), tid);
		} else if (!begun.empty()) {
			history.posts(time, begun.back() == a_begin ? a_end : b_end, 0, tid);
			begun.pop_back();
		}
	}
	for (std::size_t place = 0; place < open.size(); ++place)
		for (; !open[place].empty(); open[place].pop_back())
			history.posts(time += 3, open[place].back() == a_begin ? a_end : b_end, 0,
				      static_cast<std::uint32_t>(7 + place));
	time += 10;
}

std::string text_of(const report::Table &table)
{
	std::string text;
	for (const auto &row : table.rows) {
		for (std::size_t i = 0; i < row.size(); ++i)
			text += (i ? " " : "") + report::cell_text(row[i], table.columns[i].unit);
		text += '\n';
	}
	return text;
}

std::string shown(std::uint64_t ticks)
{
	return report::duration_text(static_cast<double>(ticks));
}

std::string in_time(trace::Trace &trace, std::uint64_t from, std::uint64_t to)
{
	analyze::RecordingInfo info;
	info.present = true;
	info.state = "complete";
	info.start.time = 5;
	info.programs = {"sched_switch", "sched_waking"};
	analyze::ThreadFold thread_fold(trace, info, {{from, to - 1}, {}, {}});
	activities::Tracker tracker(analyze::input_of(trace, info), thread_fold, {});
	activities::Totals totals({activities::ActivitySource::program, {activities::Label::activity}}, thread_fold,
				  tracker);
	tracker.add(totals);
	thread_fold.add(tracker);
	analyze::feed(trace, thread_fold);
	tracker.finish();
	std::string text;
	for (const activities::TotalsRow &row : totals.rows())
		text += fmt::format("{} {} {} {} {}\n", row.parts[0].text, row.count, shown(row.total.ticks),
				    shown(row.mean), row.has_lengths ? shown(row.max) : "-");
	return text;
}

record::LiveStart start_with_programs(const std::string &description)
{
	record::LiveStart start = start_at(5, description);
	start.has_more_classes = true;
	return start;
}

} // namespace

TEST_CASE("live activities: each window has what a fold of all has in that time")
{
	std::mt19937 random(62);
	std::size_t windows = 0, with_some = 0;
	for (int round = 0; round < 60; ++round) {
		History history;
		std::uint64_t end = 10;
		marks_at_random(history, random, end, round % 3 == 0, round % 3 == 1);
		trace::Trace trace = samples::trace(history.streams, events);
		live::Refreshes refreshes(60 + random() % 300);
		refreshes.keep_all();
		live::Wanted wanted;
		wanted.followed = 7;
		refreshes.want(wanted);
		refreshes.fold()->start(start_with_programs(events));
		feed_all(*refreshes.fold(), history.streams, *samples::description(events), end, random);
		for (const auto &refresh : all_of(refreshes)) {
			INFO("round " << round << ", " << refresh->begin_ticks << " to " << refresh->end_ticks);
			REQUIRE(refresh->activities);
			const std::string live = text_of(*refresh->activities);
			CHECK(live == in_time(trace, refresh->begin_ticks, refresh->end_ticks));
			++windows;
			with_some += !live.empty();
		}
	}
	CHECK(windows > 300);
	CHECK(with_some > 200);
}

TEST_CASE("live activities: those of the followed thread, from the next window on")
{
	History history;
	history.switches(6, 0, running, 7);
	history.switches(6, 7, sleeping, 8);
	for (std::uint64_t time = 0; time < 400; time += 100)
		for (const std::uint64_t at : {0, 37})
			for (const std::uint32_t tid : {7u, 8u})
				history.posts(time + at + tid, at ? a_end : a_begin, 0, tid);
	live::Refreshes refreshes(100);
	refreshes.keep_all();
	live::Wanted wanted;
	wanted.followed = 7;
	refreshes.want(wanted);
	refreshes.fold()->start(start_with_programs(events));
	wanted.thread = 8;
	refreshes.want(wanted);
	std::mt19937 random(1);
	feed_all(*refreshes.fold(), history.streams, *samples::description(events), 405, random);
	std::vector<std::string> reported;
	for (const auto &refresh : all_of(refreshes))
		reported.push_back(text_of(*refresh->activities));
	CHECK(reported == std::vector<std::string>{"a 2 74 ns 37 ns 37 ns\n", "a 1 37 ns 37 ns 37 ns\n",
						   "a 1 37 ns 37 ns 37 ns\n", "a 1 37 ns 37 ns 37 ns\n"});
}

TEST_CASE("live activities: none are known where programs are not recorded")
{
	History history;
	history.posts(110, a_begin);
	history.posts(120, a_end);
	live::Refreshes refreshes(100);
	refreshes.keep_all();
	refreshes.fold()->start(start_at(5, events));
	std::mt19937 random(1);
	feed_all(*refreshes.fold(), history.streams, *samples::description(events), 205, random);
	CHECK_FALSE(refreshes.next(0, std::chrono::milliseconds(0))->activities);
	CHECK(refreshes.fold()->tracker() == nullptr);
}

TEST_CASE("live activities: threads that have ended are known no more, whatever they had begun")
{
	History history;
	std::uint64_t time = 10;
	std::uint32_t tid = 100;
	constexpr int ended = 3000;
	for (int i = 0; i < ended; ++i, tid = 100 + (tid - 99) % 500) {
		if (i % 50 == 49) { // packets have an end
			history.open(0, time, 7);
			history.streams[0].open(time, 0);
		}
		history.switches(time += 5, 0, running, tid);
		history.posts(time += 2, a_begin, 0, tid);
		history.posts(time += 2, b_begin, 0, tid);
		history.posts(time += 2, b_end, 0, tid);
		if (i % 2)
			history.posts(time += 2, a_end, 0, tid);
		history.switches(time += 5, tid, dead, 0);
	}
	live::Refreshes refreshes(1000);
	refreshes.keep_all();
	live::Wanted wanted;
	wanted.followed = 7;
	std::size_t most = 0;
	std::uint64_t count = 0;
	refreshes.want(wanted);
	refreshes.fold()->start(start_with_programs(events));
	Taker taker{*refreshes.fold()};
	const auto description = samples::description(events);
	live_feed::Feed feed(history.streams, *description);
	for (std::uint64_t now = 0; now < time; now += 100) {
		REQUIRE(feed.offer(taker, now));
		REQUIRE(refreshes.fold()->advance(now));
		most = std::max(most, refreshes.fold()->tracker()->threads());
	}
	refreshes.fold()->set_window_end(time);
	REQUIRE(feed.offer(taker, ~std::uint64_t(0)));
	CHECK(refreshes.fold()->finish().late == 0);
	for (const auto &refresh : all_of(refreshes))
		for (const auto &row : refresh->activities->rows)
			count += std::get<std::uint64_t>(row[1]);
	CHECK(count == ended + ended / 2); // a and b
	CHECK(most < 150);                 // those of a window, and the next
	CHECK(refreshes.fold()->tracker()->threads() < 5);
	// What they had begun has no end, also for whoever has their number next.
	CHECK(refreshes.fold()->tracker()->unpaired().begins == ended / 2);
	CHECK(refreshes.fold()->tracker()->unpaired().ends == 0);
}

} // namespace test_live_activities
