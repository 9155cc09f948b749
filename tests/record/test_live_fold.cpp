// SPDX-License-Identifier: MIT
// The windows of a fold whose blocks come while they are written (answers/live/): each as a recording of the same
// events that ended there.
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/live/refresh.h"
#include "live_folding.h"
#include "window_figures.h"

namespace test_live_fold {

using namespace windows;
using namespace live_folding;

TEST_CASE("live fold: windows of blocks in memory are those of recordings that end there")
{
	std::mt19937 random(60);
	std::size_t windows = 0;
	for (int round = 0; round < 200; ++round) {
		std::uint64_t time = 100;
		History history = random_history(random, time);
		if (round % 2)
			list_one(history, random);
		trace::Trace trace = samples::trace(history.all(), events);
		const std::uint64_t begin = 60 + random() % 80;
		std::uint64_t from = begin, last = 0;
		LiveFold *made = nullptr;
		LiveFold fold(90 + random() % 400, [&] {
			const ThreadFold &thread_fold = made->thread_fold();
			CHECK(thread_fold.window_begin() == from);
			const std::uint64_t to = thread_fold.window_end();
			INFO("round " << round << ", from " << from << " to " << to);
			const Figures live = figures(thread_fold),
				      witness = cut_off(trace, make_info(begin, to, true, false), from, to);
			CHECK(live.threads == witness.threads);
			CHECK(live.cpus == witness.cpus);
			from = last = to;
			++windows;
		});
		made = &fold;
		fold.start(start_at(begin, events));
		feed_all(fold, history.all(), trace.description(), time + 10, random);
		CHECK(last == time + 10);
	}
	CHECK(windows > 1000);
}

TEST_CASE("live fold: counts of events, and a loss, are of the window that they are in")
{
	History history;
	history.posts(0, 90, EDC_ID_SYS_ENTER, 39); // not all probes are attached
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_EXIT);
	history.posts(0, 199, EDC_ID_SYS_ENTER, 39);
	history.posts(0, 200, EDC_ID_SYS_EXIT);
	history.posts(0, 290, EDC_ID_SYS_ENTER, 39);
	history.cpu(0).open(350, 5);
	history.switches(0, 360, 0, running, 7);
	history.posts(0, 370, EDC_ID_SYS_EXIT);
	history.posts(0, 450, EDC_ID_SYS_ENTER, 39);
	std::vector<std::string> reported;
	LiveFold *made = nullptr;
	LiveFold fold(100, [&] {
		reported.push_back(fmt::format("{}: {} calls of {} events{}", made->thread_fold().window_end(),
					       made->count("sys_enter"), made->count(),
					       made->has_losses() ? ", lossy" : ""));
	});
	made = &fold;
	fold.start(start_at(100, events));
	std::mt19937 random(1);
	feed_all(fold, history.all(), *samples::description(events), 500, random);
	CHECK(reported == std::vector<std::string>{"200: 1 calls of 3 events", "300: 1 calls of 2 events, lossy",
						   "400: 0 calls of 2 events, lossy", "500: 1 calls of 1 events"});
}

TEST_CASE("live fold: who waits for the next window returns when none is made any more")
{
	monitor::live::Refreshes refreshes(100);
	std::thread ending([&] { refreshes.end(); });
	CHECK_FALSE(refreshes.next(0, std::chrono::hours(1)));
	ending.join();
	CHECK_FALSE(refreshes.next(0, std::chrono::hours(1)));
}

TEST_CASE("live fold: details are of what is followed, from the next window on")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	for (std::uint64_t at = 110; at < 500; at += 20) {
		history.posts(0, at, EDC_ID_SYS_ENTER, at < 300 ? 39 : 40);
		history.posts(0, at + 5, EDC_ID_SYS_EXIT);
	}
	history.switches(0, 500, 7, sleeping, 8);
	history.wakes(0, 550, 7);
	history.switches(0, 560, 8, sleeping, 7);
	live::Refreshes refreshes(100);
	refreshes.keep_all();
	live::Wanted wanted;
	wanted.followed = 8;
	refreshes.want(wanted);
	refreshes.fold()->start(start_at(100, events));
	wanted.followed = 7;
	refreshes.want(wanted);
	std::mt19937 random(1);
	feed_all(*refreshes.fold(), history.all(), *samples::description(events), 600, random);
	std::vector<std::string> reported;
	for (const auto &refresh : all_of(refreshes)) {
		CHECK(refresh->followed == (refresh->number == 1 ? 8 : 7));
		for (const report::Table *table : {&refresh->calls, &refresh->sleeps})
			for (const auto &row : table->rows) {
				std::string text = fmt::format("{}:", refresh->number);
				for (std::size_t i = 0; i < row.size(); ++i)
					text += " " + report::cell_text(row[i], table->columns[i].unit);
				reported.push_back(text);
			}
	}
	CHECK(reported == std::vector<std::string>{"2: 39 5 0 25 ns 5 ns 5 ns", "3: 40 5 0 25 ns 5 ns 5 ns",
						   "4: 40 5 0 25 ns 5 ns 5 ns", "5: no call thread 8 1 50 ns 50 ns"});
}

} // namespace test_live_fold
