// SPDX-License-Identifier: MIT
// Measurements of what was counted, and their table: ratios, rates, shares, estimates, and what is not known.
#include <catch2/catch.hpp>

#include "answers/report/measurements_table.h"
#include "counter_history.h"
#include "reading/analyze/measure.h"

namespace test_measurements {

using namespace monitor;
using namespace counter_history;
using report::Cell;

namespace {

constexpr const char *exact_line = "counted: all counters were counting all the time\n";

// One measurement of sums that a test sets: 300 instructions, 150 ns of clock, 40 instructions of the other set, in
// 200 ticks of half a nanosecond each.
struct Measuring {
	explicit Measuring(const Json &measurement)
	{
		Json json = description();
		json["measurements"] = List{measurement};
		info = counters_info(json).value();
		sums.counts = {300, 150, 40};
		sums.ticks = {200, 200};
		sums.enabled_ns = {100, 100};
		sums.missed_ns = {0, 0};
		sums.occurrences = 4;
		clock.frequency_hz = 2'000'000'000;
	}
	analyze::Measured result() const { return analyze::measure(info.measurements.at(0), sums, info, clock); }

	analyze::CountersInfo info;
	analyze::CounterSums sums;
	trace::Clock clock;
};

std::optional<double> value(const char *per, const List &numerator, const List &denominator = {})
{
	return Measuring(measurement("m", per, numerator, denominator)).result().value;
}

// 7, 8, idle and a loss, with an exact ratio, a plain count and one that is missing.
History mixed()
{
	History history;
	Json lacking = measurement("miss", "counters", List());
	lacking["missing"] = "no PMU in this VM";
	history.measurements = {measurement("rate", "counters", {term(0)}, {term(1)}),
				measurement("count", "nothing", {term(0)}),
				measurement("share", "time", {term(1)}, List(), "%"), lacking};
	history.start = {reading(0, 100, {0, 0})};
	history.turns(0, 200, {50, 100}, 7, 8);
	history.turns(0, 400, {350, 200}, 8, 0);
	history.turns(0, 500, {350, 200}, 0, 7);
	history.open(0, 550, 2, 7);
	history.turns(0, 600, {400, 300}, 7, 8);
	history.end = {reading(0, 700, {410, 310})};
	return history;
}

report::Table table_of(const Folded &folded, const report::MeasurementsOptions &options = {})
{
	return report::measurements_table(folded.fold, folded.thread_fold, folded.trace.description().clock, options);
}

// The cells of a row, "-" for those without a value.
std::string row_text(const report::Table &table, std::size_t row)
{
	std::string text = report::to_csv(table);
	for (std::size_t i = 0; i <= row; ++i)
		text.erase(0, text.find('\n') + 1);
	return text.substr(0, text.find('\n'));
}

} // namespace

TEST_CASE("measurements: a cgroup has what was counted while threads were in it")
{
	History history;
	const std::string with_moves =
	    events +
	    samples::event_block(EDC_ID_CGROUP_ATTACH_TASK, "cgroup_attach_task",
				 "u16_t threadgroup; s32_t pid; s32_t dst_root; u64_t dst_id; s32_t dst_level; "
				 "u32_t reserved;");
	history.measurements = {measurement("count", "nothing", {term(0)})};
	history.start = {reading(0, 100, {0, 0})};
	for (const auto &[time, cgroup] : {std::pair(150u, 71u), std::pair(250u, 72u)}) {
		history.streams[0].post(time, EDC_ID_CGROUP_ATTACH_TASK, 0, {7, cgroup, 0});
		history.turns(0, time + 50, {time, time}, 7, 0);
		history.turns(0, time + 60, {time + 5, time}, 0, 7);
	}
	history.end = {reading(0, 400, {300, 300})};
	const Folded folded(history, 0, 0, with_moves);
	report::MeasurementsOptions options;
	options.grouping.by = report::GroupBy::cgroup;
	options.grouping.cgroup_paths = {{71, "/a"}, {72, "/b"}};
	const report::Table table = table_of(folded, options);
	REQUIRE(table.rows.size() == 3);
	CHECK(row_text(table, 0) == "0,\"/b\",180,140,100"); // 250 - 155, and 300 - 255
	CHECK(row_text(table, 1) == "0,\"/a\",100,150,100");
}

TEST_CASE("measurements: counts are divided by counters, time, seconds or occurrences")
{
	CHECK(value("counters", {term(0)}, {term(1)}) == 2.0);
	CHECK(value("nothing", {term(0)}) == 300.0);
	CHECK(value("occurrences", {term(0)}) == 75.0);
	CHECK(value("seconds", {term(0)}) == 300 / 100e-9);
	CHECK(value("time", {term(0)}) == 1.5); // of 200 ticks
	CHECK(value("time", {term(1)}) == 1.5); // 150 ns of 100 ns
}

TEST_CASE("measurements: factors, sums, and two counters of one name")
{
	CHECK(value("counters", {term(0, 2), term(1, 0.5)}, {term(1, 3), term(1)}) == 675.0 / 600);
	CHECK(value("nothing", {term(2)}) == 40.0);
	CHECK(value("counters", {term(2)}, {term(0)}) == 40.0 / 300);
	CHECK(value("nothing", {term(0), term(0)}) == 600.0);
}

TEST_CASE("measurements: what was missed is scaled up and says so")
{
	Measuring scaled(measurement("m", "counters", {term(0)}, {term(1)}));
	scaled.sums.missed_ns = {75, 0};
	CHECK(scaled.result().counting == 0.25);
	CHECK(scaled.result().value == 2.0);
	Measuring count(measurement("m", "nothing", {term(0)}));
	count.sums.missed_ns = {75, 0};
	CHECK(count.result().value == 1200.0);
	Measuring two_sets(measurement("m", "counters", {term(2)}, {term(0)}));
	two_sets.sums.missed_ns = {50, 75};
	CHECK(two_sets.result().counting == 0.25);
	CHECK(two_sets.result().value == 160.0 / 600);
	Measuring other(measurement("m", "nothing", {term(2)}));
	other.sums.missed_ns = {75, 0}; // of the set that it is not in
	CHECK(other.result().counting == 1);
}

TEST_CASE("measurements: what was never counted, 0/0 and what is missing have no value")
{
	Measuring never(measurement("m", "nothing", {term(0)}));
	never.sums.missed_ns = {100, 0};
	CHECK_FALSE(never.result().value);
	never.sums.missed_ns = {500, 0};
	CHECK_FALSE(never.result().value);
	Measuring none(measurement("m", "counters", {term(0)}, {term(1)}));
	none.sums.counts = {0, 0, 0};
	CHECK_FALSE(none.result().value);
	none.sums.counts = {0, 5, 0};
	CHECK(none.result().value == 0.0);
	for (const char *per : {"nothing", "seconds", "time", "occurrences"}) {
		Measuring empty(measurement("m", per, {term(0)}));
		empty.sums.ticks = {0, 0};
		empty.sums.occurrences = 0;
		CHECK_FALSE(empty.result().value);
	}
	Json lacking = measurement("m", "nothing", {term(0)});
	lacking["missing"] = "unknown";
	CHECK_FALSE(Measuring(lacking).result().value);
	CHECK_FALSE(value("nothing", List()));
	CHECK_FALSE(value("counters", {term(0)}));
}

TEST_CASE("measurements: a table has threads by time, then idle, then what lies after losses")
{
	History history = mixed();
	Folded folded(history);
	const report::Table table = table_of(folded);
	CHECK(report::to_csv(table).starts_with("recorded,process,pid,counted_ns,rate,rate_counting_percent,count,"
						"count_counting_percent,share,share_counting_percent,miss,"
						"miss_counting_percent\n"));
	REQUIRE(table.rows.size() == 4);
	CHECK(row_text(table, 0) == "0,\"?\",8,300,2.8181818181818183,100,310,100,36.666666666666664,100,,");
	CHECK(row_text(table, 1) == "0,\"?\",7,100,0.5,100,50,100,100,100,,");
	CHECK(row_text(table, 2) == "0,\"idle\",,100,,,0,100,0,100,,");
	CHECK(row_text(table, 3) == "0,\"unknown\",,100,0.5,100,50,100,100,100,,");
	CHECK(std::holds_alternative<std::uint64_t>(table.rows[0][table.column("count")]));
	const report::Table by_cpu = table_of(folded, {{report::GroupBy::cpu, false, {}}, 0});
	REQUIRE(by_cpu.rows.size() == 1);
	CHECK(by_cpu.columns[0].key == "cpu");
	CHECK(row_text(by_cpu, 0) == "0,600,1.3225806451612903,100,410,100,51.66666666666667,100,,");
}

TEST_CASE("measurements: rows for each part of time")
{
	History history = mixed();
	Folded folded(history, 300, 100);
	const report::Table table = table_of(folded, {{}, 300});
	CHECK(table.columns[0].key == "from_ns");
	std::string seen;
	for (const auto &row : table.rows)
		seen += std::to_string(std::get<std::uint64_t>(row[0])) + " " + std::get<std::string>(row[2]) + " " +
			std::to_string(std::get<std::uint64_t>(row[4])) + "\n";
	CHECK(seen == "0 ? 100\n0 idle 0\n300 ? 200\n300 idle 100\n300 unknown 100\n600 ? 100\n600 idle 0\n");
}

TEST_CASE("measurements: people see no column of what was counted all the time")
{
	History history = mixed();
	Folded folded(history);
	const report::Table table = table_of(folded), shown = report::without_exact(table);
	CHECK(shown.columns.size() == table.columns.size() - 4);
	CHECK(report::to_csv(shown).starts_with("recorded,process,pid,counted_ns,rate,count,share,miss\n"));
	CHECK(row_text(shown, 1) == "0,\"?\",7,100,0.5,50,100,");
	CHECK(report::provenance_text(folded.fold.info(), table) ==
	      exact_line + std::string("n/a: miss: no PMU in this VM\n"));
	const Json said = Json::parse(report::provenance_json(folded.fold.info(), table));
	REQUIRE(said.size() == 4);
	CHECK(said[0]["state"] == "counted");
	CHECK(said[0]["reason"] == "");
	CHECK(said[2]["unit"] == "%");
	CHECK(said[3] == Json({{"name", "miss"},
			       {"unit", ""},
			       {"group", "test"},
			       {"formula", "miss"},
			       {"state", "n/a"},
			       {"reason", "no PMU in this VM"}}));
}

TEST_CASE("measurements: what was scaled up in one row is said of the column")
{
	History history;
	history.measurements = {measurement("a", "nothing", {term(0)}), measurement("b", "nothing", {term(2)})};
	history.start = {reading(0, 100, {0, 0}, 0, 1000, 1000), reading(0, 100, {0}, 1)};
	history.reads(0, 200, {5}, 1);
	history.turns(0, 200, {10, 1}, 7, 8);
	history.reads(0, 290, {6}, 1);
	history.reads_long(0, 290, {1180, 1135, 20, 2});
	history.switches(0, 290, 8, 0);
	Folded folded(history);
	const report::Table table = table_of(folded), shown = report::without_exact(table);
	CHECK(report::to_csv(shown).starts_with("recorded,process,pid,counted_ns,a,a_counting_percent,b\n"));
	CHECK(row_text(shown, 0) == "0,\"?\",7,100,10,100,5");
	CHECK(row_text(shown, 1) == "0,\"?\",8,90,20,50,1");
	CHECK(std::holds_alternative<double>(table.rows[1][table.column("a")])); // an estimate is no whole number
	CHECK(report::provenance_text(folded.fold.info(), table).starts_with("counting%: scaled up"));
	const Json said = Json::parse(report::provenance_json(folded.fold.info(), table));
	CHECK(said[0]["state"] == "scaled");
	CHECK(said[1]["state"] == "counted");
}

TEST_CASE("measurements: names and reasons of foreign origin do not reach a terminal raw")
{
	History history;
	Json evil = measurement("a\x1b[1m", "nothing", {term(0)});
	evil["missing"] = "why\n";
	Json bad = measurement("b", "nothing", {term(9)});
	history.measurements = {evil, bad};
	Folded folded(history);
	CHECK(report::provenance_text(folded.fold.info(), table_of(folded)) ==
	      "n/a: b: its counters are not described in this trace\nn/a: a\\x1b[1m: why\\n\n");
}

// More counters than there are, and a set's turn never came.
TEST_CASE("measurements: what was never counted is not said to be counted")
{
	History history;
	history.measurements = {measurement("a", "nothing", {term(0)})};
	history.start = {reading(0, 100, {0, 0}, 0, 1000, 0)};
	history.reads_long(0, 300, {1200, 0, 0, 0});
	history.switches(0, 300, 7, 0);
	Folded folded(history);
	const report::Table table = table_of(folded);
	REQUIRE(row_text(table, 0) == "0,\"?\",7,200,,");
	CHECK(report::provenance_text(folded.fold.info(), table).find("counted: all") == std::string::npos);
	CHECK(Json::parse(report::provenance_json(folded.fold.info(), table))[0]["state"] == "n/a");
}

// A factor makes a count of something else: it need not be whole.
TEST_CASE("measurements: a count with a factor keeps its fraction")
{
	History history = mixed();
	history.measurements = {measurement("k", "nothing", {term(0, 1e-3)})};
	Folded folded(history);
	CHECK(row_text(table_of(folded), 0) == "0,\"?\",8,300,0.31,100");
}

// CPUs of two kinds: those of the second have the second set only.
TEST_CASE("measurements: what was counted by the second set only is in the table too")
{
	History history;
	history.measurements = {measurement("b", "nothing", {term(2)})};
	history.start = {reading(0, 100, {0}, 1)};
	history.open(0, 150, 2, 7);
	history.reads(0, 200, {50}, 1);
	history.switches(0, 200, 7, 8);
	Folded folded(history);
	const report::Table table = table_of(folded);
	CHECK(folded.unknown().counts == Values{0, 0, 50});
	CHECK(std::get<std::string>(table.rows.back().at(1)) == "unknown");
}

} // namespace test_measurements
