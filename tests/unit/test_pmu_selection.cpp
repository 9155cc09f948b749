// SPDX-License-Identifier: MIT
// What `record -m` selects: counters shared, sets that can be scheduled, what is missing and why.
#include <catch2/catch.hpp>

#include <set>

#include "pmu_machine.h"
#include "recording/pmu/selection.h"

namespace test_pmu_selection {

using namespace monitor::pmu;
using Catch::Contains;
using samples::PmuMachine;

namespace {

const Measurement &named(const Selection &selection, const std::string &name)
{
	for (const Measurement &one : selection.measurements)
		if (one.name == name)
			return one;
	throw std::runtime_error("no measurement " + name);
}

std::size_t set_of(const Selection &selection, std::size_t counter)
{
	std::size_t found = 0, times = 0;
	for (std::size_t set = 0; set < selection.sets.size(); ++set)
		for (const std::size_t one : selection.sets[set])
			if (one == counter) {
				found = set;
				++times;
			}
	CHECK(times == 1);
	return found;
}

// What the header promises of every selection.
void check_promises(const Selection &selection)
{
	CHECK(selection.sets.size() <= max_sets);
	for (const auto &set : selection.sets)
		CHECK((!set.empty() && set.size() <= max_in_set));
	for (std::size_t counter = 0; counter < selection.counters.size(); ++counter)
		set_of(selection, counter);
	for (const Measurement &one : selection.measurements) {
		CAPTURE(one.name);
		CHECK(one.missing.empty() == !one.numerator.empty());
		std::set<std::size_t> sets;
		for (const auto *terms : {&one.numerator, &one.denominator})
			for (const Term &term : *terms) {
				REQUIRE(term.counter < selection.counters.size());
				sets.insert(set_of(selection, term.counter));
			}
		CHECK(sets.size() <= 1);
	}
}

} // namespace

TEST_CASE("pmu selection: counters are shared, and a measurement's are in one set")
{
	const PmuMachine test;
	const Selection all =
	    select({"cpu", "cpu", "ipc=instructions/cpu-cycles", "wait=cpu-clock/count"}, test.machine);
	check_promises(all);
	REQUIRE(all.counters.size() == 3);
	CHECK(all.counters[0].name == "cycles");
	CHECK(all.sets.size() == 2); // what needs no PMU counts on where the PMU's counters take turns
	CHECK(named(all, "ipc").numerator[0].counter == named(all, "IPC").numerator[0].counter);
	CHECK(all.counters[named(all, "wait").numerator[0].counter].unit == "ns");
	CHECK(named(all, "IPC").group == "cpu");
	CHECK(named(all, "ipc").group.empty());
	CHECK(named(all, "ipc").formula == "instructions/cpu-cycles");
	CHECK(all.notes.empty());
}

TEST_CASE("pmu selection: units, and which ratios may exceed one")
{
	const PmuMachine test;
	const Selection all =
	    select({"a=instructions/cycles", "b=LLC-load-misses/LLC-loads %", "c=cycles/time", "d=cpu-clock/count",
		    "e=faults/seconds", "f=cpu-clock", "g=power/energy-pkg/ / seconds"},
		   test.machine);
	check_promises(all);
	const auto is = [&](const char *name, const char *unit, bool may_exceed_one) {
		CAPTURE(name);
		CHECK(named(all, name).unit == unit);
		CHECK(named(all, name).may_exceed_one == may_exceed_one);
	};
	is("a", "", true);
	is("b", "%", false);
	is("c", "%", false);
	is("d", "ns", true);
	is("e", "/s", false);
	is("f", "ns", false);
	is("g", "Joules/s", false);
	CHECK(named(all, "g").numerator[0].factor == 0.25);
	CHECK(all.counters[named(all, "g").numerator[0].counter].unit.empty());
}

TEST_CASE("pmu selection: a set holds what the CPU can count at once")
{
	PmuMachine test;
	const std::vector<std::string> wishes = {"a=r1/r2", "b=r3/r4", "c=r5/r6", "d=r7/r1", "e=r6/r5"};
	const Selection five = select(wishes, test.machine);
	check_promises(five);
	CHECK(five.sets.size() == 2);
	test.machine.probe = [](const auto &of) { return of.size() > 2 ? EINVAL : 0; };
	const Selection two = select(wishes, test.machine);
	check_promises(two);
	CHECK(two.sets.size() == 4);
	const Selection big = select({"a=(r1+r2)/r3"}, test.machine);
	check_promises(big);
	CHECK_THAT(big.measurements.at(0).missing, Contains("at the same time"));
	const Selection six = select({"a=(r1+r2+r3)/(r4+r5+r6)"}, test.machine);
	CHECK_THAT(six.measurements.at(0).missing, Contains("needs 6 counters"));
	std::vector<std::string> many;
	for (int i = 0; i < 2 * static_cast<int>(max_sets) + 1; ++i)
		many.push_back("m" + std::to_string(i) + "=r" + std::to_string(100 + i));
	CHECK_THROWS_WITH(select(many, test.machine), Contains("more than 8 sets"));
}

TEST_CASE("pmu selection: hardware events of two PMUs do not share a measurement")
{
	const PmuMachine test;
	const Selection all =
	    select({"x=power/energy-pkg/ / cycles", "y=cycles/msr/tsc/", "z=cycles/page-faults"}, test.machine);
	check_promises(all);
	CHECK_THAT(named(all, "x").missing, Contains("two PMUs, power and cpu"));
	CHECK(named(all, "y").missing.empty());
	CHECK(named(all, "z").missing.empty());
}

TEST_CASE("pmu selection: without a PMU the group software takes its place, and says so")
{
	PmuMachine test;
	test.take_pmu_away();
	const Selection all = select({"cpu", "cache"}, test.machine);
	check_promises(all);
	CHECK(named(all, "IPC").missing == "no PMU in this VM");
	CHECK(named(all, "faults").missing.empty());
	CHECK(all.sets.size() == 1);
	REQUIRE(all.notes.size() == 1);
	CHECK(all.notes[0] == "no PMU in this VM: cpu, cache cannot be counted, so software is counted as well");
	const Selection formula = select({"x=cycles"}, test.machine);
	CHECK(formula.measurements.size() == 1);
	CHECK(formula.notes.empty());
}

TEST_CASE("pmu selection: a PMU's terms may hold the commas that -m splits at")
{
	const PmuMachine test;
	const Selection all = select({"x=cpu/event=0xc0", "umask=0x1/ / cycles", "y=faults"}, test.machine);
	REQUIRE(all.measurements.size() == 2);
	CHECK(all.measurements[0].formula == "cpu/event=0xc0,umask=0x1/ / cycles");
	CHECK(all.counters[all.measurements[0].numerator[0].counter].attributes.config == 0x1c0);
}

TEST_CASE("pmu selection: errors tell which item, and what is known")
{
	PmuMachine test;
	const Machine &machine = test.machine;
	CHECK_THROWS_WITH(select({"cpus"}, machine),
			  Contains("unknown group \"cpus\"") && Contains("Did you mean cpu"));
	CHECK_THROWS_WITH(select({"x=cycels/time"}, machine), Contains("-m x=cycels/time: unknown event \"cycels\""));
	CHECK_THROWS_WITH(select({"x=cycles/"}, machine), Contains("column 10: an event is missing"));
	CHECK_THROWS_WITH(select({""}, machine), Contains("an item is empty"));
	CHECK_THROWS_WITH(select({"=cycles"}, machine), Contains("the name is missing"));
	CHECK_THROWS_WITH(select({"x=cycles", "x=faults"}, machine), Contains("two measurements"));
	CHECK_THROWS_WITH(select({"x=(cpu-clock+cycles)/time"}, machine), Contains("clocks in ns and other events"));
	test.write("groups/odd.group", "x = busy(page-faults) / time\n");
	CHECK_THROWS_WITH(select({"odd"}, machine), Contains("odd.group:1:5: busy(page-faults)"));
	test.write("groups/other.group", "x = NO_SUCH_EVENT\nIPC = cycles\n");
	const Selection unknown = select({"other", "cpu"}, machine);
	check_promises(unknown);
	CHECK(named(unknown, "x").missing == "event unknown to this CPU: NO_SUCH_EVENT");
	CHECK(named(unknown, "IPC (cpu)").missing.empty());
}

} // namespace test_pmu_selection
