// SPDX-License-Identifier: MIT
// Stacks of a recording that is running (answers/live/): each window has those that a fold of the same time has, and
// what is kept does not grow.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/live/refresh.h"
#include "live_folding.h"
#include "monitor/stack.h"
#include "scratch.h"
#include "stack_history.h"
#include "window_figures.h"

namespace test_live_stacks {

using namespace monitor;
using namespace history;
using namespace live_folding;
using live::LiveStacks;
using live::NamedWindow;
using report::StackBy;
using Folded = std::map<std::string, std::uint64_t>; // by "function;function"

namespace {

const live::StackKinds all_kinds = {{"cpu", StackBy::cpu}, {"offcpu", StackBy::offcpu}, {"wait", StackBy::wait}};

// A CPU on which 7 and 8 take turns and another one that wakes them. Of many stacks few fit into the probes' tables, so
// they are described again and again.
struct RandomStacks : Stacks {
	explicit RandomStacks(std::mt19937 &of) : random(of)
	{
		cpu(1);
		for (std::int32_t at = 0; time < 6000; time += 1 + below(30))
			at = step(at);
	}
	unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }
	std::uint64_t stack(std::uint32_t on)
	{
		const std::uint64_t slot = below(3), id = (1 + below(12)) * EDC_STACK_KNOWN + slot;
		if (std::uint64_t &known = tables[{on, slot}]; known != id) {
			describe(id, {0x1000 + id, 0x2000 + id}, below(4) ? 0 : 4, on, time);
			known = id;
		}
		return id;
	}
	// Returns who runs then.
	std::int32_t step(std::int32_t runs)
	{
		const std::int32_t next = below(2) ? 7 : 8;
		switch (below(5)) {
		case 0:
		case 1:
			if (runs)
				sample(0, time, 0, runs, 0x1500 + below(3), stack(0));
			return runs;
		case 2:
			if (next == runs || asleep.contains(next))
				break;
			switches(0, time, runs, sleeping, next);
			if (runs) {
				sample(0, time, EDC_ID_SCHED_SWITCH, runs, 0, stack(0));
				asleep.insert(runs);
			}
			return next;
		case 3:
			if (!runs)
				break;
			switches(0, time, runs, sleeping, 0);
			sample(0, time, EDC_ID_SCHED_SWITCH, runs, 0, stack(0));
			asleep.insert(runs);
			return 0;
		default:
			if (asleep.empty() || below(3))
				break;
			const std::int32_t woken = *asleep.begin();
			asleep.erase(woken);
			wakes(1, time, woken);
			if (below(2))
				sample(1, time, EDC_ID_SCHED_WAKING, 9, 0, stack(1));
		}
		return runs;
	}

	std::mt19937 &random;
	std::uint64_t time = 100;
	std::set<std::int32_t> asleep;
	std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> tables;
};

Folded folded(const report::CallTree &tree)
{
	Folded stacks;
	for (std::uint32_t i = 1; i < tree.nodes().size(); ++i) {
		std::string line;
		for (std::uint32_t at = i; tree.nodes()[at].parent; at = tree.nodes()[at].parent)
			line.insert(0, tree.name(tree.nodes()[at]).function + (line.empty() ? "" : ";"));
		if (tree.nodes()[i].self)
			stacks[line] += tree.nodes()[i].self;
	}
	return stacks;
}

Folded folded(const NamedWindow::StackTotals &kind)
{
	Folded stacks;
	for (const NamedWindow::Stack &stack : kind.stacks)
		stacks[fmt::format("{}", fmt::join(stack.frames, ";"))] += stack.value;
	return stacks;
}

// Of 7, of a recording that ended at `to`.
std::map<std::string, Folded> witness(trace::Trace &trace, std::uint64_t begin, std::uint64_t from, std::uint64_t to)
{
	analyze::RecordingInfo info = make_info(begin, 10000, true, false);
	analyze::ThreadFold thread_fold(trace, info, {{from, to - 1}, {}, {}});
	analyze::StackFold fold;
	thread_fold.add(fold);
	analyze::feed(trace, thread_fold);
	symbols::Symbolizer symbolizer("/nowhere");
	std::map<std::string, Folded> all;
	for (const auto &[name, by] : all_kinds)
		all[name] =
		    folded(report::CallTree(thread_fold, fold, symbolizer, by,
					    [](const auto &key, const auto &) { return key.thread->tid == 7; }));
	return all;
}

} // namespace

TEST_CASE("live stacks: each window has those of a fold of the same time")
{
	std::mt19937 random(7);
	std::map<std::string, std::size_t> seen;
	for (int round = 0; round < 60; ++round) {
		RandomStacks history(random);
		trace::Trace trace = samples::trace(history.all(), events + stack_events);
		const std::uint64_t begin = 60 + random() % 80;
		live::Refreshes refreshes(500 + random() % 900);
		refreshes.keep_all();
		refreshes.name_stacks(all_kinds);
		live::Wanted wanted;
		wanted.followed = 7;
		refreshes.want(wanted);
		refreshes.fold()->start(start_at(begin, events + stack_events));
		feed_all(*refreshes.fold(), history.all(), trace.description(), history.time, random);
		const auto made = all_of_named(refreshes, history.time);
		REQUIRE(made.size() > 3);
		for (const auto &refresh : made) {
			if (refresh == made.back())
				break; // a report also has the sleeps that the recording's end cut off
			INFO("round " << round << ", window " << refresh->number);
			REQUIRE(refresh->stacks);
			CHECK(refresh->stacks->process == 7);
			CHECK(refresh->stacks->unnamed == 0);
			const auto expected = witness(trace, begin, refresh->begin_ticks, refresh->end_ticks);
			for (const NamedWindow::StackTotals &kind : refresh->stacks->kinds) {
				CHECK(folded(kind) == expected.at(kind.by));
				seen[kind.by] += kind.stacks.size();
			}
		}
	}
	for (const auto &[name, by] : all_kinds)
		CHECK(seen[name] > 100);
}

namespace {

// A fold of no trace, fed by hand.
struct Fold {
	explicit Fold(std::size_t stack_limit = LiveStacks::max_stacks,
		      std::size_t frame_limit = LiveStacks::max_frames)
	    : trace(samples::trace(history.all(), events + stack_events)),
	      thread_fold(trace, make_info(0, 10, true, false)), stacks(thread_fold, stack_limit, frame_limit)
	{
		thread.tid = thread.tgid = 7;
		stacks.follow(7, 0);
	}
	void describe(std::uint32_t cpu, std::uint64_t id)
	{
		const std::uint64_t frames[] = {id, id + 1, id + 2};
		stacks.stack_frames(id, 0, frames);
		stacks.stack_end(cpu, id, 3, "");
	}
	void sample(std::uint64_t id, analyze::StackSample::At at = analyze::StackSample::At::timer,
		    std::uint64_t time = 5)
	{
		stacks.stack(thread, {at, time, 0, id, 0, true, nullptr});
	}

	Stacks history;
	trace::Trace trace;
	analyze::ThreadFold thread_fold;
	LiveStacks stacks;
	analyze::Thread thread;
};

std::uint64_t sum_of(const live::StackWindow &window, std::uint64_t user)
{
	std::uint64_t sum = 0;
	for (const auto &[key, value] : window.stacks.values())
		sum += key.user == user ? value.count : 0;
	return sum;
}

} // namespace

TEST_CASE("live stacks: descriptions are kept as long as the probes do not give them again")
{
	Fold fold;
	fold.describe(0, 5);
	fold.describe(1, 5);
	fold.describe(0, 5 + EDC_STACK_KNOWN); // in its place
	fold.stacks.take_window();
	CHECK(fold.stacks.find(5)); // the other CPU's
	fold.describe(1, 5 + EDC_STACK_KNOWN);
	fold.sample(5, analyze::StackSample::At::sched_switch);
	fold.stacks.take_window();
	CHECK(fold.stacks.find(5)); // a thread sleeps there
	fold.sample(6, analyze::StackSample::At::sched_switch);
	fold.stacks.take_window();
	CHECK(!fold.stacks.find(5));
	CHECK(fold.stacks.find(5 + EDC_STACK_KNOWN));
	const std::uint64_t frames[] = {1, 2};
	fold.stacks.stack_frames(99, 0, frames); // its end was discarded
	fold.stacks.take_window();
	CHECK(!fold.stacks.find(99));
}

TEST_CASE("live stacks: what is kept of stacks does not grow")
{
	Fold fold;
	std::mt19937_64 random(3);
	for (int window = 0; window < 8; ++window) {
		for (int i = 0; i < 20'000; ++i) {
			const std::uint64_t id = random();
			fold.describe(i % 2, id);
			if (i % 100 == 0)
				fold.sample(id);
		}
		const auto ended = fold.stacks.take_window();
		CHECK(ended->stacks.values().size() == 200);
		CHECK(ended->left_out == 0);
		for (const auto &[key, value] : ended->stacks.values())
			CHECK(ended->stacks.find(key.kernel));
		CHECK(fold.stacks.descriptions() <= 2 * EDC_STACK_KNOWN + 1);
		CHECK(fold.stacks.frames() <= 4 * (2 * EDC_STACK_KNOWN + 1));
		CHECK(fold.stacks.values().empty());
	}
	CHECK(fold.stacks.descriptions() > EDC_STACK_KNOWN);
}

TEST_CASE("live stacks: what finds no room is told, and the sums hold")
{
	Fold fold(10, 400);
	for (std::uint64_t id = 1; id <= 150; ++id) {
		fold.describe(0, id);
		fold.sample(id);
		fold.sample(id);
	}
	const auto ended = fold.stacks.take_window();
	CHECK(ended->left_out == 50);
	CHECK(fold.stacks.frames() == 400);
	CHECK(sum_of(*ended, analyze::StackFold::no_room) == 280);
	CHECK(sum_of(*ended, 0) == 20);
	symbols::Symbolizer symbolizer("/nowhere");
	const NamedWindow named =
	    named_window(*ended, symbolizer, fold.trace.description().clock, {{"cpu", StackBy::cpu}});
	CHECK(named.kinds[0].total == 300);
	CHECK(named.kinds[0].stacks.size() == 10);
	CHECK(named.kinds[0].other == 280);
}

TEST_CASE("live stacks: refreshes follow each other while names are sought, and none is lost")
{
	Fold fold;
	std::mutex lock;
	std::vector<std::uint64_t> given;
	{
		live::StackNaming naming({"/nowhere", fold.trace.description().clock, all_kinds, false},
					 [&](std::shared_ptr<live::Refresh> refresh) {
						 const std::lock_guard guard(lock);
						 given.push_back(refresh->number);
						 CHECK(refresh->stacks);
					 });
		for (std::uint64_t number = 1; number <= 200; ++number) {
			auto refresh = std::make_shared<live::Refresh>();
			refresh->number = number;
			naming.name({std::move(refresh), fold.stacks.take_window(), number * 100, {}, {}});
		}
		const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(20);
		for (std::size_t count = 0; count < 200 && std::chrono::steady_clock::now() < give_up_at;) {
			const std::lock_guard guard(lock);
			count = given.size();
		}
	}
	std::vector<std::uint64_t> all(200);
	std::iota(all.begin(), all.end(), 1);
	CHECK(given == all);
}

TEST_CASE("live stacks: on a screen nothing waits for names")
{
	const Scratch directory;
	std::filesystem::create_directory(directory.path() + "/.monitor");
	std::ofstream(directory.path() + "/.monitor/kallsyms") << "1 f\n";
	Fold fold;
	std::mutex lock, slow;
	std::vector<std::shared_ptr<live::Refresh>> given;
	live::StackNaming naming({directory.path(), fold.trace.description().clock, {{"cpu", StackBy::cpu}}, false},
				 [&](std::shared_ptr<live::Refresh> refresh) {
					 {
						 const std::lock_guard guard(lock);
						 given.push_back(refresh);
					 }
					 if (refresh->number == 2)
						 const std::lock_guard guard(slow);
				 });
	const auto next = [&](std::uint64_t number) {
		auto refresh = std::make_shared<live::Refresh>();
		refresh->number = number;
		fold.describe(0, 0x1000);
		fold.sample(0x1000);
		naming.name({std::move(refresh), fold.stacks.take_window(), number * 100, {}, {}});
		for (int i = 0; i < 4000; ++i) {
			naming.pass_on_late();
			{
				const std::lock_guard guard(lock);
				if (given.size() == number)
					return given.back()->stacks;
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(5));
		}
		FAIL("refresh " << number << " is not given on");
		return given.back()->stacks;
	};
	const auto first = next(1);
	CHECK(first->unnamed == 3);
	CHECK(folded(first->kinds.at(0)) == Folded{{"kernel+0x1001;kernel+0x1000;kernel+0xfff", 1}});
	std::unique_lock busy(slow);
	const auto second = next(2);
	CHECK(second->unnamed == 0);
	CHECK(folded(second->kinds.at(0)) == Folded{{"f;f;f", 1}});
	CHECK(next(3)->is_pending); // the thread that names is busy
	busy.unlock();
	CHECK(!next(4)->is_pending);
}

} // namespace test_live_stacks
