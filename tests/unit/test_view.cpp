// SPDX-License-Identifier: MIT
// The picture of a trace: what its levels of detail keep, and that its sums are those of the fold.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/view/lane.h"
#include "answers/view/rows.h"
#include "answers/view/tile.h"
#include "answers/view/timeline.h"
#include "answers/view/view.h"
#include "history.h"
#include "reading/analyze/thread_fold.h"

namespace test_view {

using namespace monitor;
using view::Lane;
using view::Slice;

namespace {

constexpr std::uint64_t base = 256;

std::uint64_t busy(const std::vector<Slice> &slices)
{
	std::uint64_t sum = 0;
	for (const Slice &slice : slices)
		sum += slice.busy;
	return sum;
}

std::uint64_t busy(const Lane &lane, unsigned level)
{
	return busy(lane.slices(level));
}

std::uint64_t count(const Lane &lane, unsigned level)
{
	std::uint64_t sum = 0;
	for (const Slice &slice : lane.slices(level))
		sum += slice.count;
	return sum;
}

} // namespace

TEST_CASE("view: a page wants the request with its largest number, whatever arrives last")
{
	view::LatestRequests wanted;
	const auto ask = [&](const char *path, const char *page, const char *number) {
		HttpRequest request{path, {{"page", page}}, ""};
		if (*number)
			request.query["request"] = number;
		return wanted.next(request);
	};
	const view::IsOver second = ask("/scenes", "1", "2"), first = ask("/scenes", "1", "1");
	CHECK(first());
	CHECK_FALSE(second());
	CHECK_FALSE(ask("/story", "1", "1")());
	CHECK_FALSE(ask("/scenes", "2", "1")());
	const view::IsOver third = ask("/scenes", "1", "3");
	CHECK(second());
	CHECK_FALSE(third());
	const view::IsOver before = ask("/scenes", "3", ""), after = ask("/scenes", "3", "");
	CHECK(before());
	CHECK_FALSE(after());
	CHECK_THROWS_AS(ask("/scenes", "1", "x"), Error);
	wanted.stop();
	CHECK(third());
}

TEST_CASE("view: every level of a lane has all of its time, in order, about one slice in each bin")
{
	std::mt19937 random(7);
	for (int round = 0; round < 100; ++round) {
		Lane lane(base);
		std::uint64_t time = random() % 1000, sum = 0, slices = 0;
		const int number = round % 2 ? 2000 : round % 40; // also so few that it has no levels
		for (int i = 0; i < number; ++i) {
			const std::uint64_t length = 1 + (std::uint64_t(1) << random() % 16) + random() % 100;
			time += random() % 3 ? 0 : random() % 5000;
			lane.add(time, time + length, static_cast<std::uint32_t>(i % 2 + 2 * (random() % 3)));
			time += length;
			sum += length;
			++slices;
		}
		lane.finish();
		CHECK(lane.busy() == sum);
		for (unsigned level = 0; level < view::levels; ++level) {
			CHECK(busy(lane, level) == sum);
			CHECK(count(lane, level) == count(lane, 0));
			std::uint64_t end = 0;
			bool in_order = true;
			for (const Slice &slice : lane.slices(level)) {
				in_order &= slice.bins >= 1 && std::uint64_t(slice.bin) + 1 >= end &&
					    slice.bin + slice.bins >= end;
				end = std::uint64_t(slice.bin) + slice.bins;
			}
			CHECK(in_order);
			CHECK(lane.slices(level).size() <= 2 * (time / (base << 2 * level) + 1));
		}
		CHECK(count(lane, 0) <= slices); // neighbours of one key are one slice
	}
}

TEST_CASE("view: a slice at least a bin wide stays as it is, shorter ones become whose most of them is")
{
	Lane lane(base);
	lane.add(0, 1000, 1);    // exact at level 0
	lane.add(1024, 1034, 2); // three short ones in bin 4
	lane.add(1034, 1134, 3);
	lane.add(1134, 1140, 2);
	lane.add(1140, 1150, 2); // continues it
	lane.add(2000, 2100, 4); // its middle is in bin 8
	lane.add(2050, 2060, 5); // overlaps what was added before: dropped
	lane.finish();
	const auto level = lane.slices(0);
	REQUIRE(level.size() == 3);
	CHECK((level[0].bin == 0 && level[0].bins == 3 && level[0].key == 1 && level[0].count == 1 &&
	       level[0].busy == 1000));
	CHECK((level[1].bin == 4 && level[1].bins == 1 && level[1].key == 3 && level[1].count == 3 &&
	       level[1].busy == 126));
	CHECK((level[2].bin == 8 && level[2].key == 4 && level[2].count == 1 && level[2].busy == 100));
	const auto coarse = lane.slices(2); // bins of 4096 ticks
	REQUIRE(coarse.size() == 1);
	CHECK((coarse[0].key == 1 && coarse[0].busy == 1226 && coarse[0].count == 5));
	CHECK(lane.slices(0, 4, 9).size() == 2);
	CHECK(lane.slices(0, 2, 3).size() == 1); // reaches in
	CHECK(lane.slices(0, 3, 4).empty());
}

TEST_CASE("view: levels that are given up leave the others")
{
	Lane lane(base);
	for (std::uint64_t time = 0; time < 1'000'000; time += 500)
		lane.add(time, time + 300, static_cast<std::uint32_t>(time));
	lane.drop_below(2);
	for (std::uint64_t time = 1'000'000; time < 2'000'000; time += 500)
		lane.add(time, time + 300, static_cast<std::uint32_t>(time));
	lane.finish();
	CHECK(lane.slices(0).empty());
	CHECK(lane.slices(1).empty());
	CHECK(busy(lane, 2) == 4000 * 300);
	CHECK(busy(lane, 9) == 4000 * 300);
}

namespace {

// Two CPUs switch between six threads, in packets of a few tokens. Who runs where at the end of each packet is in the
// next.
history::History some_schedule(std::mt19937 &random, std::uint64_t &time, bool has_moves = false)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	history::History history;
	history.streams.reserve(5);
	history.cpu(1);
	for (const std::uint32_t cpu : {0u, 1u}) {
		history.streams.emplace_back(cpu, 1);
		history.streams.back().open(0);
	}
	constexpr std::int32_t tids = 6;
	std::array<std::int32_t, 2> runs{};
	std::array<bool, tids + 1> is_ready{};
	is_ready[tids] = true; // as the list of threads says, which is old in every part
	for (std::int32_t tid = 1; tid <= tids; ++tid)
		history.lists(time, tid, tid == tids ? history::running : history::sleeping, EDC_NO_SYSCALL, 0);
	for (int i = 0; i < 3000; ++i) {
		time += 1 + below(i % 100 < 90 ? 1500 : 200'000);
		const std::uint32_t cpu = below(2);
		samples::StreamWriter &nested = history.streams[2 + cpu];
		if (below(8) == 0) {
			if (below(25) == 0)
				nested.open(time).tid = static_cast<std::uint32_t>(runs[cpu]);
			nested.post(time, EDC_ID_MINOR_FAULT, 0);
			continue;
		}
		if (has_moves && below(20) == 0)
			history.moves(cpu, time, static_cast<std::int32_t>(1 + below(tids)), 1 + below(3));
		const bool opens = below(4) == 0; // a packet has a token at least
		const auto woken = static_cast<std::int32_t>(1 + below(tids));
		if (below(2) && !is_ready[static_cast<std::size_t>(woken)] && woken != runs[0] && woken != runs[1]) {
			if (opens)
				history.cpu(cpu).open(time).tid = static_cast<std::uint32_t>(runs[cpu]);
			history.wakes(cpu, time, woken);
			is_ready[static_cast<std::size_t>(woken)] = true;
			continue;
		}
		std::int32_t next = 0;
		for (std::int32_t tid = 1; tid <= tids; ++tid)
			if (is_ready[static_cast<std::size_t>(tid)] && (next == 0 || below(2)))
				next = tid;
		if (next == runs[cpu])
			continue;
		const bool is_preempted = runs[cpu] != 0 && below(2);
		if (opens)
			history.cpu(cpu).open(time).tid = static_cast<std::uint32_t>(runs[cpu]);
		history.switches(cpu, time, runs[cpu], is_preempted ? history::running : history::sleeping, next);
		is_ready[static_cast<std::size_t>(next)] = false;
		if (runs[cpu] != 0)
			is_ready[static_cast<std::size_t>(runs[cpu])] = is_preempted;
		runs[cpu] = next;
	}
	return history;
}

using Tile = std::vector<std::vector<Slice>>;

Tile split(const std::string &bytes)
{
	Tile lanes;
	std::size_t at = 0;
	const auto word = [&] {
		std::uint32_t value = 0;
		std::memcpy(&value, bytes.data() + at, sizeof value);
		at += sizeof value;
		return value;
	};
	while (at < bytes.size()) {
		lanes.emplace_back(word());
		for (Slice &slice : lanes.back()) {
			slice = {word(), word(), word(), word(), 0};
			const std::uint64_t low = word();
			slice.busy = low | std::uint64_t(word()) << 32;
		}
	}
	return lanes;
}

// Of the bins from `from` to `to` who is in them; a slice that reaches beyond them counts within.
std::vector<std::uint32_t> by_bin(const std::vector<Slice> &slices, std::uint64_t from, std::uint64_t to)
{
	constexpr std::uint32_t nobody = ~std::uint32_t(0) - 1;
	std::vector<std::uint32_t> bins(to - from, nobody);
	for (const Slice &slice : slices)
		for (std::uint64_t bin = std::max<std::uint64_t>(slice.bin, from);
		     bin < std::min<std::uint64_t>(to, std::uint64_t(slice.bin) + slice.bins); ++bin)
			bins[bin - from] = slice.key;
	return bins;
}

} // namespace

TEST_CASE("view: few slices are what they would be among many")
{
	std::mt19937 random(19);
	for (int round = 0; round < 100; ++round) {
		Lane few(base), many(base);
		std::uint64_t time = random() % 1000;
		for (unsigned i = 0; i < Lane::max_few * 3; ++i) {
			const std::uint64_t end = time + 1 + random() % (std::uint64_t(1) << random() % 20);
			for (Lane *lane : {&few, &many})
				if (lane == &many || i < Lane::max_few)
					lane->add(time, end, i);
			time = end + (i + 1 == Lane::max_few ? base << 2 * (view::levels - 1) : random() % 5000);
		}
		for (Lane *lane : {&few, &many})
			lane->finish();
		CHECK(few.bytes() == 0);
		CHECK(many.bytes() > 0);
		for (unsigned level = 0; level < view::levels; ++level) {
			const auto one = few.slices(level), all = many.slices(level);
			REQUIRE(one.size() <= all.size());
			for (std::size_t i = 0; i < one.size(); ++i)
				CHECK(std::tuple(one[i].bin, one[i].bins, one[i].count, one[i].busy) ==
				      std::tuple(all[i].bin, all[i].bins, all[i].count, all[i].busy));
		}
	}
}

namespace {

// This number of threads after each other on CPU 0, each `slices` times for 100 ticks; CPU 1 has one of its own.
history::History some_short_threads(unsigned threads, unsigned slices, std::uint64_t &time)
{
	history::History history;
	history.cpu(1);
	history.switches(1, time, 0, history::running, 7);
	for (unsigned i = 0; i < threads * slices; ++i) {
		const auto tid = static_cast<std::int32_t>(100 + i % threads);
		history.switches(0, time, 0, history::running, tid);
		history.switches(0, time += 100, tid, history::sleeping, 0);
		time += 10;
	}
	return history;
}

view::Timeline picture_of(history::History &history, std::uint64_t time, std::size_t max_bytes)
{
	trace::Trace trace = samples::trace(history.all(), history::events);
	const analyze::RecordingInfo info = history::make_info(0, time + 10, true, false);
	analyze::ThreadFold fold(trace, info);
	view::Timeline timeline(fold.window_begin(), fold.window_end(), 2, max_bytes);
	fold.add(timeline);
	analyze::feed(trace, fold);
	timeline.finish(fold);
	return timeline;
}

} // namespace

TEST_CASE("view: threads of a few slices take no level from others, and threads none from CPUs")
{
	std::uint64_t time = 100;
	history::History short_ones = some_short_threads(20'000, 1, time);
	const view::Timeline build = picture_of(short_ones, time, 2 << 20);
	CHECK(build.threads().size() == 20'001);
	CHECK(build.threads_level() == 0);

	time = 100;
	history::History long_ones = some_short_threads(500, 40, time);
	const view::Timeline service = picture_of(long_ones, time, 2 << 20);
	CHECK(service.threads_level() > 0);
	CHECK(service.cpus_level() == 0);
	// What is not kept has the slices of what is.
	const auto at = [&](unsigned level) {
		return view::slices_tile({service}, level, 0, ~std::uint64_t(0), "r3", 1 << 20);
	};
	CHECK(at(service.threads_level()).size() == at(0).size());
}

TEST_CASE("view: of very many threads those that ran longest have rows, the others one for each command")
{
	std::uint64_t time = 100;
	history::History history = some_short_threads(300, 2, time);
	for (int i = 0; i < 300; ++i) {
		const std::uint64_t cc = 0x6363, as = 0x7361; // names
		history.cpu(0).post(time, EDC_ID_SCHED_PROCESS_EXEC, 0,
				    {history::pair(100 + i, 100 + i), i % 3 ? cc : as, 0});
	}
	const view::Timeline timeline = picture_of(history, time, 1 << 20);
	REQUIRE(timeline.threads().size() == 301);
	const view::Rows all(timeline);
	CHECK(all.size() == 301);
	const view::Rows rows(timeline, 21);
	CHECK(rows.size() == 23);
	std::vector<unsigned> times(timeline.threads().size());
	for (std::size_t row = 0; row < rows.size(); ++row)
		for (const std::uint32_t place : rows.threads(row)) {
			++times[place];
			CHECK(rows.row_of(place) == row);
			if (row >= 21)
				CHECK(timeline.threads()[place].name ==
				      timeline.threads()[rows.threads(row).front()].name);
		}
	CHECK(std::ranges::count(times, 1u) == 301);
	CHECK(rows.row_of(view::key_unknown) == view::key_unknown);
	const auto longest =
	    std::ranges::find(timeline.threads(), 7, &view::ThreadLanes::tid) - timeline.threads().begin();
	CHECK(rows.threads(rows.row_of(static_cast<std::uint32_t>(longest))).size() == 1);
	const view::SliceSources shown{timeline, nullptr, nullptr, nullptr, &rows};
	for (unsigned level = 0; level < view::levels; ++level) {
		std::uint64_t of_rows = 0, of_threads = 0;
		for (std::size_t row = 0; row < rows.size(); ++row)
			of_rows += busy(split(view::slices_tile(shown, level, 0, ~std::uint64_t(0),
								fmt::format("r{}", row), 1 << 20))
					    .front());
		for (const view::ThreadLanes &thread : timeline.threads())
			of_threads += thread.ran();
		CHECK(of_rows == of_threads);
		const Tile of_cpu = split(view::slices_tile(shown, level, 0, ~std::uint64_t(0), "c0", 1 << 20));
		for (const Slice &slice : of_cpu.front())
			CHECK(slice.key < rows.size());
	}
	CHECK_THROWS(view::slices_tile(shown, 0, 0, 10, "r23", 1 << 20));

	const view::Groups whole(timeline, {}), few(timeline, {}, 10);
	const auto ran = [&](const view::Groups &groups) {
		std::uint64_t ticks = 0;
		for (const view::Group &group : groups.by(view::Groups::process))
			ticks += group.ran(timeline);
		return ticks;
	};
	CHECK(whole.by(view::Groups::process).size() == 301);
	CHECK(few.by(view::Groups::process).size() == 10);
	CHECK(few.by(view::Groups::process).back().name == "292 others");
	CHECK(ran(whole) == ran(few));
}

TEST_CASE("view: threads are in the group of their process's command, whatever they call themselves")
{
	history::History history;
	for (const std::int32_t tid : {7, 8})
		history.cpu(0).post(10, EDC_ID_SCHED_WAKEUP_NEW, 0,
				    {history::pair(tid, 7), history::pair(1, 120), tid == 7 ? 0x61u : 0x62u, 0});
	history.switches(0, 20, 0, 0, 7);
	history.switches(0, 50, 7, 0, 8);
	history.switches(0, 60, 8, 0, 0);
	trace::Trace trace = samples::trace(history.all(), history::events);
	analyze::ThreadFold fold(trace, history::make_info(0, 100, true, false));
	view::Timeline timeline(fold.window_begin(), fold.window_end(), 2, 1 << 24);
	fold.add(timeline);
	analyze::feed(trace, fold);
	timeline.finish(fold);
	const view::Groups groups(timeline, {});
	const auto &commands = groups.by(view::Groups::command);
	REQUIRE(commands.size() == 1);
	CHECK(commands[0].name == "a");
	CHECK(commands[0].ran(timeline) == 40);
}

TEST_CASE("view: a thread's time is in the cgroup that it was in then, at every level")
{
	std::mt19937 random(29);
	for (int round = 0; round < 30; ++round) {
		std::uint64_t time = 1000;
		history::History history = some_schedule(random, time, true);
		trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(0, time + 10, true, false);
		analyze::ThreadFold fold(trace, info);
		view::Timeline timeline(fold.window_begin(), fold.window_end(), 2, 1 << 24);
		fold.add(timeline);
		analyze::feed(trace, fold);
		timeline.finish(fold);
		std::map<std::string, std::uint64_t> of_fold;
		for (const analyze::Thread &thread : fold.threads())
			fold.visit_cgroups(thread, [&](std::uint64_t cgroup, const analyze::Usage &usage) {
				if (thread.tid != 0 && usage.cpu())
					of_fold[cgroup ? fmt::format("cgroup {}", cgroup) : "unknown"] += usage.cpu();
			});
		REQUIRE(of_fold.size() > 2);
		const view::Groups groups(timeline, {});
		const auto &by_cgroup = groups.by(view::Groups::cgroup);
		std::map<std::string, std::uint64_t> of_groups;
		for (const view::Group &group : by_cgroup)
			of_groups[group.name] = group.ran(timeline);
		CHECK(of_groups == of_fold);
		for (unsigned level = 0; level < view::levels; ++level)
			for (std::size_t i = 0; i < by_cgroup.size(); ++i)
				CHECK(busy(split(view::slices_tile({timeline, &groups}, level, 0, ~std::uint64_t(0),
								   fmt::format("g{}", i), 1 << 24))
					       .front()) == of_fold[by_cgroup[i].name]);
		// A part that is read again knows of the moves in it only.
		const std::uint64_t bins = timeline.ticks() / base + 1, from = bins / 3, to = bins / 2;
		const view::Window window(trace, info, timeline, 0, from, to, 1 << 24, true, {});
		for (std::size_t i = 0; i < by_cgroup.size(); ++i) {
			const std::string name = fmt::format("g{}", i);
			const auto bins_of = [&](const view::Window *part) {
				const auto lanes =
				    split(view::slices_tile({timeline, &groups, part}, 0, from, to, name, 1 << 24));
				return by_bin(lanes.front(), from + 1, to - 1);
			};
			CHECK(bins_of(&window) == bins_of(nullptr));
		}
	}
}

// Threads exchange their numbers in an exec, and run where a hidden one was switched in.
TEST_CASE("view: a picture's sums are those of the fold whatever number a thread has")
{
	std::mt19937 random(31);
	const std::string events = history::events + samples::event_block(EDC_ID_THREAD_RUNS, "thread_runs",
									  "u16_t reserved; s32_t pid; s32_t tgid;");
	std::uint64_t waits = 0;
	for (int round = 0; round < 300; ++round) {
		const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
		std::uint64_t time = 0;
		history::History history = history::random_history(random, time, 1);
		history.lists(0, 4, history::sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
		for (int i = 0; i < 150; ++i) {
			time += below(40);
			const auto tid = static_cast<std::int32_t>(below(4));
			const auto other = static_cast<std::int32_t>(below(5));
			const unsigned what = below(20), state = below(2);
			if (what < 5)
				history.cpu(0).post(time, EDC_ID_THREAD_RUNS, 0, {history::pair(1 + tid, 1 + tid / 2)});
			else if (what < 6)
				history.cpu(0).post(time, EDC_ID_SCHED_PROCESS_EXEC, 0,
						    {history::pair(1, 1 + tid), 0x63, 0});
			else if (what < 11)
				history.wakes(0, time, other);
			else
				history.switches(0, time, tid, state, other);
		}
		trace::Trace trace = samples::trace(history.all(), events);
		const analyze::RecordingInfo info = history::make_info(5, time + 10, true, false);
		analyze::ThreadFold fold(trace, info);
		view::Timeline timeline(fold.window_begin(), fold.window_end(), 1, 1 << 20);
		fold.add(timeline);
		analyze::feed(trace, fold);
		timeline.finish(fold);
		for (const view::ThreadLanes &shown : timeline.threads()) {
			const analyze::Thread &thread = fold.threads()[shown.number];
			INFO("thread " << thread.tid << " in round " << round);
			if (thread.tid != 0)
				CHECK(shown.ran() == thread.usage.cpu());
			CHECK(shown.waits.busy() == thread.usage.waiting + thread.usage.throttled);
			waits += thread.usage.waiting + thread.usage.throttled;
		}
	}
	CHECK(waits > 10'000);
}

TEST_CASE("view: who is found on a CPU did not have it before it was offline")
{
	history::History history;
	history.cpu(1);
	history.lists(0, 9, history::sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
	history.list.post(300, EDC_ID_CPU_OFFLINE, 0, {1});
	history.switches(1, 100, 0, history::running, 9);
	history.posts(1, 150, EDC_ID_SYS_EXIT); // another one took the CPU from it
	history.posts(1, 200, EDC_ID_SYS_ENTER, 39);
	history.posts(1, 500, EDC_ID_IRQ_HANDLER_ENTRY, 3);
	history.posts(1, 510, EDC_ID_IRQ_HANDLER_EXIT, 3);
	history.switches(1, 600, 0, history::running, 9);
	history.posts(1, 650, EDC_ID_SYS_EXIT);
	history.switches(1, 700, 7, history::sleeping, 0);
	trace::Trace trace = samples::trace(
	    history.all(), history::events + samples::event_block(EDC_ID_CPU_OFFLINE, "cpu_offline",
								  "u16_t reserved; u32_t cpu; u32_t reserved1;"));
	const analyze::RecordingInfo info = history::make_info(0, 1000, true, false);
	analyze::ThreadFold fold(trace, info);
	view::Timeline timeline(fold.window_begin(), fold.window_end(), 2, 1 << 20);
	fold.add(timeline);
	analyze::feed(trace, fold);
	timeline.finish(fold);
	CHECK(fold.cpus()[1].offline == 300);
	REQUIRE(fold.thread(7));
	CHECK(fold.thread(7)->usage.cpu() == 50);
	const std::uint32_t place = timeline.find(7, 1, 700);
	REQUIRE(place != view::Timeline::no_index);
	CHECK(timeline.threads()[place].ran() == 50);
}

TEST_CASE("view: a picture's sums are those of the fold")
{
	std::mt19937 random(11);
	for (int round = 0; round < 300; ++round) {
		// Random switches put a thread on two CPUs at a time, which a lane cannot show.
		const unsigned cpus = 1 + static_cast<unsigned>(round % 2);
		std::uint64_t time = 0;
		history::History history = history::random_history(random, time, cpus);
		trace::Trace trace = samples::trace(history.all(), history::events);
		analyze::RecordingInfo info = history::make_info(5, time + 10, round % 3 != 0, false);
		info.cost_ns["call_edge"] = 3; // outside the tokens of a call, and of a fault
		info.cost_ns["fault_edge"] = 2;
		analyze::ThreadFold fold(trace, info);
		view::Timeline timeline(fold.window_begin(), fold.window_end(), 2, round % 5 ? 1 << 20 : 1);
		fold.add(timeline);
		analyze::feed(trace, fold);
		timeline.finish(fold);
		std::uint64_t of_lanes = 0, of_threads = 0;
		for (const view::ThreadLanes &thread : timeline.threads()) {
			of_lanes += thread.ran();
			for (unsigned level = timeline.first_level(); level < view::levels; ++level)
				CHECK(busy(thread.runs(level, 0, ~std::uint64_t(0))) == thread.ran());
		}
		for (const analyze::Thread &thread : fold.threads()) {
			of_threads += thread.usage.cpu();
			for (const view::ThreadLanes &shown : timeline.threads())
				if (shown.tid == thread.tid && thread.tid != 0 && cpus == 1) {
					INFO("thread " << thread.tid << " in round " << round);
					CHECK(shown.ran() == thread.usage.cpu());
					CHECK(shown.waits.busy() == thread.usage.waiting + thread.usage.throttled);
				}
		}
		if (cpus == 1)
			CHECK(of_lanes == of_threads);
		const auto all = [&](std::size_t max_bytes) {
			return view::slices_tile({timeline}, timeline.first_level(), 0, ~std::uint64_t(0), "c*",
						 max_bytes);
		};
		const std::size_t bytes = all(1 << 20).size();
		CHECK(all(bytes).size() == bytes);
		if (bytes > 4 * timeline.cpus().size()) // there are slices
			CHECK_THROWS(all(23));
		for (const analyze::Cpu &cpu : fold.cpus())
			for (const view::CpuLane &lane : timeline.cpus()) {
				if (lane.number != cpu.number)
					continue;
				std::array<std::uint64_t, view::picture_modes> sums{};
				for (const auto &bin : lane.modes)
					for (std::size_t mode = 0; mode < sums.size(); ++mode)
						sums[mode] += bin[mode];
				for (std::size_t mode = 0; mode < analyze::modes; ++mode) {
					INFO("mode " << mode << " of CPU " << cpu.number << " in round " << round);
					CHECK(sums[mode] == cpu.usage[static_cast<analyze::Mode>(mode)]);
				}
				CHECK(sums[view::mode_idle] == cpu.idle);
			}
	}
}

TEST_CASE("view: a part that is read again has what a picture of all of it would have")
{
	std::mt19937 random(17);
	for (int round = 0; round < 20; ++round) {
		std::uint64_t time = 1000;
		history::History history = some_schedule(random, time);
		const trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(0, time + 10, true, false);
		const auto picture = [&](std::uint64_t bins) {
			analyze::ThreadFold fold(trace, info);
			view::Timeline timeline(fold.window_begin(), fold.window_end(), 2, 1 << 24, bins);
			fold.add(timeline);
			trace::Problems problems;
			trace::merge(
			    trace, problems, {}, [&](const trace::Event &event) { fold.event(event); },
			    [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
			fold.finish();
			timeline.finish(fold);
			return timeline;
		};
		const view::Timeline kept = picture(1024); // many waits are longer than its bins
		REQUIRE(kept.first_level() >= 2);
		std::vector<view::Timeline> finer; // by their first level
		for (unsigned level = 0; level < kept.first_level(); ++level) {
			finer.push_back(picture(kept.ticks() / (base << 2 * level)));
			REQUIRE(finer.back().first_level() == level);
			REQUIRE(finer.back().threads().size() == kept.threads().size());
		}
		std::string lanes = "c0,c1", waits;
		for (std::size_t i = 0; i < kept.threads().size(); ++i) {
			lanes += fmt::format(",r{}", i);
			waits += fmt::format("{}w{}", i ? "," : "", i);
		}
		for (int part = 0; part < 30; ++part) {
			const auto level = static_cast<unsigned>(random() % kept.first_level());
			const view::Timeline &all = finer[level];
			const std::uint64_t bins = all.ticks() / (base << 2 * level) + 1, from = random() % bins;
			const std::uint64_t to = std::min(bins, from + 2 + random() % 1000);
			INFO("round " << round << ", level " << level << ", bins " << from << " to " << to);
			const view::Window window(trace, info, kept, level, from, to, 1 << 24, true, {});
			const auto tiles = [&](const std::string &names) {
				return std::pair(
				    split(view::slices_tile({kept, nullptr, &window}, level, from, to, names, 1 << 24)),
				    split(view::slices_tile({all}, level, from, to, names, 1 << 24)));
			};
			const auto [here, there] = tiles(lanes);
			REQUIRE(here.size() == there.size());
			for (std::size_t lane = 0; lane < here.size(); ++lane) {
				INFO("lane " << lane);
				// What reaches over an edge may be shorter here, so another one may have most of that
				// bin.
				if (to - from > 2)
					CHECK(by_bin(here[lane], from + 1, to - 1) ==
					      by_bin(there[lane], from + 1, to - 1));
			}
			const auto [waits_here, waits_there] = tiles(waits);
			for (std::size_t lane = 0; lane < waits_here.size(); ++lane) {
				const auto ours = by_bin(waits_here[lane], from, to),
					   theirs = by_bin(waits_there[lane], from, to);
				std::size_t differ = 0;
				for (std::size_t bin = 1; bin + 1 < ours.size(); ++bin)
					differ += ours[bin] != theirs[bin];
				INFO("waits of lane " << lane);
				CHECK(differ <= 1); // where one that began before ends
			}
		}
		CHECK_THROWS(view::Window(trace, info, kept, 0, 0, ~std::uint64_t(0), 1, true, {}));
	}
}

TEST_CASE("view: tiles refuse what a picture does not have")
{
	view::Timeline timeline(0, 1'000'000, 1, 1 << 20);
	for (const char *lanes : {"c0", "r0", "w1", "x0", "c", "c-1", "c0x", ",", "c99999999999999999999"})
		CHECK_THROWS(view::slices_tile({timeline}, 0, 0, 10, lanes, 1 << 20));
	CHECK(view::slices_tile({timeline}, 0, 0, 10, "c*", 1 << 20).empty());
	CHECK_THROWS(view::slices_tile({timeline}, view::levels, 0, 10, "c*", 1 << 20));
	CHECK_THROWS(view::modes_tile(timeline, 10, 10, 1));
	CHECK_THROWS(view::modes_tile(timeline, 0, 10, 0));
	CHECK_THROWS(view::modes_tile(timeline, 0, 10, 1'000'000));
	CHECK(view::modes_tile(timeline, 0, ~std::uint64_t(0), 10).empty());
}

} // namespace test_view
