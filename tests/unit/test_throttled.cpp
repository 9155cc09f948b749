// SPDX-License-Identifier: MIT
// Threads whose cgroup has used up its quota of CPU time: hand-made histories, and what is throttled and what is
// waiting in them. One tick is one nanosecond.
#include <catch2/catch.hpp>

#include "quota_history.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/recorded.h"

namespace test_throttled {

using namespace monitor;
using namespace quota_history;

namespace {

struct Folded {
	explicit Folded(Machine &machine, analyze::RecordingInfo of = info_of("6.18.1"))
	    : info(std::move(of)), trace(samples::trace(machine.all(), events)), fold(trace, info)
	{
		feed(trace, fold);
	}
	const analyze::Usage &operator[](std::int32_t tid) const { return fold.thread(tid)->usage; }

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
};

} // namespace

TEST_CASE("throttled: from the switch that says so until the thread runs again")
{
	const unsigned state = GENERATE(0u, preempted);
	Machine machine;
	machine.switches(0, 10, 0, 0, 7);
	machine.switches(0, 100, 7, state | throttled, 0);
	machine.wakes(1, 200, 7); // it is ready already
	machine.switches(0, 600, 0, 0, 7);
	machine.switches(0, 610, 7, state, 9);
	machine.switches(0, 640, 9, history::sleeping, 7);
	machine.switches(0, 700, 7, throttled, 0);
	Folded folded(machine);
	CHECK(folded[7].throttled == 500 + 300);
	CHECK(folded[7].waiting == 30);
	CHECK(folded[7].blocked == 0);
	CHECK(folded[7].involuntary == 3);
	CHECK(folded.fold.thread(7)->so_far.waiting == 830);
	CHECK(folded.fold.thread(7)->state == analyze::State::throttled);
}

TEST_CASE("throttled: it is not known where the recorder could not read it")
{
	CHECK(analyze::recorded(info_of("6.18.1")).throttled);
	analyze::RecordingInfo info = info_of("6.18.1");
	info.switch_flags = {"iowait"};
	CHECK_FALSE(analyze::recorded(info).throttled);
	CHECK_FALSE(info.throttles_groups());
	for (const auto &[kernel, does] : {std::pair("6.17.9", true), std::pair("5.15.0-1", true),
					   std::pair("6.18.0", false), std::pair("7.0", false), std::pair("x", false)})
		CHECK(info_of(kernel).throttles_groups() == does);
	info = info_of("6.1.0");
	info.cgroups.start->hierarchy = 1; // tokens have no groups of it
	CHECK_FALSE(info.throttles_groups());
}

TEST_CASE("throttled: before 6.18 the threads in the queue of a throttled group are, too")
{
	const bool of_groups = GENERATE(true, false);
	Machine machine = Machine::with_a_throttle();
	machine.wakes(0, 200, 8);
	machine.wakes(0, 200, 9);
	machine.switches(0, 300, 0, 0, 9);
	machine.switches(0, 350, 9, history::sleeping, 0);
	machine.ends();
	machine.switches(0, 750, 0, 0, 8);
	Folded folded(machine, info_of(of_groups ? "6.1.0" : "6.18.0"));
	CHECK(folded[7].throttled == 500);
	CHECK(folded[8].throttled == (of_groups ? 400 : 0));
	CHECK(folded[8].waiting == (of_groups ? 150 : 550));
	CHECK(folded[9].throttled == 0);
	CHECK(folded[9].waiting == 100);
}

TEST_CASE("throttled: a thread in the queue of another CPU is not")
{
	Machine machine = Machine::with_a_throttle();
	machine.wakes(0, 200, 8);
	machine.migrates(200, 8, 1);
	machine.switches(1, 500, 0, 0, 8);
	machine.switches(1, 510, 8, history::sleeping, 0);
	machine.wakes(0, 520, 8);
	machine.migrates(550, 8, 0); // it comes into the queue that is throttled
	machine.ends();
	machine.switches(0, 750, 0, 0, 8);
	Folded folded(machine, info_of("6.1.0"));
	CHECK(folded[8].throttled == 50);
	CHECK(folded[8].waiting == 300 + 30 + 150);
}

TEST_CASE("throttled: nothing is inherited over a loss")
{
	Machine machine = Machine::with_a_throttle();
	machine.cpu(0).open(400, 5);
	machine.wakes(0, 450, 8);
	machine.switches(0, 750, 0, 0, 8);
	Folded folded(machine, info_of("6.1.0"));
	CHECK(folded[7].throttled == 0);
	CHECK(folded[8].throttled == 0);
	CHECK(folded[8].waiting == 300);
}

TEST_CASE("throttled: what the windows of a recording have adds up")
{
	Machine machine = Machine::with_a_throttle();
	machine.wakes(0, 200, 8);
	machine.ends();
	machine.switches(0, 750, 0, 0, 8);
	trace::Trace trace = samples::trace(machine.all(), events);
	analyze::ThreadFold fold(trace, info_of("6.1.0"));
	std::uint64_t throttled_7 = 0, throttled_8 = 0, waiting_8 = 0;
	const auto end_window = [&](std::uint64_t time) {
		fold.end_window(time);
		throttled_7 += fold.thread(7)->usage.throttled;
		throttled_8 += fold.thread(8)->usage.throttled;
		waiting_8 += fold.thread(8)->usage.waiting;
		fold.begin_window();
	};
	std::uint64_t next = 150;
	trace::merge(trace, {}, [&](const trace::Event &event) {
		for (; event.time > next; next += 150)
			end_window(next);
		fold.event(event);
	});
	end_window(900);
	CHECK(throttled_7 == 500);
	CHECK(throttled_8 == 400);
	CHECK(waiting_8 == 150);
}

} // namespace test_throttled
