// SPDX-License-Identifier: MIT
// Windows of a fold that goes on (ThreadFold::end_window): each has what a recording that ended there has, and threads
// that have ended leave it.
#include <algorithm>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "window_figures.h"

namespace test_windows {

using namespace monitor;
using namespace history;
using namespace windows;

namespace {

// Feeds all, and calls at_end(cut) at the end of each window.
template <class AtEnd>
void feed(trace::Trace &trace, ThreadFold &fold, const std::vector<std::uint64_t> &cuts, AtEnd at_end)
{
	std::size_t next = 0;
	const auto pass = [&](std::uint64_t time) {
		for (; next < cuts.size() && time >= cuts[next]; ++next) {
			fold.end_window(cuts[next]);
			at_end(cuts[next]);
			fold.begin_window();
		}
	};
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    pass(event.time);
		    fold.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    pass(from);
		    fold.gap(stream, from, to);
	    });
	pass(~std::uint64_t(0));
}

} // namespace

TEST_CASE("windows: each has what a recording that ended there has")
{
	std::mt19937 random(1987);
	for (int round = 0; round < 200; ++round) {
		std::uint64_t time = 0;
		History history = random_history(random, time);
		if (round % 2)
			list_one(history, random);
		trace::Trace trace = samples::trace(history.all(), events);
		const std::uint64_t begin = random() % 40;
		ThreadFold fold(trace, info_until(begin, ~std::uint64_t(0)));
		std::uint64_t from = begin;
		feed(trace, fold, random_cuts(random, begin, time), [&](std::uint64_t cut) {
			INFO("round " << round << ", from " << from << " to " << cut);
			CHECK(fold.window_begin() == from);
			CHECK(fold.window_end() == cut);
			const Figures live = figures(fold), witness = cut_off(trace, info_until(begin, cut), from, cut);
			CHECK(live.threads == witness.threads);
			CHECK(live.cpus == witness.cpus);
			for (const analyze::Cpu &cpu : fold.cpus())
				CHECK(cpu.usage.cpu() + cpu.idle == cut - from);
			from = cut;
		});
	}
}

TEST_CASE("windows: threads that have ended leave the fold, and nothing else changes")
{
	std::mt19937 random(7);
	std::uint64_t time = 10;
	History history;
	std::int32_t number = 100;
	// A process of two threads, of which the first one ends before the other.
	const auto born = [&](std::int32_t tid, std::int32_t tgid) {
		history.cpu(0).post(time += 5, EDC_ID_SCHED_WAKEUP_NEW, 0,
				    {pair(tid, tgid), pair(1, 120), 0x61 + static_cast<std::uint64_t>(tid), 0});
	};
	for (int i = 0; i < 300; ++i, number = 100 + (number - 98) % 40) {
		if (i % 10 == 9)
			history.cpu(0).open(time, 0);
		born(number, number);
		born(number + 1, number);
		for (const std::int32_t tid : {number, number + 1}) {
			history.switches(0, time += 10, 0, running, tid);
			history.posts(0, time += 10, EDC_ID_SYS_ENTER, 1);
			history.posts(0, time += random() % 10, EDC_ID_SYS_EXIT);
			history.switches(0, time += 10, tid, dead, 0);
		}
	}
	trace::Trace trace = samples::trace(history.all(), events);
	std::vector<std::uint64_t> cuts;
	for (std::uint64_t cut = 37; cut < time; cut += 211)
		cuts.push_back(cut);
	std::vector<Figures> kept, forgotten;
	const analyze::RecordingInfo info = info_until(0, ~std::uint64_t(0));
	ThreadFold all(trace, info), some(trace, info);
	feed(trace, all, cuts, [&](std::uint64_t) { kept.push_back(figures(all)); });
	std::size_t most = 0;
	feed(trace, some, cuts, [&](std::uint64_t) {
		forgotten.push_back(figures(some));
		for (const analyze::Thread &thread : some.threads())
			if (thread.selected && thread.tid >= 100)
				CHECK(some.leader(thread).tid == thread.tgid); // it has a name as long as it is needed
		some.forget([](const analyze::Thread &) { return false; });
		most = std::max(most, some.threads().size());
	});
	CHECK(kept == forgotten);
	CHECK(all.threads().size() > 600);
	CHECK(most < 20);
}

TEST_CASE("windows: a thread whose end was lost is forgotten when it is said to be gone")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.switches(0, 200, 7, sleeping, 8);
	history.cpu(0).open(300, 5);
	history.switches(0, 400, 0, running, 9);
	trace::Trace trace = samples::trace(history.all(), events);
	ThreadFold fold(trace, info_until(50, ~std::uint64_t(0)));
	std::vector<std::int32_t> asked;
	const auto is_gone = [&](const analyze::Thread &thread) {
		asked.push_back(thread.tid);
		return thread.tid == 7;
	};
	feed(trace, fold, {250, 500}, [&](std::uint64_t) { fold.forget(is_gone); });
	CHECK(asked == std::vector<std::int32_t>{7, 8, 8}); // after the loss; 9 runs
	CHECK(fold.thread(7) == nullptr);
	CHECK(fold.thread(8) != nullptr);
}

} // namespace test_windows
