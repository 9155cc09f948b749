// SPDX-License-Identifier: MIT
// Feeds a LiveFold with what streams hold, as a recorder would. Used by test_live_*.cpp and test_metrics.cpp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/live/refresh.h"
#include "live_feed.h"

namespace live_folding {

using monitor::live::LiveFold;

// live_feed.h offers packets.
struct Taker {
	monitor::record::BlockSink &sink;

	bool take(std::uint32_t number, const std::string &name, monitor::trace::LiveStreams::Packet packet)
	{
		return sink.take(number, name, packet.data());
	}
	void lose(std::uint32_t number) { sink.lose(number); }
};

// `more`: of recording.json.
inline monitor::record::LiveStart start_at(std::uint64_t begin, const std::string &events, const std::string &more = "")
{
	monitor::record::LiveStart start;
	start.description = samples::description_text(events);
	start.recording =
	    fmt::format(R"({{"start": {{"time": {}}}, "programs": ["sched_waking", "sys_enter", "sys_exit",
		"page_fault_user", "minor_fault", "sched_switch", "irq_handler_entry", "softirq_entry"]{}}})",
			begin, more);
	start.cpus = {0, 1};
	return start;
}

// What was written until then, in passes of random lengths, after each of which `look` is called; then the end.
inline void feed_all(
    LiveFold &fold, std::vector<samples::StreamWriter> &streams, const monitor::trace::Description &description,
    std::uint64_t end, std::mt19937 &random, const std::function<void()> &look = [] {})
{
	Taker taker{fold};
	live_feed::Feed feed(streams, description);
	for (std::uint64_t now = 0; now < end; now += 1 + random() % 200) {
		REQUIRE(feed.offer(taker, now));
		REQUIRE(fold.advance(now));
		look();
	}
	fold.set_window_end(end);
	REQUIRE(feed.offer(taker, ~std::uint64_t(0)));
	const monitor::record::LiveEnd reported = fold.finish();
	CHECK(reported.time == end);
	CHECK(reported.late == 0);
}

// All that were made, the oldest first.
inline std::vector<std::shared_ptr<const monitor::live::Refresh>> all_of(monitor::live::Refreshes &refreshes)
{
	std::vector<std::shared_ptr<const monitor::live::Refresh>> all;
	while (const auto next = refreshes.next(all.empty() ? 0 : all.back()->number, std::chrono::milliseconds(0)))
		all.push_back(next);
	return all;
}

// The same, where stacks are named in another thread: until that of the window that ended at `end`.
inline std::vector<std::shared_ptr<const monitor::live::Refresh>> all_of_named(monitor::live::Refreshes &refreshes,
									       std::uint64_t end)
{
	std::vector<std::shared_ptr<const monitor::live::Refresh>> all;
	while (all.empty() || all.back()->end_ticks < end) {
		const auto next =
		    refreshes.next(all.empty() ? 0 : all.back()->number, std::chrono::milliseconds(10'000));
		if (!next)
			break;
		all.push_back(next);
	}
	return all;
}

} // namespace live_folding
