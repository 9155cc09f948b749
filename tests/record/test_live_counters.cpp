// SPDX-License-Identifier: MIT
// Counters in the windows of a fold whose blocks come while they are written: those that a fold of all blocks counts in
// that part of the time; and the rows that they come into.
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/live/measured_rows.h"
#include "answers/live/refresh.h"
#include "answers/top/columns.h"
#include "answers/top/row_filter.h"
#include "counter_history.h"
#include "live_folding.h"

namespace test_live_counters {

using namespace monitor;
using namespace counter_history;
using namespace live_folding;
using analyze::CounterSums;

namespace {

// Figures by who they are of: a thread, a CPU, or nobody.
using Counted = std::map<std::string, std::vector<std::uint64_t>>;

std::vector<std::uint64_t> figures_of(const CounterSums &sums)
{
	std::vector<std::uint64_t> all = sums.counts;
	for (const auto *part : {&sums.ticks, &sums.enabled_ns, &sums.missed_ns})
		all.insert(all.end(), part->begin(), part->end());
	all.push_back(sums.occurrences);
	return all;
}

Counted counted(const analyze::CounterFold &fold)
{
	Counted all;
	for (const auto &[number, part] : fold.parts()) {
		std::map<std::string, CounterSums> sums;
		for (const auto &[thread, cgroups] : part.threads)
			sums[fmt::format("thread {}", thread->tid)] += part.of(*thread);
		for (const auto &[cpu, of] : part.cpus)
			sums[fmt::format("CPU {}", cpu)] += of;
		sums["unknown"] += part.unknown;
		for (const auto &[who, of] : sums)
			all[who] = figures_of(of);
	}
	if (all.empty())
		all["unknown"] = figures_of(fold.none());
	return all;
}

struct Cpu {
	std::uint64_t time = 10, instructions = 0, clock = 0, enabled = 0, running = 0, thread = 7;
};

// Both sets are read at switches and in between; the second one does not always count, and there are losses.
History random_readings(std::mt19937 &random, std::uint64_t &end)
{
	History history(2);
	std::vector<Cpu> cpus(2);
	for (int i = 0; i < 120; ++i) {
		const auto number = static_cast<std::uint32_t>(random() % 2);
		Cpu &cpu = cpus[number];
		cpu.time += 1 + random() % 40;
		cpu.instructions += random() % 100;
		cpu.clock += random() % 30;
		cpu.enabled += random() % 30;
		cpu.running += std::min<std::uint64_t>(cpu.enabled - cpu.running, random() % 30);
		if (history.streams[number].room() < 100 || random() % 20 == 0)
			history.open(number, cpu.time, random() % 3 * 5, static_cast<std::uint32_t>(cpu.thread));
		history.reads(number, cpu.time, {cpu.instructions, cpu.clock});
		history.reads_long(number, cpu.time + 1, {cpu.enabled, cpu.running, cpu.instructions / 2}, 1);
		cpu.time += 2;
		if (random() % 3) {
			const std::uint64_t next = random() % 4 ? number * 10 + 1 + random() % 3 : 0;
			history.switches(number, cpu.time, cpu.thread, next);
			cpu.thread = next;
		}
		end = std::max(end, cpu.time + 20);
	}
	return history;
}

std::string json_of(History &history)
{
	return R"(, "counters": )" + history.counters().dump();
}

} // namespace

TEST_CASE("live counters: each window has what a fold of all counts in that time")
{
	std::mt19937 random(61);
	std::size_t windows = 0, counting = 0;
	for (int round = 0; round < 100; ++round) {
		std::uint64_t end = 0;
		History history = random_readings(random, end);
		history.start = {reading(0, 5, {0, 0}), reading(1, 5, {0, 0}), reading(0, 5, {0}, 1, 1, 1)};
		trace::Trace trace = trace_of(history);
		analyze::RecordingInfo info = recording(history.counters(), 5);
		info.end.time = end;
		LiveFold *made = nullptr;
		LiveFold fold(40 + random() % 200, [&] {
			const analyze::Scope scope{
			    {made->thread_fold().window_begin(), made->thread_fold().window_end() - 1}, {}, {}};
			INFO("round " << round << ", window " << scope.range.from << " to " << scope.range.to);
			analyze::ThreadFold thread_fold(trace, info, scope);
			analyze::CounterFold witness(trace.description(), info.counters.value(), 0, 0, scope);
			thread_fold.add(witness);
			analyze::feed(trace, thread_fold);
			const Counted live = counted(*made->counters());
			CHECK(live == counted(witness));
			++windows;
			counting += live.size() > 1;
		});
		made = &fold;
		fold.start(start_at(5, events, json_of(history)));
		feed_all(fold, history.streams, *samples::description(events), end, random);
	}
	CHECK(windows > 500);
	CHECK(counting > 400);
}

TEST_CASE("live counters: rows have what was counted in them, and nothing is 0 that was not counted")
{
	History history;
	Json lacking = measurement("miss", "counters", List());
	lacking["missing"] = "no PMU in this VM";
	history.measurements = {measurement("rate", "counters", {term(0)}, {term(1)}),
				measurement("count", "nothing", {term(0)}), lacking};
	history.start = {reading(0, 100, {0, 0})};
	history.turns(0, 150, {50, 100}, 7, 8);
	history.turns(0, 180, {350, 200}, 8, 0);
	history.turns(0, 250, {360, 220}, 0, 7);
	live::Refreshes refreshes(100);
	refreshes.keep_all();
	refreshes.fold()->start(start_at(100, events, json_of(history)));
	std::mt19937 random(1);
	feed_all(*refreshes.fold(), history.streams, *samples::description(events), 600, random);
	std::vector<std::string> reported;
	const std::vector<top::FigureColumn> columns =
	    top::figure_columns({{"rate", "", false}, {"count", "", true}, {"miss", "%", false}});
	for (const auto &refresh : all_of(refreshes)) {
		if (refresh->number > 2)
			break;
		for (const auto &row : refresh->rows.rows) {
			std::string text = fmt::format("{}: {}", refresh->number, top::name_of_row(row));
			for (const top::FigureColumn &column : columns)
				if (column.name == "rate" || column.name == "count" || column.name == "miss")
					text += fmt::format(" {}", column.text(*refresh, row));
			reported.push_back(text);
		}
		for (const auto &row : refresh->ratios.rows)
			reported.push_back(fmt::format("{}: {} {}", refresh->number, std::get<std::string>(row[1]),
						       report::cell_text(row[6], report::Unit::count)));
	}
	// In the second window 7 runs and 8 sleeps, and neither is read.
	CHECK(reported == std::vector<std::string>{"1: ? 0.50 50 -", "1: ? 3.00 300 -", "1: idle -", "2: ? - - -",
						   "2: ? - - -", "2: idle 10"});
}

TEST_CASE("live counters: what is scaled up has a mark")
{
	live::Refresh refresh;
	refresh.rows.columns = {{"IPC", "IPC", report::Unit::ratio},
				{"IPC_counting_percent", "counting%", report::Unit::percent}};
	const top::FigureColumn column = top::figure_columns({{"IPC", "", false}}).at(5);
	CHECK(column.title == "IPC");
	CHECK(column.text(refresh, {1.236, 100.0}) == "1.24");
	CHECK(column.text(refresh, {1.236, 50.0}) == "~1.24");
	CHECK(column.text(refresh, {report::Cell(), report::Cell()}) == "-");
}

TEST_CASE("live counters: in expressions a name in backquotes is that of what was measured")
{
	live::Refresh refresh;
	refresh.end_ns = 1'000'000'000;
	refresh.rows.columns = {{"minor_faults", "minflt", report::Unit::count},
				{"major_faults", "majflt", report::Unit::count},
				{"faults", "faults", report::Unit::count},
				{"LLC miss", "LLC miss", report::Unit::percent}};
	const std::vector<report::Cell> row = {std::uint64_t{30}, std::uint64_t{4}, std::uint64_t{50}, 7.5};
	const auto columns = top::figure_columns({{"faults", "", true}, {"LLC miss", "%", false}});
	const auto takes = [&](const char *text) { return top::RowFilter(text, columns).matches(refresh, row); };
	CHECK(takes("faults == 34"));
	CHECK(takes("`faults` == 50"));
	CHECK(takes("`LLC miss` > 7 and `LLC miss` < 8"));
	CHECK(takes("`cpu` > 1 or not has(`cpu`)")); // there is no other
}

TEST_CASE("live counters: rows of one name and number get nothing, as it is not known whose it was")
{
	report::Table rows{{{"recorded", "", report::Unit::flag},
			    {"process", "process", report::Unit::text},
			    {"pid", "pid", report::Unit::count},
			    {"cpu_ns", "CPU time", report::Unit::nanoseconds}},
			   {}};
	report::Table measured = rows;
	measured.columns.back() = {"faults", "faults", report::Unit::count};
	const auto row = [](const char *name, report::Cell pid, std::uint64_t figure) {
		return std::vector<report::Cell>{false, std::string(name), pid, figure};
	};
	rows.rows = {row("a", std::uint64_t{1}, 5), row("b", std::uint64_t{2}, 6), row("b", std::uint64_t{2}, 7),
		     row("c", std::uint64_t{3}, 8)};
	measured.rows = {row("b", std::uint64_t{2}, 60), row("a", std::uint64_t{1}, 50), row("idle", {}, 90)};
	measured.rows[1][0] = true; // the mark of the recorded command may differ
	const report::Table rest = live::add_measured(rows, measured);
	CHECK(report::to_csv(rows) == "recorded,process,pid,cpu_ns,faults\n0,\"a\",1,5,50\n0,\"b\",2,6,\n"
				      "0,\"b\",2,7,\n0,\"c\",3,8,\n");
	CHECK(rest.rows.size() == 2);
}

} // namespace test_live_counters
