// SPDX-License-Identifier: MIT
// The scheduler of the simulation: cases computed by hand. Times are ms.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "reading/simulation/machine.h"

namespace test_simulated_machine {

using namespace monitor::simulation;

namespace {

constexpr Nanoseconds ms = 1'000'000;

// Threads that work for some time and block; what is noted is who was done when, "A 18 B 20".
class Scene {
public:
	Scene(unsigned cpus, Policy policy, Nanoseconds time_slice = 4 * ms) : machine({cpus, policy, time_slice, ms})
	{
	}

	ThreadNumber add(const std::string &name, std::vector<Nanoseconds> work, std::uint64_t mask = any_cpu,
			 int priority = 0)
	{
		threads_.push_back(std::make_unique<Worker>(*this, name, std::move(work)));
		return machine.add(*threads_.back(), mask, priority);
	}
	std::string run(Nanoseconds limit = 1'000'000 * ms)
	{
		machine.run(limit);
		return said_;
	}
	void say(const std::string &name)
	{
		said_ += (said_.empty() ? "" : " ") + name + ' ' + std::to_string(machine.now() / ms);
	}

	Machine machine;

private:
	struct Worker : Thread {
		Worker(Scene &scene, std::string name, std::vector<Nanoseconds> work)
		    : scene(scene), name(std::move(name)), work(std::move(work))
		{
		}
		// After each work it blocks.
		Nanoseconds next() override
		{
			if (is_working || at == work.size()) {
				is_working = false;
				scene.say(name);
				return 0;
			}
			is_working = true;
			return work[at++] * ms;
		}
		Scene &scene;
		std::string name;
		std::vector<Nanoseconds> work;
		std::size_t at = 0;
		bool is_working = false;
	};

	std::vector<std::unique_ptr<Worker>> threads_;
	std::string said_;
};

} // namespace

TEST_CASE("simulated machine: two threads share a CPU by time slices")
{
	// 0-4 A, 4-8 B, 8-12 A, 12-16 B, 16-18 A, 18-20 B
	for (const Policy policy : {Policy::fair, Policy::round_robin}) {
		Scene scene(1, policy);
		scene.machine.wake(scene.add("A", {10}));
		scene.machine.wake(scene.add("B", {10}));
		CHECK(scene.run() == "A 18 B 20");
		CHECK(scene.machine.cpu_time(0) == 10 * ms);
	}
	Scene scene(1, Policy::round_robin, 100 * ms);
	scene.machine.wake(scene.add("A", {10}));
	scene.machine.wake(scene.add("B", {10}));
	CHECK(scene.run() == "A 10 B 20");
}

TEST_CASE("simulated machine: fair, a sleeper preempts what has run longer than the granularity; round robin, it waits")
{
	for (const Policy policy : {Policy::fair, Policy::round_robin}) {
		Scene scene(1, policy, policy == Policy::fair ? 4 * ms : 100 * ms);
		scene.machine.wake(scene.add("A", {10}));
		scene.machine.wake(scene.add("B", {1}), 6 * ms);
		// fair: A has run 6, B gets at most 2 less
		CHECK(scene.run() == (policy == Policy::fair ? "B 7 A 11" : "A 10 B 11"));
	}
	Scene scene(1, Policy::fair);
	scene.machine.wake(scene.add("A", {10}));
	scene.machine.wake(scene.add("B", {1}), ms); // A has run 1, which is not more than the granularity
	CHECK(scene.run() == "B 5 A 11");
	Scene credited(1, Policy::fair); // A has run 3 of its time slice, B gets 2 less
	credited.machine.wake(credited.add("A", {10}));
	credited.machine.wake(credited.add("B", {1}), 3 * ms);
	CHECK(credited.run() == "B 4 A 11");
}

TEST_CASE("simulated machine: fair, the least virtual run time comes first, and sleep is credited half a time slice")
{
	Scene scene(1, Policy::fair);
	scene.machine.wake(scene.add("A", {20}));
	scene.machine.wake(scene.add("B", {20}));
	scene.machine.wake(scene.add("C", {6}), 5 * ms);
	// 0-4 A, 4-8 B. At 5 B has run 1, C comes with 0: not more than 1. At 8: A 4, B 4, C 0: 8-12 C. Then each has
	// 4: the order of the queue, 12-16 A, 16-20 B, 20-22 C.
	CHECK(scene.run(22 * ms) == "C 22");
	CHECK(scene.machine.cpu_time(0) == 8 * ms);
	CHECK(scene.machine.cpu_time(1) == 8 * ms);
	CHECK(scene.run() == "C 22 A 42 B 46");
}

TEST_CASE("simulated machine: a higher priority preempts, and what was preempted is the first to go on")
{
	Scene scene(1, Policy::round_robin, 100 * ms);
	scene.machine.wake(scene.add("A", {10}));
	scene.machine.wake(scene.add("B", {1}));
	const ThreadNumber high = scene.add("high", {2, 3}, any_cpu, 1);
	scene.machine.wake(high, 3 * ms);
	scene.machine.wake(high, 8 * ms); // 0-3 A, 3-5 high, 5-8 A, 8-11 high, 11-15 A, 15-16 B
	CHECK(scene.run() == "high 5 high 11 A 15 B 16");
}

TEST_CASE("simulated machine: where a higher priority preempts")
{
	for (const Policy policy : {Policy::fair, Policy::round_robin}) {
		Scene scene(2, policy, 100 * ms);
		scene.machine.wake(scene.add("A", {10}, 1)); // on CPU 0 only
		scene.machine.wake(scene.add("high", {2}, any_cpu, 1), 3 * ms);
		// fair: on the idle CPU; round robin: on its last one, CPU 0
		CHECK(scene.run() == (policy == Policy::fair ? "high 5 A 10" : "high 5 A 12"));
	}
	Scene scene(2, Policy::round_robin, 100 * ms); // what is preempted moves to the idle CPU
	scene.machine.wake(scene.add("A", {10}));
	scene.machine.wake(scene.add("high", {2}, any_cpu, 1), 3 * ms);
	CHECK(scene.run() == "high 5 A 10");
}

TEST_CASE("simulated machine: an idle CPU takes a thread from the longest queue, if it may run there")
{
	Scene scene(2, Policy::round_robin, 100 * ms);
	scene.machine.wake(scene.add("A", {10}));
	scene.machine.wake(scene.add("B", {2}));
	scene.machine.wake(scene.add("C", {5})); // waits for CPU 0 until CPU 1 is idle, at 2
	CHECK(scene.run() == "B 2 C 7 A 10");

	Scene bound(2, Policy::round_robin, 100 * ms);
	bound.machine.wake(bound.add("A", {10}, 1));
	bound.machine.wake(bound.add("B", {2}));
	bound.machine.wake(bound.add("C", {5}, 1));
	CHECK(bound.machine.has_idle_cpu(1));
	CHECK(bound.run(3 * ms) == "B 2");
	CHECK(bound.machine.has_idle_cpu());
	CHECK(bound.machine.has_idle_cpu(2));
	CHECK_FALSE(bound.machine.has_idle_cpu(1));
	CHECK(bound.run() == "B 2 A 10 C 15");
}

TEST_CASE("simulated machine: a CPU takes the highest priority that waits, of another's queue, too")
{
	Scene scene(2, Policy::round_robin, 100 * ms);
	scene.machine.wake(scene.add("A", {10}, 1, 2));
	scene.machine.wake(scene.add("B", {4}, 2, 2));
	scene.machine.wake(scene.add("low", {1}, 2, 0), ms);
	scene.machine.wake(scene.add("high", {3}, any_cpu, 1), 2 * ms); // in the queue of CPU 0
	CHECK(scene.run() == "B 4 high 7 low 8 A 10");
}

TEST_CASE("simulated machine: a wake-up is lost unless the thread is blocked then")
{
	Scene scene(1, Policy::fair);
	const ThreadNumber a = scene.add("A", {3, 3});
	scene.machine.wake(a);
	scene.machine.wake(a, 2 * ms);
	CHECK(scene.run() == "A 3");
	CHECK(scene.machine.is_blocked(a));
	scene.machine.wake(a, 5 * ms); // from 3 on
	CHECK(scene.run() == "A 3 A 11");
}

TEST_CASE("simulated machine: events of equal times happen as they were inserted, and work may be added")
{
	Scene scene(1, Policy::fair);
	const ThreadNumber a = scene.add("A", {3});
	scene.machine.at(2 * ms, [&] { scene.say("first"); });
	scene.machine.wake(a);
	scene.machine.at(2 * ms, [&] {
		scene.say("second");
		CHECK(scene.machine.is_running(a));
		CHECK(scene.machine.work_left(a) == ms);
		CHECK(scene.machine.cpu_time(a) == 2 * ms);
		scene.machine.add_work(a, 4 * ms);
		scene.machine.at(2 * ms, [&] { scene.say("third"); });
	});
	CHECK(scene.run() == "first 2 second 2 third 2 A 7");
	scene.machine.add_work(a, ms);
	scene.machine.wake(a);
	CHECK(scene.run() == "first 2 second 2 third 2 A 7 A 8");
}

} // namespace test_simulated_machine
