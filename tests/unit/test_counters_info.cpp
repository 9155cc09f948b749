// SPDX-License-Identifier: MIT
// The member `counters` of recording.json: as it is written, and as damage or a stranger may leave it. Nothing of that
// may crash, and what is not there is not made up.
#include <catch2/catch.hpp>

#include "counter_history.h"
#include "monitor/card.h"

namespace test_counters_info {

using namespace monitor;
using namespace counter_history;

namespace {

History one_turn()
{
	History history;
	history.start = {reading(0, 100, {1000, 10})};
	history.turns(0, 200, {1500, 20}, 7, 8);
	history.turns(0, 300, {1600, 50}, 8, 7);
	history.end = {reading(0, 400, {1700, 60})};
	return history;
}

constexpr const char *not_described = "its counters are not described in this trace";

} // namespace

TEST_CASE("counters info: what is written is read")
{
	History history = one_turn();
	history.measurements = {measurement("IPC", "counters", {term(0, 2)}, {term(1)}, "per ns")};
	Json json = history.counters();
	const analyze::CountersInfo info = counters_info(json).value();
	REQUIRE(info.counters.size() == 3);
	CHECK(info.counters[1].name == "cpu-clock");
	CHECK(info.counters[1].unit == "ns");
	CHECK(info.counters[1].field == "clock");
	CHECK(info.counters[1].set == 0);
	CHECK(info.counters[2].set == 1);
	REQUIRE(info.sets.size() == 2);
	CHECK(info.sets[1].id == short_id + 1);
	CHECK(info.sets[1].scaled_id == long_id + 1);
	CHECK(info.sets[1].first == 2);
	CHECK(info.sets[1].count == 1);
	REQUIRE(info.measurements.size() == 1);
	const analyze::Measurement &ipc = info.measurements[0];
	CHECK(ipc.name + "|" + ipc.unit + "|" + ipc.group + "|" + ipc.formula == "IPC|per ns|test|IPC");
	CHECK(ipc.missing.empty());
	CHECK(ipc.numerator.at(0).factor == 2);
	CHECK(ipc.denominator.at(0).counter == 1);
	REQUIRE(info.start.size() == 1);
	CHECK(info.start[0].time == 100);
	CHECK(info.start[0].values == Values{1000, 10});
	CHECK(info.end.at(0).enabled_ns == 1000);
	CHECK(info.end.at(0).running_ns == 1000);
}

TEST_CASE("counters info: what a measurement is divided by is read")
{
	History history;
	for (const char *per : {"counters", "time", "seconds", "occurrences", "nothing"})
		history.measurements.push_back(measurement(per, per, {term(0)}));
	const analyze::CountersInfo info = counters_info(history.counters()).value();
	CHECK(info.measurements.at(0).per == analyze::Per::counters);
	CHECK(info.measurements.at(1).per == analyze::Per::time);
	CHECK(info.measurements.at(2).per == analyze::Per::seconds);
	CHECK(info.measurements.at(3).per == analyze::Per::occurrences);
	CHECK(info.measurements.at(4).per == analyze::Per::nothing);
}

TEST_CASE("counters info: what is no object is not there, and empty members are empty")
{
	for (const char *text : {"null", "[]", "7", "\"counters\""})
		CHECK_FALSE(counters_info(Json::parse(text)).has_value());
	CHECK_FALSE(analyze::parse_recording(R"({"counters": [1]})").counters.has_value());
	for (const char *text :
	     {"{}", R"({"sets": {}, "measurements": 1, "readings": [], "notes": 5, "every_ns": "x"})",
	      R"({"sets": "a", "readings": {"start": {}, "end": 7}, "every_ns": -3})"}) {
		const analyze::CountersInfo info = counters_info(Json::parse(text)).value();
		CHECK(info.sets.empty());
		CHECK(info.counters.empty());
		CHECK(info.measurements.empty());
		CHECK(info.start.size() + info.end.size() == 0);
	}
}

TEST_CASE("counters info: members of other types have their defaults")
{
	const analyze::CountersInfo info = counters_info(Json::parse(R"({
		"sets": [5, {"id": -4, "scaled_id": "x", "counters": [null, {"name": 3, "field": []}]}, {"counters": 1}],
		"measurements": [null],
		"readings": {"start": [1, {"cpu": "a", "time": -5, "values": [-1, "x", 2.5, 18446744073709551615]}]}})"))
					       .value();
	REQUIRE(info.sets.size() == 3);
	CHECK(info.sets[1].id == 0);
	CHECK(info.sets[1].count == 2);
	CHECK(info.sets[2].count == 0);
	REQUIRE(info.counters.size() == 2);
	CHECK(info.counters[1].name.empty());
	REQUIRE(info.measurements.size() == 1);
	CHECK(info.measurements[0].name.empty());
	REQUIRE(info.start.size() == 2);
	CHECK(info.start[1].time == 0);
	CHECK(info.start[1].values == Values{0, 0, 0, ~0ull});
}

TEST_CASE("counters info: a measurement of counters that are not there is missing")
{
	const auto missing = [](const List &numerator, const List &denominator = {}) {
		History history;
		history.measurements = {measurement("m", "counters", numerator, denominator)};
		return counters_info(history.counters()).value().measurements.at(0).missing;
	};
	CHECK(missing({term(2)}).empty());
	CHECK(missing({term(3)}) == not_described);
	CHECK(missing({term(0)}, {term(1), term(3)}) == not_described);
	for (const char *text : {R"({"factor": 1})", R"({"counter": 0})", R"({"counter": 0, "factor": "2"})",
				 R"({"counter": 0.5, "factor": 1})", "7", "null"})
		CHECK(missing({term(0), Json::parse(text)}) == not_described);
	CHECK(missing(List(64, term(0))).empty());
	CHECK(missing(List(65, term(0))) == not_described);
}

TEST_CASE("counters info: a reason that is written stays, whatever the terms are")
{
	History history;
	Json lacking = measurement("m", "counters", {term(99)});
	lacking["missing"] = "no PMU in this VM";
	history.measurements = {lacking};
	const analyze::CountersInfo info = counters_info(history.counters()).value();
	CHECK(info.measurements.at(0).missing == "no PMU in this VM");
	CHECK(info.measurements[0].numerator.empty());
}

TEST_CASE("counters info: a counter of a negative number is not there")
{
	History history;
	history.measurements = {measurement("m", "nothing", {term(-1)})};
	CHECK(counters_info(history.counters()).value().measurements.at(0).missing == not_described);
}

TEST_CASE("counters info: thousands of sets, counters and measurements are cut")
{
	History history;
	Json json = history.counters();
	Json big = json["sets"][0];
	for (int i = 0; i < 3; ++i) // five counters
		big["counters"].push_back(big["counters"][0]);
	json["sets"] = List(3000, big);
	json["measurements"] = List(3000, measurement("m", "nothing", {term(255)}));
	const analyze::CountersInfo info = counters_info(json).value();
	CHECK(info.sets.size() == 64);
	CHECK(info.counters.size() == 256);
	CHECK(info.measurements.size() == 256);
	CHECK(info.measurements[0].missing.empty());
	for (const analyze::CounterSetInfo &set : info.sets)
		CHECK(set.first + set.count <= info.counters.size());
	History folded_history = one_turn();
	json["readings"] = folded_history.counters()["readings"];
	Folded folded(folded_history, json);
	CHECK(folded.fold.none().counts.size() == 256);
}

TEST_CASE("counters info: readings of CPUs and sets that are not there, and of other sizes, do not count")
{
	History history = one_turn();
	history.start.push_back(reading(~0ull, 100, {1, 1}));
	history.start.push_back(reading(0, 100, {1, 1}, 2));
	history.start.push_back(reading(0, 100, {1, 1}, ~0ull));
	history.start.push_back(reading(8191, 100, {0, 0})); // a CPU without a stream: unknown
	history.end.push_back(reading(8192, 400, {1, 1}));
	history.end.push_back(reading(8191, 400, {1, 1}));
	history.end.push_back(reading(0, 400, {1, 1, 1}, 1));
	Folded folded(history);
	CHECK(folded.balances({701, 51, 0}));

	History odd = one_turn();
	odd.start = {reading(0, 100, {1000})}; // one value of two: the first token's reading is the first
	odd.end = {reading(0, 400, {1700, 60, 5})};
	CHECK(Folded(odd).balances({100, 30, 0}));
}

TEST_CASE("counters info: an event class without the fields that are named counts nothing")
{
	History history = one_turn();
	Json json = history.counters();
	json["readings"] = Json();
	json["sets"][0]["counters"][0]["field"] = "nowhere";
	json["sets"][0]["counters"][1]["field"] = "reserved";
	Folded folded(history, json);
	CHECK(folded.balances({0, 0, 0}));
	CHECK(folded.all_cpus().ticks == Values{100, 0});
	json["sets"][0]["id"] = unsigned{EDC_ID_SCHED_SWITCH}; // that of the switches
	CHECK(Folded(history, json).balances({0, 0, 0}));
	json["sets"][0]["id"] = 4095;
	CHECK(Folded(history, json).fold.parts().empty());
}

TEST_CASE("counters info: hostile numbers of readings neither crash nor break the balance")
{
	History history = one_turn();
	history.start = {reading(0, 100, {~0ull, 0}, 0, 0, ~0ull)};
	history.reads_long(0, 350, {1, ~0ull, 1650, 55});
	history.end = {reading(0, ~0ull >> 12, {0, ~0ull}, 0, ~0ull, 0)};
	Folded folded(history);
	CHECK(folded.fold.contradictions() == 2);
	CHECK(folded.balances({1, ~0ull, 0}));
}

} // namespace test_counters_info
