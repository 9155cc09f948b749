// SPDX-License-Identifier: MIT
// monitor diff: the test and its correction against all divisions counted one by one and published values; rows by
// name, what is not known, the ranking, and the sums of a fold against those of the ThreadFold.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "answers/check/check.h"
#include "answers/diff/call_times.h"
#include "answers/diff/comparison.h"
#include "answers/diff/comparison_table.h"
#include "answers/diff/measure.h"
#include "answers/diff/significance.h"
#include "base/build_suffixes.h"
#include "history.h"

namespace test_diff {

using namespace monitor;
using diff::Item;
using diff::Measured;
using diff::RowKey;
using diff::RowKind;

namespace {

// U counted pair by pair, in every division of the values: nothing of the ranks in significance.cpp.
double p_by_counting(const std::vector<double> &before, const std::vector<double> &after)
{
	std::vector<double> all = before;
	all.insert(all.end(), after.begin(), after.end());
	std::vector<char> is_before(all.size());
	std::fill(is_before.begin(), is_before.begin() + static_cast<std::ptrdiff_t>(before.size()), 1);
	const double middle = static_cast<double>(before.size() * after.size()) / 2;
	const auto distance = [&] {
		double u = 0;
		for (std::size_t i = 0; i < all.size(); ++i)
			for (std::size_t j = 0; j < all.size(); ++j)
				if (is_before[i] && !is_before[j])
					u += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
		return std::abs(u - middle);
	};
	const double seen = distance();
	double ways = 0, as_far = 0;
	std::ranges::sort(is_before);
	do {
		++ways;
		as_far += distance() >= seen;
	} while (std::ranges::next_permutation(is_before).found);
	return as_far / ways;
}

RowKey user(const std::string &command)
{
	return {Item::user, true, command, command, ""};
}

RowKey call(const std::string &command, const std::string &name)
{
	return {Item::in_call, true, command, command, name};
}

Measured measured(std::map<RowKey, diff::Amount> rows)
{
	Measured one;
	one.name = "one";
	one.has_activities = one.has_samples = one.has_sleep_stacks = true;
	one.rows = std::move(rows);
	return one;
}

const diff::ComparedRow *find(const diff::Comparison &comparison, const RowKey &key)
{
	for (const diff::Ranking &ranking : comparison.rankings)
		for (const diff::ComparedRow &row : ranking.rows)
			if (row.key == key)
				return &row;
	return nullptr;
}

// Repetitions of which `changed` takes 1000 and the others about 1000 ns, `other` more but always about the same.
std::vector<Measured> repetitions(std::mt19937 &random, std::size_t number, std::uint64_t changed)
{
	std::vector<Measured> all;
	for (std::size_t i = 0; i < number; ++i)
		all.push_back(measured({{user("changed"), {changed + random() % 100, {}, true}},
					{user("other"), {9000 + random() % 50, {}, true}},
					{user("small"), {random() % 9, {}, true}}}));
	return all;
}

} // namespace

TEST_CASE("diff: p is the share of the divisions that are as far apart")
{
	std::mt19937 random(7);
	for (int round = 0; round < 200; ++round) {
		std::vector<double> before(1 + random() % 5), after(1 + random() % 5);
		for (std::vector<double> *side : {&before, &after})
			for (double &value : *side)
				value = static_cast<double>(random() % 6); // many are equal
		CHECK(diff::mann_whitney(before, after) == Approx(p_by_counting(before, after)));
	}
}

TEST_CASE("diff: p as published")
{
	// Two-sided, from tables of U: n = m = 5 with U = 2 has 0.032 (2 x 4/252), with U = 0 0.0079.
	CHECK(diff::mann_whitney(std::vector<double>{1, 2, 3, 4, 7}, std::vector<double>{5, 6, 8, 9, 10}) ==
	      Approx(8.0 / 252));
	CHECK(diff::mann_whitney(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{6, 7, 8, 9, 10}) ==
	      Approx(2.0 / 252));
	CHECK(diff::mann_whitney(std::vector<double>{1, 2, 3, 4}, std::vector<double>{5, 6, 7, 8}) == Approx(2.0 / 70));
	CHECK(diff::mann_whitney(std::vector<double>{3, 3, 3, 3}, std::vector<double>{3, 3, 3, 3}) == 1);
	// Without ties by the recurrence of U's distribution. Above the limit it is the normal approximation.
	std::vector<double> before, after;
	for (int i = 0; i < 30; ++i) {
		before.push_back(i * 2);
		after.push_back(i * 2 + 11);
	}
	const double approximate = diff::mann_whitney(before, after);
	before.resize(25);
	after.resize(25);
	for (int i = 0; i < 25; ++i)
		after[static_cast<std::size_t>(i)] = i * 2 + 11;
	CHECK(approximate == Approx(0.02633196).margin(0.001));
	CHECK(diff::mann_whitney(before, after) == Approx(0.016982216353));
	CHECK(diff::mann_whitney(std::vector<double>(40, 1.0), std::vector<double>(40, 1.0)) == 1);
	// Of many equal values, against the variance of their mean ranks themselves.
	std::vector<double> all(60, 7.0);
	std::fill(all.begin(), all.begin() + 6, 1.0);
	std::fill(all.begin() + 30, all.begin() + 32, 1.0);
	const double low = 4.5, high = 34.5, mean = 30.5, n = 30; // ranks of the 8 and of the 52 equal ones
	const double variance = n * n / (60 * 59.0) * (8 * std::pow(low - mean, 2) + 52 * std::pow(high - mean, 2));
	const double distance = std::abs(6 * low + 24 * high - n * mean) - 0.5;
	CHECK(diff::mann_whitney(std::span(all).first(30), std::span(all).last(30)) ==
	      Approx(std::erfc(distance / std::sqrt(2 * variance))));
}

TEST_CASE("diff: Holm's correction, and what repetitions can show")
{
	const std::vector<double> corrected = diff::holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
	CHECK(corrected[3] == Approx(0.02));
	CHECK(corrected[0] == Approx(0.03));
	CHECK(corrected[2] == Approx(0.06));
	CHECK(corrected[1] == Approx(0.06)); // not below the one before it
	CHECK(diff::holm(std::vector<double>{0.9, 0.8})[0] == 1);
	CHECK(diff::min_p(4, 4) == Approx(2.0 / 70));
	CHECK(diff::min_p(5, 6) == Approx(2.0 / 462));
	CHECK(diff::max_tested_rows(3, 9) == 0);
	CHECK(diff::max_tested_rows(4, 4) == 1);
	CHECK(diff::max_tested_rows(5, 5) == 6);
	CHECK(diff::max_tested_rows(6, 6) == 23);
	CHECK(diff::repetitions_for(0) == 4);
	CHECK(diff::repetitions_for(1) == 4);
	CHECK(diff::repetitions_for(2) == 5);
	CHECK(diff::repetitions_for(24) == 7);
}

TEST_CASE("diff: of all divisions of the same repetitions, no more than the level claim a change")
{
	std::mt19937 random(11);
	const std::vector<Measured> all = repetitions(random, 10, 1000);
	std::vector<char> is_before(10);
	std::fill(is_before.begin(), is_before.begin() + 5, 1);
	std::ranges::sort(is_before);
	int divisions = 0, claims = 0;
	do {
		std::vector<Measured> sides[2];
		for (std::size_t i = 0; i < all.size(); ++i)
			sides[is_before[i] ? 1 : 0].push_back(all[i]);
		++divisions;
		claims += diff::compare(sides[1], sides[0], diff::Ours::command, {}).tests.significant > 0;
	} while (std::ranges::next_permutation(is_before).found);
	CHECK(divisions == 252);
	CHECK(claims <= 252 * diff::significance_level);
	CHECK(claims > 0); // it is no test that never claims
}

TEST_CASE("diff: four repetitions show the row that changed, three show none")
{
	std::mt19937 random(3);
	const std::vector<Measured> before = repetitions(random, 4, 1000), after = repetitions(random, 4, 2000);
	const diff::Comparison comparison = diff::compare(before, after, diff::Ours::command, {});
	const diff::ComparedRow &first = comparison.rankings.front().rows.front();
	CHECK(first.key == user("changed"));
	CHECK(first.is_significant());
	CHECK(first.corrected_p.value() == Approx(2.0 / 70));
	CHECK(comparison.tests.tested == 1);
	CHECK(comparison.tests.significant == 1);
	CHECK_FALSE(find(comparison, user("other"))->corrected_p.has_value());
	const std::vector<Measured> three(after.begin(), after.begin() + 3);
	const diff::Comparison fewer = diff::compare(before, three, diff::Ours::command, {});
	CHECK(fewer.tests.tested == 0);
	CHECK_FALSE(fewer.rankings.front().rows.front().p.has_value());
	const std::string text = diff::comparison_text({{before, "", "", ""}, {three, "", "", ""}, fewer, {}}, 20, 0);
	CHECK(text.find("significance not tested: give at least 4 repetitions of each side") != std::string::npos);
	CHECK(text.find("4 can test 1 row, 5 can test 6, 6 can test 23.") != std::string::npos);
}

TEST_CASE("diff: the elapsed time and the command's CPU time are tested alone")
{
	std::mt19937 random(3);
	std::vector<Measured> before = repetitions(random, 4, 1000), after = repetitions(random, 4, 1000);
	for (std::size_t i = 0; i < before.size(); ++i) {
		before[i].elapsed_ns = 1000 + i;
		after[i].elapsed_ns = 2000 + i;
		before[i].command_cpu_ns = after[i].command_cpu_ns = 500 + i;
	}
	const diff::Comparison comparison = diff::compare(before, after, diff::Ours::command, {});
	CHECK(comparison.tests.tested == 1);
	CHECK(comparison.elapsed_p.value_or(9) == Approx(2.0 / 70));
	CHECK(diff::is_significant(comparison.elapsed_p));
	CHECK(comparison.command_cpu_p.value_or(9) == 1);
	before.pop_back();
	CHECK_FALSE(diff::compare(before, after, diff::Ours::command, {}).elapsed_p);
}

TEST_CASE("diff: the largest difference is first, whatever its sign; equal ones by name")
{
	const Measured before = measured({{user("a"), {500, {}, true}},
					  {user("b"), {100, {}, true}},
					  {user("c"), {100, {}, true}},
					  {{Item::asleep, true, "d", "d", ""}, {100, 1, false}}}),
		       after = measured({{user("a"), {300, {}, true}},
					 {user("b"), {150, {}, true}},
					 {user("c"), {150, {}, true}},
					 {{Item::asleep, true, "d", "d", ""}, {9000, 1, false}}});
	const diff::Comparison comparison = diff::compare({before}, {after}, diff::Ours::command, {});
	const std::vector<diff::ComparedRow> &rows = comparison.rankings.front().rows;
	REQUIRE(rows.size() == 3); // what does not lead is left out
	CHECK(rows[0].key.command == "a");
	CHECK(rows[0].time_ns.difference() == -200.0);
	CHECK(rows[0].time_ns.ratio() == 0.6);
	CHECK(rows[0].share == Approx(200.0 / 300 * 100));
	CHECK(rows[1].key.command == "b");
	CHECK(rows[2].key.command == "c");
	const diff::Comparison waits = diff::compare({before}, {after}, diff::Ours::command, {RowKind::waits});
	REQUIRE(waits.rankings.front().rows.size() == 1);
	CHECK_FALSE(waits.rankings.front().rows.front().share.has_value());
	const diff::Comparison both =
	    diff::compare({before}, {after}, diff::Ours::command, {RowKind::cpu, RowKind::waits});
	REQUIRE(both.rankings.front().rows.size() == 4);
	CHECK(both.rankings.front().rows.front().key.command == "d");
	CHECK(find(both, user("a"))->share == Approx(200.0 / 300 * 100));
}

TEST_CASE("diff: a call that does not return has a time and no count")
{
	const Measured before =
			   measured({{call("a", "exit_group"), {500, 0, true}}, {call("a", "read"), {0, 0, true}}}),
		       after = measured({{call("a", "exit_group"), {900, 0, true}}, {call("a", "read"), {5, 1, true}}});
	const diff::Comparison comparison = diff::compare({before}, {after}, diff::Ours::command, {});
	CHECK_FALSE(find(comparison, call("a", "exit_group"))->count.before.has_value());
	CHECK(find(comparison, call("a", "read"))->count.before == 0.0);
	const std::string text =
	    diff::comparison_text({{{before}, "", "", ""}, {{after}, "", "", ""}, comparison, {}}, 20, 0);
	const std::size_t row = text.find("exit_group");
	CHECK(text.substr(row, text.find('\n', row) - row).ends_with(" -"));
}

TEST_CASE("diff: a stack is matched by its frames, and printed by the innermost ones")
{
	const auto sleeps = [](const std::string &name, std::size_t program_frames) {
		return RowKey{Item::sleep_stack, true, "a", "", name, program_frames};
	};
	CHECK(sleeps("b;c", 2).short_what() == "b;c");
	CHECK(sleeps("b;c;k", 2).short_what() == "b;c;k");
	CHECK(sleeps("b;c;k;l;m", 2).short_what() == "b;c;...;m");
	CHECK(sleeps("b;c;d;e;f;g;k;l", 6).short_what() == "...;c;d;e;f;g;...;l");
	CHECK(sleeps("k;l;m;n;o;p", 0).short_what() == "...;l;m;n;o;p"); // of a thread of the kernel
	CHECK(sleeps("b;c;k;l;m", 2).what() == "b;c;k;l;m");
	const Measured before = measured({{sleeps("b;c", 1), {500, {}, true}}, {sleeps("b;d", 1), {500, {}, true}}});
	Measured after = measured({{sleeps("b;c", 1), {900, {}, true}}});
	const diff::Comparison comparison = diff::compare({before}, {after}, diff::Ours::command, {});
	REQUIRE(comparison.rankings.front().of == diff::Ranking::Of::sleeps);
	CHECK(comparison.rankings.front().rows.front().key == sleeps("b;d", 1));
	CHECK(find(comparison, sleeps("b;c", 1))->time_ns.difference() == 400.0);
	const std::string text =
	    diff::comparison_text({{{before}, "", "", ""}, {{after}, "", "", ""}, comparison, {}}, 20, 0);
	CHECK(text.find("time asleep by whole stack:\n") != std::string::npos);
	after.has_sleep_stacks = false;
	CHECK_FALSE(find(diff::compare({before}, {after}, diff::Ours::command, {}), sleeps("b;d", 1))
			->time_ns.after.has_value());
}

TEST_CASE("diff: names are compared without what differs from build to build, and shown with it")
{
	for (const auto &[name, plain] :
	     std::map<std::string, std::string>{{"work", "work"},
						{"work.llvm.1234567890123", "work"},
						{"work.constprop.1.isra.0", "work"},
						{"work.part.0.cold", "work"},
						{"work.lto_priv.7", "work"},
						{"work(int) [clone .isra.0] [clone .cold]", "work(int)"},
						{"crate4::work::h0123456789abcdef", "crate4::work"},
						{"crate4::work::h0123", "crate4::work::h0123"},
						{"main::{lambda(unsigned long)#2}::operator()(unsigned long) const",
						 "main::{lambda(unsigned long)}::operator()(unsigned long) const"},
						{"crate::main::{closure#0}", "crate::main::{closure}"},
						{"main::$_12::operator()() const", "main::$_::operator()() const"},
						{"v1.2", "v1.2"},
						{".cold", ".cold"},
						{"#", "#"},
						{"[clone .x", "[clone .x"},
						{"", ""}})
		CHECK(monitor::without_build_suffixes(name) == plain);
	const RowKey old{Item::function, false, "a", "", "work", 0, "work.llvm.1"};
	const RowKey now{Item::function, false, "a", "", "work", 0, "work.llvm.2"};
	CHECK(old == now);
	CHECK_FALSE(old < now);
	CHECK(now.what() == "work.llvm.2");
}

TEST_CASE("diff: what is in no row is 0 only if nothing is missing and it was recorded")
{
	const Measured before = measured({{call("a", "read"), {500, 5, true}}, {user("a"), {50, {}, true}}});
	Measured after = measured({{user("a"), {50, {}, true}}});
	const auto read_after = [&] {
		return find(diff::compare({before}, {after}, diff::Ours::command, {RowKind::calls}), call("a", "read"))
		    ->time_ns.after;
	};
	CHECK(read_after() == 0.0);
	after.is_whole = false;
	CHECK_FALSE(read_after().has_value());
	after.is_whole = true;
	after.recorded.calls = false;
	CHECK_FALSE(read_after().has_value());
	after.recorded.calls = true;
	after.hidden_commands = {"a"};
	CHECK_FALSE(read_after().has_value());
	// One repetition that does not know makes the side unknown, and nothing is tested.
	std::vector<Measured> mixed(4, before);
	mixed[2].recorded.calls = false;
	mixed[2].rows.clear();
	const diff::Comparison comparison =
	    diff::compare(std::vector(4, before), mixed, diff::Ours::command, {RowKind::calls});
	CHECK_FALSE(find(comparison, call("a", "read"))->time_ns.after.has_value());
	CHECK(comparison.tests.tested == 0);
}

TEST_CASE("diff: calls and modes are all of a thread's CPU time, as the fold has it")
{
	std::uint64_t paths = 0;
	for (unsigned seed = 0; seed < 100; ++seed) {
		std::mt19937 random(seed);
		std::uint64_t time = 10;
		history::History history = history::random_history(random, time);
		trace::Trace trace = samples::trace(history.all(), history::events);
		analyze::RecordingInfo info = history::make_info(10, time, true, false);
		info.cost_ns["call_edge"] = info.cost_ns["fault_edge"] = 3;
		analyze::ThreadFold fold(trace, info);
		diff::CallTimes times(diff::Plan(), info);
		fold.add(static_cast<analyze::Observer &>(times));
		fold.add(static_cast<analyze::TimeObserver &>(times));
		analyze::feed(trace, fold);
		for (const analyze::Thread &thread : fold.threads()) {
			const diff::CallTimes::ThreadTimes *of = times.find(thread);
			if (!of || thread.tid == 0)
				continue;
			std::uint64_t kernel = of->faults.kernel, path = of->faults.path + of->pending_path, slept = 0;
			for (const auto &[number, part] : of->calls) {
				kernel += part.kernel;
				path += part.path;
			}
			for (const auto &[key, part] : of->sleeps)
				slept += part.ticks;
			INFO("seed " << seed << ", thread " << thread.tid);
			CHECK(kernel <= thread.usage[analyze::Mode::kernel]);
			CHECK(path <= thread.usage[analyze::Mode::unattributed]);
			paths += path;
			CHECK(slept == thread.usage.blocked);
		}
	}
	CHECK(paths > 0);
}

TEST_CASE("diff: who ended a sleep is not told apart where not all recordings know it")
{
	for (const bool same_wakers : {true, false}) {
		history::History woken;
		woken.switches(0, 0, 0, history::running, 7);
		woken.switches(1, 0, 0, history::running, 9);
		woken.switches(0, 20, 7, history::sleeping, 0);
		woken.wakes(1, 120, 7); // by 9
		woken.switches(0, 150, 0, history::running, 7);
		trace::Trace trace = samples::trace(woken.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(0, 300, true, false);
		analyze::ThreadFold fold(trace, info);
		diff::Plan plan;
		plan.ours = diff::Ours::selected;
		plan.same_wakers = same_wakers;
		diff::CallTimes times(plan, info);
		fold.add(static_cast<analyze::TimeObserver &>(times));
		analyze::feed(trace, fold);
		const auto thread = std::ranges::find(fold.threads(), 7, &analyze::Thread::tid);
		REQUIRE(thread != fold.threads().end());
		const diff::CallTimes::ThreadTimes *of = times.find(*thread);
		REQUIRE(of);
		REQUIRE(of->sleeps.size() == 1);
		using EndedBy = diff::CallTimes::EndedBy;
		CHECK(of->sleeps.begin()->first.ended_by == (same_wakers ? EndedBy::own : EndedBy::other));
	}
}

TEST_CASE("diff: an interrupt that wakes the command while the recorder runs is not its start")
{
	analyze::RecordingInfo info;
	info.command_pid = 7;
	const diff::CallTimes times(diff::Plan(), info);
	analyze::Thread command, recorder;
	command.tid = command.tgid = 7;
	command.parent = recorder.tid = recorder.tgid = 3;
	analyze::Waker waker;
	waker.thread = &recorder;
	using EndedBy = diff::CallTimes::EndedBy;
	CHECK(times.ended_by(command, 100, waker) == EndedBy::recorder);
	waker.interrupt = 0;
	CHECK(times.ended_by(command, 100, waker) == EndedBy::other);
}

} // namespace test_diff
