// SPDX-License-Identifier: MIT
// Which functions a budget leaves out, and when: with a clock and counts of the test's own.
#include <catch2/catch.hpp>

#include "recording/session/function_budget.h"

namespace test_function_budget {

using namespace monitor::record;
using std::chrono::milliseconds;
using Numbers = std::vector<std::size_t>;

namespace {

struct Machine {
	std::vector<FunctionLoad> loads{{0, 1000}, {0, 1000}, {0, 10}};
	double used_ns = 0;
	std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
	FunctionBudget budget{0.1, 2};

	Numbers update()
	{
		Numbers numbers;
		for (const LeftOutFunction &left_out : budget.update(now, loads, used_ns))
			numbers.push_back(left_out.number);
		return numbers;
	}
	// Some time passes, in which the CPUs are used and the functions called.
	Numbers after(milliseconds time, double cpus_used, std::uint64_t a, std::uint64_t b, std::uint64_t c)
	{
		now += time;
		used_ns += cpus_used * static_cast<double>(time.count()) * 1e6;
		loads[0].events += a;
		loads[1].events += b;
		loads[2].events += c;
		return update();
	}
};

} // namespace

TEST_CASE("budget: the costliest are left out until the rest fits")
{
	const std::vector<FunctionLoad> loads{{10, 5}, {100, 1}, {1, 1000}, {0, 10'000}};
	CHECK(costliest(loads, 1150).empty());
	CHECK(costliest(loads, 1149) == Numbers{2});
	CHECK(costliest(loads, 149) == Numbers{2, 1});
	CHECK(costliest(loads, 0) == Numbers{2, 1, 0}); // the one without events costs nothing
}

TEST_CASE("budget: it is that of the CPU time used in a second")
{
	Machine machine;
	CHECK(machine.update().empty());
	CHECK(machine.after(milliseconds(500), 1, 30'000, 60'000, 0).empty()); // the second is not over
	CHECK(machine.after(milliseconds(500), 1, 0, 0, 0).empty());           // 90 ms of 1 s
	CHECK(machine.after(milliseconds(1000), 1, 30'000, 80'000, 0) == Numbers{1});
	SECTION("what is left out stays so, whatever its count says")
	{
		CHECK(machine.after(milliseconds(1000), 1, 30'000, 80'000, 0).empty());
		CHECK(machine.after(milliseconds(1000), 1, 120'000, 80'000, 100) == Numbers{0});
	}
	SECTION("a second in which little was used allows little")
	{
		CHECK(machine.after(milliseconds(1000), 0.1, 30'000, 0, 0) == Numbers{0});
	}
}

TEST_CASE("budget: more than any second may cost is not waited for")
{
	Machine machine;
	CHECK(machine.update().empty());
	CHECK(machine.after(milliseconds(40), 2, 250'000, 0, 0).empty()); // too short to be judged
	CHECK(machine.after(milliseconds(10), 2, 0, 0, 0) == Numbers{0});
	const std::vector<LeftOutFunction> none =
	    machine.budget.update(machine.now + milliseconds(100), machine.loads, machine.used_ns);
	CHECK(none.empty());
}

TEST_CASE("budget: what is told is of the time judged")
{
	Machine machine;
	CHECK(machine.update().empty());
	CHECK(machine.after(milliseconds(1000), 1, 50'000, 0, 0).empty());
	machine.now += milliseconds(1000);
	machine.used_ns += 1e9;
	machine.loads[0].events += 200'000;
	const std::vector<LeftOutFunction> left_out =
	    machine.budget.update(machine.now, machine.loads, machine.used_ns);
	REQUIRE(left_out.size() == 1);
	CHECK(left_out[0].load.events == 200'000);
	CHECK(left_out[0].seconds == Approx(1));
	CHECK(left_out[0].share == Approx(0.2));
}

} // namespace test_function_budget
