// SPDX-License-Identifier: MIT
// Virtual clocks (reading/cost/virtual_clock.h): from histories with injected costs the times without them come
// back, and no order is turned around.
#include <cstdint>
#include <random>

#include <catch2/catch.hpp>

#include "virtual_history.h"

namespace test_virtual_clock {

using namespace monitor;
using monitor::cost::ProbeTime;
using monitor::cost::VirtualClock;
using namespace virtual_history;

namespace {

constexpr std::uint32_t tree = 7, other_tree = 8;
constexpr ProbeTime probe = {3, 5};

// A clock, threads that sleep since 0, and the moments of a history.
struct Played {
	VirtualClock clock{0};

	VirtualClock::Thread sleeper(std::uint32_t of = tree, bool is_recorder = false)
	{
		const VirtualClock::Thread thread = clock.add(of, is_recorder);
		clock.begin_as(thread, VirtualClock::State::blocked);
		return thread;
	}
	void begins_idle(unsigned cpus)
	{
		for (unsigned cpu = 0; cpu < cpus; ++cpu)
			clock.found(cpu, VirtualClock::idle);
	}
	void event(std::uint32_t cpu, double time) { clock.event(cpu, time, probe); }
	void switches(std::uint32_t cpu, double time, VirtualClock::Thread next, bool remains_ready = false)
	{
		event(cpu, time);
		clock.switched(cpu, remains_ready, next);
	}
	void wakes(std::uint32_t cpu, double time, VirtualClock::Thread thread, bool from_outside = false)
	{
		event(cpu, time);
		clock.woke(cpu, thread, from_outside);
	}
};

} // namespace

TEST_CASE("virtual clock: a CPU's time stands still while probes run")
{
	Played played;
	const auto thread = played.sleeper();
	played.begins_idle(1);
	played.wakes(0, 100, thread, true);
	played.switches(0, 120, thread);
	for (int i = 1; i <= 10; ++i)
		played.event(0, 120 + i * 50);
	played.switches(0, 650, VirtualClock::idle);
	// 530 ticks, eleven of them with the end of one probe and the begin of the next.
	CHECK(played.clock.removed(thread).running == 11 * 8);
	// 5 ticks of the waking's probe and 3 of the switch's.
	CHECK(played.clock.removed(thread).waiting == 8);
}

TEST_CASE("virtual clock: a probe that is longer than the time between two events takes from the next")
{
	Played played;
	const auto thread = played.sleeper();
	played.begins_idle(1);
	played.wakes(0, 100, thread, true);
	played.switches(0, 120, thread);
	const double before = played.clock.now(thread);
	played.event(0, 124); // 8 ticks in 4
	CHECK(played.clock.now(thread) == before);
	played.event(0, 150); // and 8 in 26
	CHECK(played.clock.now(thread) == before + 30 - 16);
}

TEST_CASE("virtual clock: whom a slowed thread woke on another CPU resumes earlier")
{
	Played played;
	const auto waker = played.sleeper(), sleeper = played.sleeper();
	played.begins_idle(2);
	played.wakes(0, 10, waker, true);
	played.switches(0, 20, waker);
	for (int i = 1; i <= 10; ++i)
		played.event(0, 20 + i * 20);
	const double at = played.clock.now(waker);
	played.wakes(0, 240, sleeper);
	CHECK(played.clock.now(sleeper) == at + 12);
	played.switches(1, 300, sleeper); // 60 later, of which 5 are the waking's probe and 3 this one's
	CHECK(played.clock.now(sleeper) == at + 12 + 52);
	CHECK(played.clock.removed(sleeper).waiting == 8);
	CHECK(played.clock.removed(sleeper).blocked == 240 - (at + 12));
}

TEST_CASE("virtual clock: a sleep that a device or timer ended keeps its length")
{
	Played played;
	const auto thread = played.sleeper(), worker = played.sleeper(other_tree);
	played.begins_idle(1);
	played.wakes(0, 10, thread, true);
	played.switches(0, 20, thread);
	for (int i = 1; i <= 10; ++i)
		played.event(0, 20 + i * 20);
	const bool others_run = GENERATE(false, true);
	played.switches(0, 300, others_run ? worker : VirtualClock::idle);
	for (int i = 1; i <= 10; ++i) // their probes do not wake the thread earlier
		played.event(0, 300 + i * 20);
	played.event(0, 1000);
	played.clock.interrupted(0);
	const double asleep_at = played.clock.now(thread);
	played.wakes(0, 1020, thread, true);
	// Since the interrupt: its probe and half of the waking's.
	CHECK(played.clock.now(thread) == asleep_at + 720 - 11);
}

TEST_CASE("virtual clock: another tree's thread wakes as the outside does")
{
	Played played;
	const auto daemon = played.sleeper(other_tree), thread = played.sleeper();
	played.begins_idle(2);
	played.wakes(1, 10, daemon, true);
	played.switches(1, 20, daemon);
	played.event(1, 100);
	played.wakes(1, 200, thread);
	// What stood still since the daemon got the CPU.
	CHECK(played.clock.now(thread) == 200 - 16);
}

TEST_CASE("virtual clock: the recorder takes no time, and nobody waits for it")
{
	Played played;
	const auto thread = played.sleeper(), recorder = played.sleeper(VirtualClock::no_tree, true);
	played.begins_idle(1);
	played.wakes(0, 10, thread, true);
	played.switches(0, 20, thread);
	played.switches(0, 100, recorder, true);
	const double at = played.clock.now(thread);
	played.event(0, 150);
	played.switches(0, 200, thread);
	CHECK(played.clock.now(thread) == at);
	CHECK(played.clock.removed(thread).waiting == 100 + 8); // and 8 at the begin
	CHECK(played.clock.removed(recorder).running == 100);
	played.event(0, 300);
	CHECK(played.clock.now(thread) == at + 100 - 8);
}

TEST_CASE("virtual clock: a wait for another tree lasts as long as that runs without probes")
{
	Played played;
	const auto thread = played.sleeper(), other = played.sleeper(other_tree);
	played.begins_idle(1);
	played.wakes(0, 10, other, true);
	played.switches(0, 20, other);
	played.wakes(0, 100, thread, true);
	const double woken = played.clock.now(thread);
	for (int i = 1; i <= 9; ++i)
		played.event(0, 100 + i * 20);
	played.switches(0, 300, thread, true);
	CHECK(played.clock.now(thread) == woken + 200 - 80);
	CHECK(played.clock.waited_for_others(thread) == 120);
	played.switches(0, 400, VirtualClock::idle);
	played.wakes(0, 500, thread, true);
	played.switches(0, 600, thread); // after an idle CPU's latency
	CHECK(played.clock.waited_for_others(thread) == 120);
}

TEST_CASE("virtual clock: what others were slowed moves no tree")
{
	Played played;
	const auto thread = played.sleeper(), other = played.sleeper(other_tree);
	played.begins_idle(2);
	played.wakes(0, 10, thread, true);
	played.switches(0, 20, thread);
	for (int i = 1; i <= 40; ++i)
		played.event(0, 20 + i * 20);
	const double slow = played.clock.now(thread);
	// Another tree's thread, not slowed, takes the CPU for a moment.
	played.wakes(1, 30, other, true);
	played.switches(1, 40, other);
	played.switches(1, 900, VirtualClock::idle, true);
	played.switches(0, 840, other, true);
	played.switches(0, 860, thread);
	CHECK(played.clock.now(thread) == slow + 20 - 8 + 20 - 8);
}

TEST_CASE("virtual clock: woken while it goes to sleep")
{
	Played played;
	const auto waker = played.sleeper(), thread = played.sleeper();
	played.begins_idle(2);
	played.wakes(0, 10, waker, true);
	played.switches(0, 20, waker);
	played.wakes(1, 10, thread, true);
	played.switches(1, 20, thread);
	played.event(1, 50);
	played.event(1, 80);
	played.wakes(0, 90, thread); // by one that was slowed less
	const double waker_at = played.clock.now(waker);
	played.switches(1, 100, VirtualClock::idle);
	CHECK(played.clock.state(thread) == VirtualClock::State::ready);
	CHECK(played.clock.now(thread) == waker_at);
	CHECK(played.clock.removed(thread).blocked < 0); // it would have slept
}

TEST_CASE("virtual clock: exchanged numbers keep what was removed")
{
	Played played;
	const auto first = played.sleeper(), second = played.sleeper();
	played.begins_idle(1);
	played.wakes(0, 10, first, true);
	played.switches(0, 20, first);
	played.event(0, 50);
	const double removed = played.clock.removed(first).running, now = played.clock.now(first);
	played.clock.exchange(first, second);
	CHECK(played.clock.current(0) == second);
	CHECK(played.clock.now(second) == now);
	played.event(0, 80);
	CHECK(played.clock.removed(first).running == removed);
	CHECK(played.clock.removed(second).running == 8);
}

TEST_CASE("virtual clock: of random histories with injected costs the times without them come back")
{
	std::mt19937 random(1998);
	for (int round = 0; round < 60; ++round) {
		const Program program = random_program(random, 2 + round % 4, 8, 60);
		const Schedule schedule = traced(program, random);
		CHECK(mismatches(program, schedule) == "");
	}
}

TEST_CASE("virtual clock: no order is turned around in random histories")
{
	std::mt19937 random(1991);
	std::uint64_t events = 0, violations = 0;
	while (events < 100'000)
		events += wild_history(random, violations);
	CHECK(violations == 0);
}

TEST_CASE("virtual clock: nor in ten million events", "[.long]")
{
	std::mt19937 random(2026);
	std::uint64_t events = 0, violations = 0;
	while (events < 10'000'000)
		events += wild_history(random, violations);
	CHECK(violations == 0);
}

TEST_CASE("virtual clock: what slept or waited through a gap loses nothing of it")
{
	Played played;
	const auto sleeper = played.sleeper(), worker = played.sleeper();
	played.begins_idle(1);
	played.wakes(0, 100, worker, true);
	played.switches(0, 120, worker);
	for (int i = 1; i <= 10; ++i)
		played.event(0, 120 + i * 50);
	const double before = played.clock.removed(sleeper).blocked, now = played.clock.now(worker);
	played.clock.lost(0); // the worker still has the CPU
	played.wakes(0, 1'000, sleeper);
	CHECK(played.clock.removed(sleeper).blocked == before);
	CHECK(played.clock.now(worker) == now + 380 - 8); // in the gap its time goes on
	// The next sleep is known again.
	played.switches(0, 1'100, sleeper, true);
	played.switches(0, 1'200, worker);
	played.wakes(0, 1'300, sleeper);
	CHECK(played.clock.removed(sleeper).blocked != before);
}

TEST_CASE("virtual clock: the recorder does not stop a CPU through a gap")
{
	Played played;
	const auto recorder = played.sleeper(VirtualClock::no_tree, true), worker = played.sleeper();
	played.begins_idle(1);
	played.wakes(0, 100, worker, true);
	played.switches(0, 120, worker);
	played.event(0, 400);
	played.wakes(0, 500, recorder, true);
	played.switches(0, 520, recorder, true); // the worker waits
	const double now = played.clock.now(worker);
	played.event(0, 600);
	played.clock.lost(0);
	played.event(0, 20'600);
	played.clock.found(0, worker);
	CHECK(played.clock.now(worker) > now + 19'000);
	CHECK(played.clock.removed(recorder).running < 1'000);
}

} // namespace test_virtual_clock
