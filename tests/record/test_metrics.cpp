// SPDX-License-Identifier: MIT
// The sums of monitor serve: of the same events they are the same however long windows are, and rows sum up to the
// machine.
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/metrics/families.h"
#include "answers/metrics/metrics.h"
#include "history.h"
#include "live_folding.h"

namespace test_metrics {

using namespace monitor;
using namespace history;
using namespace live_folding;
using metrics::Figures;
using metrics::Metrics;
using metrics::RowFigures;

namespace {

bool is_near(double one, double other)
{
	return std::abs(one - other) < 1e-12;
}

RowFigures sum_of_rows(const Figures &figures)
{
	RowFigures sum;
	for (const auto &[who, series] : figures.rows)
		sum += series.value;
	for (const RowFigures *fixed :
	     {&figures.other, &figures.idle, &figures.unknown, &figures.unselected, &figures.retired})
		sum += *fixed;
	return sum;
}

void check_sums(const Figures &figures)
{
	const RowFigures sum = sum_of_rows(figures);
	for (std::size_t mode = 0; mode < analyze::modes; ++mode)
		CHECK(is_near(sum.cpu[mode], figures.machine.cpu[mode]));
	CHECK(sum.voluntary + sum.involuntary + figures.machine.idle_switches == figures.machine.switches);
	CHECK(sum.calls == figures.machine.calls);
	CHECK(sum.minor_faults == figures.machine.minor_faults);
}

// What never steps back, as text.
std::map<std::string, double> counters_of(const Figures &figures)
{
	std::map<std::string, double> counters;
	const std::string text = metrics::exposition(figures, {"1", 0}, metrics::Format::text);
	for (std::size_t at = 0; at < text.size();) {
		const std::size_t end = text.find('\n', at);
		const std::string line = text.substr(at, end - at);
		at = end + 1;
		const std::size_t space = line.rfind(' ');
		if (line[0] != '#' && line.find("_timestamp_") == std::string::npos &&
		    line.find("monitor_threads") == std::string::npos)
			counters[line.substr(0, space)] = std::stod(line.substr(space));
	}
	return counters;
}

struct Fed {
	std::shared_ptr<const Figures> figures;
	std::size_t windows = 0;
};

Fed feed(History history, std::uint64_t end, std::uint64_t window_ns, std::size_t max_series, std::mt19937 &random)
{
	Metrics made(window_ns, max_series);
	made.name_cgroups({{1, "/one"}});
	CHECK_FALSE(made.newest());
	made.fold()->start(start_at(100, events));
	REQUIRE(made.newest());
	CHECK(made.newest()->windows == 0);
	std::map<std::string, double> before;
	std::uint64_t retired = 0;
	Fed fed;
	const auto look = [&] {
		const auto newest = made.newest();
		if (newest->windows == fed.windows)
			return;
		fed.windows = newest->windows;
		check_sums(*newest);
		const auto counters = counters_of(*newest);
		for (const auto &[name, value] : counters) {
			const auto earlier = before.find(name);
			const bool is_new = newest->retired_rows + newest->retired_calls != retired; // may be, since
			if (earlier != before.end() && !is_new && value < earlier->second)
				FAIL_CHECK(name << " steps back from " << earlier->second << " to " << value);
		}
		retired = newest->retired_rows + newest->retired_calls;
		before = counters;
	};
	feed_all(*made.fold(), history.all(), *samples::description(events), end, random, look);
	look();
	return {made.newest(), fed.windows};
}

} // namespace

TEST_CASE("metrics: rows sum up to the machine, and windows to the whole")
{
	std::mt19937 random(19);
	std::size_t windows = 0, rows = 0, retired = 0;
	for (int round = 0; round < 40; ++round) {
		std::uint64_t time = 100;
		History history = random_history(random, time);
		for (std::int32_t tid = 1; tid < 5; ++tid) {
			history.lists(40, tid, 1, EDC_NO_SYSCALL, 0);
			history.list.post(40, EDC_ID_SCHED_PROCESS_EXEC, 0,
					  {pair(tid, tid), 'a' + static_cast<std::uint64_t>(tid), 0});
		}
		const std::size_t few = 1 + random() % 4; // each in a statement of its own: history.h
		const Fed many = feed(history, time + 10, 90 + random() % 400, few, random),
			  one = feed(history, time + 10, 1'000'000, 1 + random() % 4, random);
		windows += many.windows;
		rows += many.figures->rows.size();
		retired += many.figures->retired_rows;
		CHECK(one.windows == 1);
		const RowFigures many_sum = sum_of_rows(*many.figures), one_sum = sum_of_rows(*one.figures);
		CHECK(many_sum.voluntary == one_sum.voluntary);
		CHECK(many_sum.involuntary == one_sum.involuntary);
		CHECK(many_sum.calls == one_sum.calls);
		CHECK(many_sum.run_queue.counts == one_sum.run_queue.counts);
		CHECK(is_near(many_sum.run_queue.seconds, one_sum.run_queue.seconds));
		CHECK(many.figures->machine.events == one.figures->machine.events);
		CHECK(is_near(many.figures->covered_s, static_cast<double>(time + 10 - 100) / 1e9));
		CHECK(is_near(many.figures->covered_s, one.figures->covered_s));
	}
	CHECK(windows > 200);
	CHECK(rows > 60);
	CHECK(retired > 0);
}

TEST_CASE("metrics: latencies are of who had them, and in the window of their end")
{
	History history;
	history.cpu(0).post(100, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(7, 7), pair(1, 120), 0x61 /* "a" */, 0});
	history.switches(0, 110, 0, running, 7);
	history.posts(0, 120, EDC_ID_SYS_ENTER, 39);
	history.posts(0, 3'120, EDC_ID_SYS_EXIT);
	history.posts(0, 4'000, EDC_ID_SYS_ENTER, 39);
	history.cpu(0).post(4'010, EDC_ID_SYS_EXIT, static_cast<std::uint16_t>(-2));
	history.switches(0, 5'000, 7, sleeping, 0);
	history.wakes(0, 6'000, 7);
	history.switches(0, 11'000, 0, running, 7);
	std::mt19937 random(1);
	const Fed fed = feed(history, 12'000, 2'000, 5, random);
	const Figures &figures = *fed.figures;
	REQUIRE(figures.calls.size() == 1);
	const auto &[of, calls] = *figures.calls.begin();
	CHECK(of.owner.command == "a");
	CHECK(of.owner.cgroup == "unknown");
	CHECK(of.call == "39");
	CHECK(calls.value.latency.count() == 2);
	CHECK(calls.value.latency.counts[0] == 1); // 10 ns
	CHECK(calls.value.latency.counts[2] == 1); // 3 us
	CHECK(is_near(calls.value.latency.seconds, 3.01e-6));
	CHECK(calls.value.failed == 1);
	CHECK(figures.other_calls.latency.count() == 0);
	REQUIRE(figures.rows.size() == 1);
	const RowFigures &row = figures.rows.begin()->second.value;
	CHECK(row.run_queue.count() == 2);
	CHECK(row.run_queue.counts[3] == 1); // 5 us
	CHECK(is_near(row.run_queue.seconds, 5.01e-6));
	CHECK(is_near(row.blocked, 1e-6));
	CHECK(row.calls == 2);
	CHECK(figures.machine.idle_switches == 2);
}

TEST_CASE("metrics: what was not recorded is absent, and so is a cost that is unknown")
{
	History history;
	history.switches(0, 110, 0, running, 7);
	history.switches(0, 150, 7, sleeping, 0);
	for (const bool has_all : {false, true}) {
		Metrics made(1000, 5);
		record::LiveStart start = start_at(100, events);
		start.recording =
		    has_all ? R"({"start": {"time": 100}, "programs": ["sched_switch", "sched_waking", "sys_enter",
			"sys_exit", "page_fault_user", "minor_fault", "irq_handler_entry", "softirq_entry"]})"
			    : R"({"start": {"time": 100}, "programs": ["sched_switch"]})";
		made.fold()->start(start);
		std::mt19937 random(1);
		feed_all(*made.fold(), history.all(), *samples::description(events), 500, random);
		const std::string text = metrics::exposition(*made.newest(), {"1", 7}, metrics::Format::text);
		INFO(text);
		for (const char *name :
		     {"monitor_calls_total", "monitor_call_latency_seconds", "monitor_faults_total",
		      "monitor_run_queue_latency_seconds", "monitor_waiting_seconds_total", "mode=\"irq\"",
		      "mode=\"user\"", "monitor_machine_wakings_total", "monitor_machine_interrupts_total"})
			CHECK((text.find(name) != std::string::npos) == has_all);
		CHECK(text.find("monitor_cpu_seconds_total") != std::string::npos);
		CHECK(text.find("monitor_probes_cpu_seconds") == std::string::npos);
		CHECK(text.find("\nmonitor_lost_events_total 7\n") != std::string::npos);
		CHECK(text.find("unselected") == std::string::npos);
	}
}

TEST_CASE("metrics: a loss is told as time that is not complete")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.cpu(0).open(350, 5);
	history.switches(0, 360, 0, running, 7);
	std::mt19937 random(1);
	const Fed fed = feed(history, 500, 100, 5, random);
	CHECK(is_near(fed.figures->covered_s, 400e-9));
	CHECK(is_near(fed.figures->incomplete_s, 300e-9)); // from the last event before it
}

TEST_CASE("metrics: a cgroup without a name is one of the others until it has one")
{
	History history;
	history.moves(0, 100, 7, 42);
	history.switches(0, 110, 0, running, 7);
	history.switches(0, 150, 7, running, 7);
	history.switches(0, 350, 7, running, 7);
	Metrics made(200, 5);
	made.fold()->start(start_at(100, events));
	std::mt19937 random(1);
	std::size_t windows = 0;
	feed_all(*made.fold(), history.all(), *samples::description(events), 500, random, [&] {
		const auto newest = made.newest();
		if (newest->windows == windows)
			return;
		windows = newest->windows;
		check_sums(*newest);
		if (windows == 1) {
			CHECK(newest->rows.empty());
			CHECK(made.has_unnamed_cgroups());
			CHECK(newest->other.voluntary + newest->other.involuntary == 1);
			made.name_cgroups({{42, "/a\"b"}});
		}
	});
	const auto newest = made.newest();
	CHECK_FALSE(made.has_unnamed_cgroups());
	REQUIRE(newest->rows.size() == 1);
	CHECK(newest->rows.begin()->first.cgroup == "/a\"b");
	CHECK(newest->rows.begin()->second.created_s > newest->start_s);
	CHECK(metrics::exposition(*newest, {}, metrics::Format::openmetrics).find(R"({cgroup="/a\"b",command="?")") !=
	      std::string::npos);
}

} // namespace test_metrics
