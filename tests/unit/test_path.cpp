// SPDX-License-Identifier: MIT
// The critical path: hand-made histories of two CPUs, and the links and parts that they must come to; and what holds
// for any history. One tick is one nanosecond.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/explain/machine_evidence.h"
#include "answers/explain/path_evidence.h"
#include "answers/explain/path_part.h"
#include "answers/path/ended_by.h"
#include "answers/path/parts.h"
#include "answers/path/subject.h"
#include "answers/path/texts.h"
#include "answers/path/walk.h"
#include "pipe_history.h"
#include "reading/analyze/feed.h"

namespace test_path {

using namespace monitor;
using namespace history;

namespace {

constexpr unsigned futex = 202, read_call = 0, net_rx = 3;

const std::string events_of_paths = events +
				    samples::event_block(EDC_ID_SCHED_MIGRATE_TASK, "sched_migrate_task",
							 "u16_t dest_cpu; s32_t pid; s32_t orig_cpu;") +
				    samples::event_block(EDC_ID_SOFTIRQ_RAISE, "softirq_raise", "u16_t vec;") +
				    samples::event_block(EDC_ID_BLOCK_IO_START, "block_io_start",
							 "u16_t op; u32_t dev; u32_t nr_bytes; u64_t sector;") +
				    samples::event_block(EDC_ID_BLOCK_RQ_ISSUE, "block_rq_issue",
							 "u16_t op; u32_t dev; u32_t nr_bytes; u64_t sector;") +
				    samples::event_block(EDC_ID_BLOCK_RQ_COMPLETE, "block_rq_complete",
							 "u16_t error; u32_t dev; u32_t nr_bytes; u64_t sector;");

struct Machine : History {
	void runs(std::uint32_t on, std::uint64_t time, std::int32_t tid) { switches(on, time, 0, running, tid); }
	void sleeps(std::uint32_t on, std::uint64_t time, std::int32_t tid) { switches(on, time, tid, sleeping, 0); }
	void calls(std::uint32_t on, std::uint64_t time, unsigned call) { posts(on, time, EDC_ID_SYS_ENTER, call); }
	void returns(std::uint32_t on, std::uint64_t time) { posts(on, time, EDC_ID_SYS_EXIT); }
	void migrates(std::uint32_t on, std::uint64_t time, std::int32_t tid, unsigned to)
	{
		cpu(on).post(time, EDC_ID_SCHED_MIGRATE_TASK, to, {pair(tid, 0)});
	}
	// Of the disk 254:0.
	void request(std::uint32_t on, std::uint64_t time, unsigned id, std::uint64_t sector, std::int32_t bytes = 4096)
	{
		cpu(on).post(time, id, 0, {pair(254 << 20, bytes), sector});
	}
	// 7 sleeps from 100 on, until a device's interrupt on CPU 1 completes a request at 300.
	void sleeps_for(std::uint64_t sector, std::int32_t bytes = 4096)
	{
		calls(0, 90, futex);
		sleeps(0, 100, 7);
		completes(1, 300, 7, sector, bytes);
		runs(0, 320, 7);
	}
	void completes(std::uint32_t on, std::uint64_t time, std::int32_t wakes_tid, std::uint64_t sector = 0,
		       std::int32_t bytes = 4096)
	{
		posts(on, time, EDC_ID_IRQ_HANDLER_ENTRY, 36);
		request(on, time, EDC_ID_BLOCK_RQ_COMPLETE, sector, bytes);
		wakes(on, time, wakes_tid);
		posts(on, time, EDC_ID_IRQ_HANDLER_EXIT, 36);
	}
	// One that 8 on CPU 1 ends at 300; 7 has the CPU again at 320.
	static Machine with_a_sleep()
	{
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 10, 8);
		machine.calls(0, 50, futex);
		machine.sleeps(0, 100, 7);
		machine.wakes(1, 300, 7);
		machine.runs(0, 320, 7);
		machine.returns(0, 330);
		return machine;
	}
};

struct Followed {
	Followed(History &history, std::uint64_t end, bool complete = true)
	    : Followed(history, make_info(0, end, complete, false))
	{
	}
	Followed(History &history, analyze::RecordingInfo with, const std::string &described = events_of_paths)
	    : info(std::move(with)), trace(samples::trace(history.all(), described)), fold(trace, info),
	      stretches(fold, {})
	{
		fold.add(static_cast<analyze::Observer &>(stretches));
		fold.add(static_cast<analyze::TimeObserver &>(stretches));
		analyze::feed(trace, fold, [&](const trace::Event &event) { stretches.after(event); });
	}
	std::uint32_t place(std::int32_t tid) const
	{
		return stretches.find(*std::ranges::find(fold.threads(), tid, &analyze::Thread::tid));
	}
	const path::Paths &critical(std::int32_t tid, trace::TimeRange range, std::int32_t outside = -1,
				    std::uint64_t end = 0)
	{
		const auto is_inside = [this, outside](std::uint32_t thread) {
			return stretches.threads()[thread].thread->tid != outside;
		};
		paths.emplace(stretches).add_critical(place(tid), range, end ? end : range.to, is_inside);
		return *paths;
	}
	const path::Paths &bounded(std::int32_t tid, trace::TimeRange range)
	{
		paths.emplace(stretches).add_bounded(place(tid), range, range.to);
		return *paths;
	}
	path::Parts parts()
	{
		path::Parts parts(stretches, *paths, path::Parts::Who::thread);
		analyze::ThreadFold second(trace, info);
		second.add(parts);
		analyze::feed(trace, second);
		parts.finish();
		return parts;
	}
	std::map<std::string, std::uint64_t> sums()
	{
		std::map<std::string, std::uint64_t> sums;
		const path::Parts of = parts();
		for (const auto &[part, ticks] : of.ticks())
			sums[fmt::format("{} {}", stretches.threads()[part.who].thread->tid,
					 path::what_text(part, fold.kinds(), stretches.names()))] += ticks;
		return sums;
	}
	// "7 running 10, 8 unknown: no event tells 50, ..., 400": each link with its begin, then the end.
	std::string links()
	{
		const path::Parts parts(stretches, *paths, path::Parts::Who::thread);
		std::string text;
		for (std::size_t i = 0; i < paths->links().size(); ++i) {
			const path::Link &link = paths->links()[i];
			if (link.thread == path::nobody)
				text += fmt::format("{}", link.begin);
			else
				text += fmt::format("{} {} {}, ", stretches.threads()[link.thread].thread->tid,
						    path::link_text(link, parts.part_of(link, paths->end_of(i)),
								    fold.kinds(), stretches.names()),
						    link.begin);
		}
		return text;
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
	path::Stretches stretches;
	std::optional<path::Paths> paths;
};

using Sums = std::map<std::string, std::uint64_t>;

} // namespace

TEST_CASE("path: a sleep leads to the thread that ended it")
{
	Machine machine = Machine::with_a_sleep();
	Followed followed(machine, 400);
	followed.critical(7, {10, 400});
	CHECK(followed.links() == "8 running 10, 7 ready 300, 7 running 320, 400");
	CHECK(followed.sums() == Sums{{"7 ready: CPU idle", 20},
				      {"7 running: call 202", 10},
				      {"7 running: user", 70},
				      {"8 running: unknown mode", 290}});
	CHECK(followed.paths->sleeps().size() == 1);
}

TEST_CASE("path: what several paths are within tells them apart")
{
	Machine machine = Machine::with_a_sleep();
	Followed followed(machine, 400);
	path::Paths &paths = followed.paths.emplace(followed.stretches);
	const std::uint32_t one = paths.add_root(), other = paths.add_root();
	paths.add_bounded(followed.place(7), {10, 400}, 400, one);
	paths.add_bounded(followed.place(7), {60, 400}, 400, other);
	std::map<std::uint32_t, std::uint64_t> lengths;
	for (std::size_t i = 0; i < paths.links().size(); ++i) {
		if (paths.links()[i].thread == path::nobody)
			continue;
		std::uint32_t root = paths.links()[i].sleep;
		while (paths.sleeps()[root].outer != 0)
			root = paths.sleeps()[root].outer;
		lengths[root] += paths.end_of(i) - paths.links()[i].begin;
	}
	CHECK(lengths == std::map<std::uint32_t, std::uint64_t>{{one, 390}, {other, 340}});
}

TEST_CASE("path: a part of it is cut out of the whole")
{
	Machine machine = Machine::with_a_sleep();
	Followed followed(machine, 400);
	followed.critical(7, {150, 310}, -1, 400);
	CHECK(followed.links() == "8 running 150, 7 ready 300, 310");
	CHECK(followed.paths->total() == 160);
}

TEST_CASE("path: bounded, it returns where the sleep began")
{
	Machine machine = Machine::with_a_sleep();
	Followed followed(machine, 400);
	followed.bounded(7, {10, 400});
	CHECK(followed.links() == "7 running 10, 8 running 100, 7 ready 300, 7 running 320, 400");
	REQUIRE(followed.paths->sleeps().size() == 2);
	CHECK(followed.paths->links()[1].sleep == 1);
	CHECK(followed.paths->sleeps()[1].thread == followed.place(7));
	CHECK(followed.paths->sleeps()[1].call == futex);
	CHECK(followed.paths->links()[2].sleep == 0);
}

TEST_CASE("path: a sleep from which it goes on has the name that its thread had then")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.runs(1, 10, 8);
	machine.cpu(0).post(20, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 7), 0x79737562, 0}); // "busy"
	machine.sleeps(0, 100, 7);
	machine.wakes(1, 300, 7);
	machine.runs(0, 320, 7);
	machine.cpu(0).post(350, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 7), 0x676f7270, 0}); // "prog"
	Followed followed(machine, 400);
	followed.bounded(7, {30, 400});
	REQUIRE(followed.paths->sleeps().size() == 2);
	CHECK(followed.stretches.names()[followed.paths->sleeps()[1].name] == "busy");
}

TEST_CASE("path: from a thread outside the critical path returns, too")
{
	Machine machine = Machine::with_a_sleep();
	Followed followed(machine, 400);
	followed.critical(7, {10, 400}, 8);
	CHECK(followed.links() == "7 running 10, 8 running 100, 7 ready 300, 7 running 320, 400");
}

TEST_CASE("path: a sleep that an interrupt ended, and one that goes on at the end")
{
	Machine machine;
	machine.runs(0, 10, 7);
	machine.calls(0, 50, read_call);
	machine.sleeps(0, 100, 7);
	machine.posts(0, 200, EDC_ID_SOFTIRQ_ENTRY, net_rx);
	machine.wakes(0, 210, 7);
	machine.posts(0, 220, EDC_ID_SOFTIRQ_EXIT, net_rx);
	machine.runs(0, 230, 7);
	machine.sleeps(0, 300, 7);
	Followed followed(machine, 400);
	followed.critical(7, {10, 400});
	CHECK(followed.links() == "7 running 10, 7 blocked: 0 until softirq:3 100, 7 ready 210, 7 running 230, "
				  "7 blocked: 0 until the end 300, 400");
	CHECK(followed.sums().at("7 ready: CPU idle") == 20);
}

TEST_CASE("path: an interrupt that its name says to be a timer's ends a sleep as a timer")
{
	const std::map<std::string, std::string> ends = {{"arch_timer", "timer"}, {"eth0", "irq:11 (eth0)"}};
	for (const auto &[name, end] : ends) {
		Machine machine;
		machine.runs(0, 10, 7);
		machine.sleeps(0, 100, 7);
		machine.posts(0, 200, EDC_ID_IRQ_HANDLER_ENTRY, 11);
		machine.wakes(0, 210, 7);
		machine.posts(0, 220, EDC_ID_IRQ_HANDLER_EXIT, 11);
		machine.runs(0, 230, 7);
		analyze::RecordingInfo info = make_info(0, 300, true, false);
		info.interrupt_names = {{"11", name}};
		Followed followed(machine, info);
		followed.critical(7, {10, 300});
		CHECK(followed.links() ==
		      "7 running 10, 7 blocked: no call until " + end + " 100, 7 ready 210, 7 running 230, 300");
	}
}

TEST_CASE("path: a stop by a signal is a link, whoever continued the thread; one by a tracer leads to that")
{
	constexpr std::uint64_t stopped = 4, traced = 8;
	for (const std::uint64_t state : {stopped, traced}) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 10, 8);
		machine.switches(0, 100, 7, state, 0);
		machine.wakes(1, 300, 7);
		machine.runs(0, 320, 7);
		Followed followed(machine, 400);
		followed.critical(7, {10, 400}, 8);
		CHECK(followed.links() ==
		      (state == stopped
			   ? "7 running 10, 7 blocked: stopped by a signal 100, 7 ready 300, 7 running 320, 400"
			   : "7 running 10, 8 running 100, 7 ready 300, 7 running 320, 400"));
		if (state == stopped)
			CHECK(followed.sums().at("7 blocked: stopped by a signal") == 200);
		else
			CHECK(path::call_text(followed.paths->sleeps().back().call, followed.fold.kinds()) ==
			      "a stop by its tracer");
	}
}

TEST_CASE("path: what a quota kept from the CPU is a link of its own")
{
	Machine machine;
	machine.runs(0, 10, 7);
	machine.switches(0, 100, 7, throttled, 0);
	machine.runs(0, 300, 8);
	machine.sleeps(0, 350, 8);
	machine.runs(0, 600, 7);
	Followed followed(machine, 700);
	followed.critical(7, {10, 700});
	CHECK(followed.links() == "7 running 10, 7 throttled 100, 7 running 600, 700");
	CHECK(followed.sums().at("7 throttled") == 500);
}

TEST_CASE("path: a softirq in the call that raised it is of the thread, but not after another interrupt")
{
	for (const bool interrupted : {false, true}) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 10, 8);
		machine.sleeps(0, 100, 7);
		machine.calls(1, 150, 44);
		if (interrupted) {
			machine.posts(1, 160, EDC_ID_IRQ_HANDLER_ENTRY, 9);
			machine.posts(1, 170, EDC_ID_IRQ_HANDLER_EXIT, 9);
		}
		machine.posts(1, 200, EDC_ID_SOFTIRQ_ENTRY, net_rx);
		machine.wakes(1, 210, 7);
		machine.posts(1, 220, EDC_ID_SOFTIRQ_EXIT, net_rx);
		machine.runs(0, 230, 7);
		Followed followed(machine, 300);
		followed.bounded(7, {100, 300});
		CHECK(followed.links() ==
		      (interrupted ? "7 blocked: no call until softirq:3 100, 7 ready 210, 7 running 230, 300"
				   : "8 running 100, 7 ready 210, 7 running 230, 300"));
		if (!interrupted)
			CHECK(followed.sums().at("8 running: softirq:3") == 10);
	}
}

TEST_CASE("path: a sleep that a completed request ended is the device's since it was submitted, then who submitted it")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.runs(1, 20, 8);
	machine.request(1, 150, EDC_ID_BLOCK_IO_START, 5);
	machine.request(1, 180, EDC_ID_BLOCK_RQ_ISSUE, 5);
	machine.sleeps_for(5);
	Followed followed(machine, 400);
	followed.critical(7, {30, 400});
	CHECK(followed.links() == "8 running 30, 7 blocked: 202 until disk 254:0 150, 7 ready 300, 7 running 320, 400");
	CHECK(followed.sums().at("7 blocked: 202 until disk 254:0") == 150);
	const std::string bounded =
	    "7 running 30, 8 running 100, 7 blocked: 202 until disk 254:0 150, 7 ready 300, 7 running 320, 400";
	followed.bounded(7, {30, 400});
	CHECK(followed.links() == bounded);
	CHECK(followed.paths->sleeps()[followed.paths->links()[1].sleep].thread == followed.place(7));
	followed.critical(7, {30, 400}, 8);
	CHECK(followed.links() == bounded);
}

TEST_CASE("path: a disk has the name that the recording has for it")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.request(0, 80, EDC_ID_BLOCK_IO_START, 5);
	machine.sleeps_for(5);
	analyze::RecordingInfo info = make_info(0, 400, true, false);
	info.disk_names = {{"254:0", "vd\x1b"}, {"8:0", "sda"}};
	Followed followed(machine, info);
	followed.critical(7, {30, 400});
	CHECK(followed.sums().at("7 blocked: 202 until disk vd\\x1b (254:0)") == 220);
	CHECK(followed.fold.kinds().disk_label(8 << 20) == "disk sda (8:0)");
	CHECK(followed.fold.kinds().disk_label(8 << 20 | 1) == "disk 8:1");
}

TEST_CASE("path: a request that was submitted before the sleep began")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.request(0, 80, EDC_ID_BLOCK_IO_START, 5);
	machine.sleeps_for(5);
	Followed followed(machine, 400);
	followed.critical(7, {30, 400});
	CHECK(followed.links() == "7 running 30, 7 blocked: 202 until disk 254:0 80, 7 ready 300, 7 running 320, 400");
	followed.bounded(7, {30, 400});
	CHECK(followed.links() == "7 running 30, 7 blocked: 202 until disk 254:0 100, 7 ready 300, 7 running 320, 400");
}

TEST_CASE("path: flushes of one place complete in their order; of a request without a start only the device is known")
{
	for (const bool is_seen : {true, false}) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 20, 8);
		if (is_seen) {
			machine.request(1, 150, EDC_ID_BLOCK_IO_START, 0, 0);
			machine.request(1, 200, EDC_ID_BLOCK_IO_START, 0, 0);
		}
		machine.sleeps_for(0, 0);
		Followed followed(machine, 400);
		followed.critical(7, {30, 400});
		CHECK(followed.links() ==
		      (is_seen ? "8 running 30, 7 blocked: 202 until disk 254:0 150, 7 ready 300, 7 running 320, 400"
			       : "7 running 30, 7 blocked: 202 until disk 254:0 100, 7 ready 300, 7 running 320, 400"));
	}
}

TEST_CASE("path: a completion is not of the next interrupt, nor after a loss")
{
	for (const bool is_lost : {false, true}) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.request(0, 80, EDC_ID_BLOCK_IO_START, 5);
		if (is_lost)
			machine.cpu(1).open(85, 5);
		machine.calls(0, 90, futex);
		machine.sleeps(0, 100, 7);
		machine.posts(1, 290, EDC_ID_IRQ_HANDLER_ENTRY, 36);
		machine.request(1, 295, EDC_ID_BLOCK_RQ_COMPLETE, 5);
		if (!is_lost) {
			machine.posts(1, 296, EDC_ID_IRQ_HANDLER_EXIT, 36);
			machine.posts(1, 297, EDC_ID_IRQ_HANDLER_ENTRY, 9);
		}
		machine.wakes(1, 300, 7);
		machine.posts(1, 305, EDC_ID_IRQ_HANDLER_EXIT, is_lost ? 36 : 9);
		Followed followed(machine, 300);
		followed.critical(7, {30, 300});
		CHECK(followed.links() == (is_lost ? "7 running 30, 7 blocked: 202 until disk 254:0 100, 300"
						   : "7 running 30, 7 blocked: 202 until irq:9 100, 300"));
	}
}

TEST_CASE("path: a softirq of the network is a device's or a thread's, by who raised it")
{
	enum class Raiser { device, thread, both, before, not_seen };
	using enum Raiser;
	const std::map<Raiser, std::string> expected = {
	    {device, "7 blocked: no call until network 100, 7 ready 210, 7 running 230, 300"},
	    {thread, "8 running 100, 7 ready 210, 7 running 230, 300"},
	    {both, "7 blocked: no call until softirq:3 100, 7 ready 210, 7 running 230, 300"},
	    {before, "8 running 100, 7 blocked: no call until softirq:3 165, 7 ready 210, 7 running 230, 300"},
	    {not_seen, "7 blocked: no call until softirq:3 100, 7 ready 210, 7 running 230, 300"}};
	for (const auto &[raiser, links] : expected) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 10, 8);
		machine.sleeps(0, 100, 7);
		machine.posts(1, 150, EDC_ID_IRQ_HANDLER_ENTRY, 9);
		if (raiser == device || raiser == both)
			machine.posts(1, 155, EDC_ID_SOFTIRQ_RAISE, net_rx);
		machine.posts(1, 160, EDC_ID_IRQ_HANDLER_EXIT, 9);
		if (raiser == thread || raiser == both || raiser == before)
			machine.posts(1, 165, EDC_ID_SOFTIRQ_RAISE, net_rx);
		if (raiser == before)
			machine.switches(1, 170, 8, running, 9);
		machine.posts(1, 200, EDC_ID_SOFTIRQ_ENTRY, net_rx);
		machine.wakes(1, 210, 7);
		machine.posts(1, 220, EDC_ID_SOFTIRQ_EXIT, net_rx);
		machine.runs(0, 230, 7);
		Followed followed(machine, 300);
		followed.bounded(7, {100, 300});
		CHECK(followed.links() == links);
	}
}

TEST_CASE("path: a softirq of the network that a timer raised is not a device's")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.runs(1, 10, 8);
	machine.sleeps(0, 100, 7);
	machine.posts(1, 150, EDC_ID_IRQ_HANDLER_ENTRY, 9);
	machine.posts(1, 155, EDC_ID_SOFTIRQ_RAISE, net_rx);
	machine.posts(1, 160, EDC_ID_IRQ_HANDLER_EXIT, 9);
	machine.posts(1, 200, EDC_ID_SOFTIRQ_ENTRY, net_rx);
	machine.wakes(1, 210, 7);
	machine.posts(1, 220, EDC_ID_SOFTIRQ_EXIT, net_rx);
	machine.runs(0, 230, 7);
	analyze::RecordingInfo info = make_info(0, 300, true, false);
	info.interrupt_names = {{"9", "arch_timer"}};
	Followed followed(machine, info);
	followed.bounded(7, {100, 300});
	CHECK(followed.links() == "7 blocked: no call until softirq:3 100, 7 ready 210, 7 running 230, 300");
}

TEST_CASE("path: a sleep that ended where a process ran that -p did not select names it")
{
	Machine machine = Machine::with_a_sleep();
	machine.lists(5, 7, sleeping, EDC_NO_SYSCALL, 0);
	analyze::RecordingInfo info = make_info(0, 400, true, false);
	info.filter.pids = {7};
	Followed followed(machine, info);
	followed.critical(7, {50, 400});
	const std::string slept = "7 blocked: 202 until a process that is not recorded (8), or an interrupt";
	CHECK(followed.links() == "7 running 50, " + slept + " 100, 7 ready 300, 7 running 320, 400");
	CHECK(followed.sums().at(slept) == 200);
}

TEST_CASE("path: a wait is divided where the thread moves to another queue")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.runs(1, 10, 8);
	machine.switches(0, 100, 7, running, 9);
	machine.migrates(1, 150, 7, 1);
	machine.switches(1, 200, 8, sleeping, 7);
	Followed followed(machine, 300);
	followed.critical(7, {10, 300});
	CHECK(followed.links() == "7 running 10, 7 ready 100, 7 ready 150, 7 running 200, 300");
	const Sums sums = followed.sums();
	CHECK(sums.at("7 ready: CPU had an unnamed thread") == 100);
}

TEST_CASE("path: before its creation a thread leads to its creator")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.runs(1, 10, 8);
	machine.sleeps(1, 20, 8);
	creates(machine, 50, 9, 7, "child", 1);
	machine.runs(1, 60, 9);
	Followed followed(machine, 200);
	followed.critical(9, {10, 200});
	CHECK(followed.links() == "7 running 10, 9 ready 50, 9 running 60, 200");
	followed.bounded(9, {10, 200});
	CHECK(followed.links() == "7 running 10, 9 ready 50, 9 running 60, 200");
	CHECK(followed.sums().at("9 ready: CPU idle") == 10);
}

TEST_CASE("path: who executes a program in another thread's place was there before, by its own number")
{
	Machine machine;
	machine.runs(0, 10, 8);
	machine.calls(0, 50, 59);
	machine.cpu(0).post(100, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), 0x676f7270, 0});
	machine.returns(0, 110);
	Followed followed(machine, 200);
	followed.critical(7, {10, 200});
	CHECK(followed.links() == "8 running 10, 7 running 100, 200");
	const path::ThreadStretches &of = followed.stretches.threads()[followed.place(7)];
	CHECK(path::thread_text(of, 150, followed.stretches.names()) == "prog-7");
}

TEST_CASE("path: a process whose first thread ended before another one executed a program goes on")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.cpu(0).post(20, EDC_ID_SCHED_WAKEUP_NEW, 1, {pair(8, 7), pair(7, 120), 0x79737562, 0}); // "busy"
	machine.runs(1, 30, 8);
	machine.switches(0, 150, 7, dead, 0);
	machine.cpu(1).post(200, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), 0x676f7270, 0});
	analyze::RecordingInfo info = make_info(0, 400, true, false);
	info.command_pid = 7;
	Followed followed(machine, info);
	const analyze::Scope scope;
	const selection::Selection selection;
	const path::SubjectChoice choice(followed.fold, followed.info, selection, scope, followed.stretches);
	const path::Subject subject = choice.choose({0, 400});
	CHECK(subject.end == 400);
	CHECK(subject.to == std::string("the end"));
}

TEST_CASE("path: whom exit_group ended, but not who exits by itself, leads to its caller, if the path is critical")
{
	constexpr unsigned exit_call = 60, exit_group = 231;
	const bool exits = GENERATE(false, true);
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.cpu(0).post(20, EDC_ID_SCHED_WAKEUP_NEW, 1, {pair(8, 7), pair(7, 120), 0x79737562, 0}); // "busy"
	machine.runs(1, 30, 8);
	machine.calls(0, 300, exit_group);
	machine.switches(0, 310, 7, dead, 0);
	if (exits)
		machine.calls(1, 320, exit_call);
	machine.switches(1, 350, 8, dead, 0);
	std::string described = events_of_paths;
	described.replace(described.find("u12_t id;"), 9, "enum : u12_t { \"exit\" = 60, \"exit_group\" = 231 } id;");
	Followed followed(machine, make_info(0, 400, true, false), described);
	const std::string by_itself = "7 running 10, 8 ready 20, 8 running 30, 350";
	followed.critical(8, {10, 350});
	CHECK(followed.links() == (exits ? by_itself : "7 running 10, 8 running 300, 350"));
	followed.bounded(8, {10, 350});
	CHECK(followed.links() == by_itself);
}

TEST_CASE("path: in the sentences, who executes a program has its earlier name before")
{
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.cpu(0).post(20, EDC_ID_SCHED_WAKEUP_NEW, 1, {pair(8, 8), pair(7, 120), 0x79737562, 0}); // "busy"
	machine.runs(1, 30, 8);
	const auto sleep = [&](std::uint64_t from, std::uint64_t to) {
		machine.calls(1, from, futex);
		machine.sleeps(1, from, 8);
		machine.posts(1, to, EDC_ID_IRQ_HANDLER_ENTRY, 9);
		machine.wakes(1, to, 8);
		machine.posts(1, to, EDC_ID_IRQ_HANDLER_EXIT, 9);
		machine.runs(1, to + 5, 8);
		machine.returns(1, to + 6);
	};
	sleep(50, 90);
	machine.calls(1, 100, 59);
	machine.cpu(1).post(110, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(8, 8), 0x676f7270, 0}); // "prog"
	machine.returns(1, 115);
	sleep(130, 190);
	Followed followed(machine, 300);
	followed.critical(8, {30, 300});
	std::map<std::string, std::uint64_t> asleep;
	const path::Parts parts = followed.parts();
	for (const auto &[part, ticks] : parts.ticks())
		if (part.kind == path::PartKind::asleep)
			asleep[explain::path_part(part, followed.stretches, followed.fold.kinds()).who] += ticks;
	CHECK(asleep == std::map<std::string, std::uint64_t>{{"busy", 40}, {"prog", 60}});
}

TEST_CASE("path: whom an exec ended leads to its caller, if the path is critical")
{
	const bool executes = GENERATE(true, false);
	Machine machine;
	machine.cpu(1);
	machine.runs(0, 10, 7);
	machine.cpu(0).post(20, EDC_ID_SCHED_WAKEUP_NEW, 1, {pair(8, 7), pair(7, 120), 0x79737562, 0}); // "busy"
	machine.runs(1, 30, 8);
	machine.calls(0, 300, 59);
	machine.sleeps(0, 310, 7);
	machine.wakes(1, 340, 7);
	machine.switches(1, 350, 8, dead, 0);
	machine.runs(0, 360, 7);
	if (executes)
		machine.cpu(0).post(370, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 7), 0x676f7270, 0});
	machine.returns(0, 380);
	std::string described = events_of_paths;
	described.replace(described.find("u12_t id;"), 9, "enum : u12_t { \"execve\" = 59 } id;");
	Followed followed(machine, make_info(0, 400, true, false), described);
	const std::string ends = "7 ready 340, 7 running 360, 400";
	followed.critical(7, {10, 400});
	CHECK(followed.links() ==
	      (executes ? "7 running 10, 8 running 310, " : "7 running 10, 8 ready 20, 8 running 30, ") + ends);
	followed.bounded(7, {10, 400});
	CHECK(followed.links() == "7 running 10, 8 running 310, " + ends);
}

TEST_CASE("path: what a loss hides is unknown")
{
	Machine machine = Machine::with_a_sleep();
	machine.sleeps(0, 400, 7);
	machine.cpu(1).open(600, 5); // since its last token, at 300
	machine.wakes(1, 650, 7);
	machine.runs(0, 700, 7);
	Followed followed(machine, 800);
	followed.critical(7, {10, 800});
	CHECK(followed.links() == "8 running 10, 7 unknown: events were lost 300, 7 running 320, "
				  "7 unknown: events were lost 400, 7 ready 650, 7 running 700, 800");
	std::uint64_t sum = 0;
	for (const auto &[what, ticks] : followed.sums())
		sum += ticks;
	CHECK(sum == 790);
}

namespace {

// The same with requests and what is raised.
History random_causes(std::mt19937 &random, std::uint64_t &time)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	Machine machine;
	machine.cpu(1);
	for (int i = 0; i < 200; ++i) {
		time += below(20);
		const std::uint32_t on = below(2);
		const unsigned what = below(8), which = below(3), bytes = below(2);
		const unsigned interrupts[] = {EDC_ID_IRQ_HANDLER_ENTRY, EDC_ID_SOFTIRQ_ENTRY, EDC_ID_IRQ_HANDLER_EXIT,
					       EDC_ID_SOFTIRQ_EXIT, EDC_ID_SOFTIRQ_RAISE};
		const unsigned requests[] = {EDC_ID_BLOCK_IO_START, EDC_ID_BLOCK_RQ_ISSUE, EDC_ID_BLOCK_RQ_COMPLETE};
		if (what == 0)
			machine.switches(on, time, static_cast<std::int32_t>(which), bytes, 1 + bytes);
		else if (what == 1)
			machine.wakes(on, time, static_cast<std::int32_t>(which) + 1);
		else if (what == 2)
			machine.completes(on, time, static_cast<std::int32_t>(which) + 1);
		else if (what < 5)
			machine.posts(on, time, interrupts[below(5)], net_rx);
		else
			machine.request(on, time, requests[which], 0, static_cast<std::int32_t>(bytes));
	}
	return machine;
}

struct Tried {
	std::size_t links = 0, jumps = 0, led = 0, unknown = 0;
};

void follow_all(Followed &followed, std::mt19937 &random, std::uint64_t time, Tried &tried)
{
	for (std::int32_t tid = 1; tid < 4; ++tid) {
		if (std::ranges::find(followed.fold.threads(), tid, &analyze::Thread::tid) ==
			followed.fold.threads().end() ||
		    followed.place(tid) == path::nobody)
			continue;
		const trace::TimeRange range = {random() % 200, 200 + random() % time};
		if (random() % 2)
			followed.critical(tid, range, static_cast<std::int32_t>(random() % 4));
		else
			followed.bounded(tid, range);
		const path::Paths &paths = *followed.paths;
		REQUIRE(paths.links().front().begin == range.from);
		REQUIRE(paths.links().back().begin == range.to);
		for (std::size_t i = 0; i + 1 < paths.links().size(); ++i) {
			const path::Link &link = paths.links()[i];
			REQUIRE(paths.end_of(i) > link.begin);
			REQUIRE(link.sleep < paths.sleeps().size());
			tried.jumps += link.thread != followed.place(tid);
			tried.led += link.stretch && link.stretch->end == path::End::led;
		}
		tried.links += paths.links().size();
		std::uint64_t sum = 0;
		const path::Parts parts = followed.parts();
		for (const auto &[part, ticks] : parts.ticks()) {
			REQUIRE(ticks < ~0ull / 2);
			sum += ticks;
			const bool is_unknown = path::is_unknown(part, followed.fold.kinds());
			const explain::PathPart made =
			    explain::path_part(part, followed.stretches, followed.fold.kinds());
			REQUIRE((made.what == explain::What::unknown) ==
				(is_unknown || part.kind == path::PartKind::unattributed));
			tried.unknown += is_unknown;
		}
		REQUIRE(sum == range.to - range.from);
	}
}

} // namespace

TEST_CASE("path: links touch and parts sum exactly, whatever the history")
{
	std::mt19937 random(46);
	Tried tried;
	for (int round = 0; round < 400; ++round) {
		std::uint64_t time = 100;
		History history = random_history(random, time);
		if (random() % 2)
			list_one(history, random);
		Followed followed(history, time + 10, random() % 4 != 0);
		follow_all(followed, random, time, tried);
	}
	CHECK(tried.links > 5000);
	CHECK(tried.jumps > 200); // else nothing was tried
	for (int round = 0; round < 200; ++round) {
		std::uint64_t time = 100;
		History history = random_causes(random, time);
		Followed followed(history, time + 10);
		follow_all(followed, random, time, tried);
	}
	CHECK(tried.led > 50);
	CHECK(tried.unknown > 200);
}

TEST_CASE("path: who had a CPU, or what ended a sleep, is unknown unless a token says it; a sleep that goes on is none")
{
	const auto is_unknown = [](path::PartKind doing, path::End end = path::End::open, std::uint32_t cause = 0) {
		Machine machine = Machine::with_a_sleep();
		analyze::RecordingInfo info = make_info(0, 400, true, false);
		info.interrupt_names = {{"9", "eth0"}};
		const Followed followed(machine, info);
		path::Part part;
		part.kind = doing;
		part.end = end;
		part.cause = cause;
		return path::is_unknown(part, followed.fold.kinds());
	};
	using enum path::PartKind;
	constexpr std::uint32_t softirq = 1 << 16;
	CHECK(is_unknown(ready_unknown));
	CHECK(is_unknown(unknown_mode));
	CHECK(!is_unknown(unattributed));
	CHECK(!is_unknown(ready_idle));
	CHECK(!is_unknown(asleep));
	CHECK(!is_unknown(asleep, path::End::device));
	CHECK(!is_unknown(asleep, path::End::interrupt, 9));
	CHECK(is_unknown(asleep, path::End::interrupt, 10)); // has no name: may be a timer's
	CHECK(is_unknown(asleep, path::End::interrupt, softirq | net_rx));
	for (const std::uint32_t vec : {1u, 4u, 8u}) // timers and disks, also where they have no names
		CHECK(!is_unknown(asleep, path::End::interrupt, softirq | vec));
	CHECK(is_unknown(asleep, path::End::not_recorded));
}

TEST_CASE("path: timers are known where the interrupt of the CPU's is recorded")
{
	const std::string timer = samples::event_block(EDC_ID_LOCAL_TIMER_ENTRY, "local_timer_entry", "u16_t vector;") +
				  samples::event_block(EDC_ID_LOCAL_TIMER_EXIT, "local_timer_exit", "u16_t vector;");
	for (const bool has_timer : {false, true}) {
		Machine machine = Machine::with_a_sleep();
		const trace::Trace trace =
		    samples::trace(machine.all(), events_of_paths + (has_timer ? timer : std::string()));
		CHECK(analyze::EventKinds(trace.description()).has_local_timer() == has_timer);
	}
}

TEST_CASE("path: time of a link that no token explains is a part, too")
{
	Machine machine = Machine::with_a_sleep();
	Followed followed(machine, 400);
	path::Parts parts(followed.stretches, followed.bounded(7, {10, 400}), path::Parts::Who::thread);
	analyze::Cpu cpu; // offline but from 150 to 200
	cpu.number = 1;
	parts.spent(cpu, 150, 200, analyze::Mode::unknown, false);
	parts.finish();
	std::uint64_t sum = 0;
	for (const auto &[part, ticks] : parts.ticks())
		sum += ticks;
	CHECK(sum == 390);
}

TEST_CASE("path: what another process did meanwhile is waiting for it, in the sentences")
{
	for (const bool is_outside : {true, false}) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 10, 8);
		machine.returns(1, 20);
		machine.calls(0, 50, futex);
		machine.sleeps(0, 100, 7);
		machine.calls(1, 250, read_call);
		machine.wakes(1, 300, 7);
		machine.runs(0, 320, 7);
		Followed followed(machine, 400);
		const path::Paths &paths = followed.critical(7, {30, 400}, is_outside ? 8 : -1);
		const path::IsInside is_inside = [&](std::uint32_t thread) {
			return !is_outside || thread == followed.place(7);
		};
		const explain::Priorities priorities(followed.trace.description(), followed.fold);
		const explain::Reclaim reclaim(followed.trace.description(), followed.info, followed.fold);
		double unknown = 0;
		const explain::Path read = explain::PathReader(followed.stretches, paths, followed.fold, is_inside,
							       followed.trace.description().clock)
					       .read(followed.parts(), priorities, reclaim, {}, 0.05, unknown);
		double waits = 0;
		std::string all;
		for (const explain::PathPart &part : read.parts)
			all += fmt::format("{} {} {} {}; ", static_cast<int>(part.what), part.who, part.detail,
					   part.share);
		INFO(all << followed.links());
		for (const explain::PathPart &part : read.parts)
			if (part.what == explain::What::other_process) {
				waits += part.share;
				CHECK(part.detail.starts_with("202 for "));
				CHECK(part.process == 8);
			}
		CHECK(waits == Approx(is_outside ? 200.0 / 370 : 0));
	}
}

TEST_CASE("path: wake-ups are those of the path, whatever they were by")
{
	Machine machine;
	machine.runs(0, 10, 7);
	machine.sleeps(0, 100, 7);
	machine.posts(0, 200, EDC_ID_IRQ_HANDLER_ENTRY, 9);
	machine.wakes(0, 210, 7);
	machine.posts(0, 220, EDC_ID_IRQ_HANDLER_EXIT, 9);
	machine.runs(0, 230, 7);
	machine.switches(0, 300, 7, running, 8); // ready, but not woken
	machine.switches(0, 350, 8, running, 7);
	Followed followed(machine, 400);
	const path::Paths &paths = followed.critical(7, {10, 400});
	const path::IsInside is_inside = [](std::uint32_t) { return true; };
	const explain::Priorities priorities(followed.trace.description(), followed.fold);
	const explain::Reclaim reclaim(followed.trace.description(), followed.info, followed.fold);
	double unknown = 0;
	const explain::Path read =
	    explain::PathReader(followed.stretches, paths, followed.fold, is_inside, followed.trace.description().clock)
		.read(followed.parts(), priorities, reclaim, {}, 0.05, unknown);
	CHECK(read.wake_ups == 1);
}

TEST_CASE("path: processes of the command that hand it round by futexes are one group")
{
	std::string described = events_of_paths;
	const std::string_view number = "u12_t id;";
	described.replace(described.find(number), number.size(), "futex_t id;");
	described.insert(0, "typealias enum : u12_t { \"futex\" = 202 } := futex_t;\n");
	const auto read = [&](std::int32_t outside) {
		Machine machine;
		machine.cpu(1);
		machine.runs(0, 10, 7);
		machine.runs(1, 10, 8);
		machine.calls(1, 20, futex);
		machine.sleeps(1, 30, 8);
		machine.runs(1, 40, 9);
		machine.calls(1, 50, futex);
		machine.sleeps(1, 60, 9);
		machine.calls(0, 70, futex);
		machine.wakes(0, 100, 8);
		machine.runs(1, 105, 8);
		machine.sleeps(0, 110, 7);
		machine.wakes(1, 200, 9);
		machine.runs(0, 205, 9);
		machine.sleeps(1, 210, 8);
		machine.wakes(0, 300, 7);
		machine.runs(1, 305, 7);
		machine.sleeps(0, 310, 9);
		Followed followed(machine, make_info(0, 400, true, false), described);
		const path::Paths &paths = followed.critical(7, {10, 400});
		REQUIRE(followed.links() == "7 running 10, 8 ready 100, 8 running 105, 9 ready 200, 9 running 205, "
					    "7 ready 300, 7 running 305, 400");
		const path::IsInside is_inside = [&](std::uint32_t thread) {
			return outside == 0 || thread != followed.place(outside);
		};
		const explain::Priorities priorities(followed.trace.description(), followed.fold);
		const explain::Reclaim reclaim(followed.trace.description(), followed.info, followed.fold);
		double unknown = 0;
		return explain::PathReader(followed.stretches, paths, followed.fold, is_inside,
					   followed.trace.description().clock)
		    .read(followed.parts(), priorities, reclaim, {}, 0.05, unknown);
	};
	const explain::Path all = read(0);
	CHECK(all.futex_processes == std::set<std::int32_t>{7, 8, 9});
	CHECK(all.futex_handovers == Approx(3e9 / 390));
	CHECK(all.futex_sleepers == Approx((190.0 + 70 + 140) / 390));
	const explain::Path without = read(8);
	CHECK(without.futex_processes == std::set<std::int32_t>{7, 9});
	CHECK(without.futex_handovers == Approx(2e9 / 390));
}

TEST_CASE("path: a storm is of what was created while the path went on")
{
	Machine machine;
	machine.runs(0, 10, 7);
	creates(machine, 50, 9, 7, "child");
	creates(machine, 500, 10, 7, "child");
	Followed followed(machine, 1000);
	const explain::MachineReader reader(followed.fold, followed.info, followed.trace.description().clock);
	const auto all = [](const analyze::Thread &) { return true; };
	CHECK(reader.storm(all, {10, 110}, 50).creations == 1);
	CHECK(reader.storm(all, {10, 110}, 50).creations_per_second == Approx(1e7));
	CHECK(reader.storm(all, {10, 1000}, 50).creations == 2);
}

TEST_CASE("path: what the hypervisor took is known of the whole recording, not of a part")
{
	Machine machine = Machine::with_a_sleep();
	analyze::RecordingInfo info = make_info(0, 400, true, false);
	info.kernel_counts.start.emplace().steal_ns = {0, 0};
	info.kernel_counts.end.emplace().steal_ns = {100, 0};
	info.kernel_counts.end->before = 400;
	Followed followed(machine, info);
	const auto all = [](const analyze::Thread &) { return true; };
	const auto steal = [&](trace::TimeRange range) {
		analyze::ThreadFold fold(followed.trace, info, {range, {}, {}});
		analyze::feed(followed.trace, fold);
		return explain::MachineReader(fold, info, followed.trace.description().clock).read({}, all).steal;
	};
	CHECK(steal({}).value_or(0) == Approx(100.0 / 800));
	CHECK(!steal({100, 200}));
}

TEST_CASE("path: with -p it is not known how long a CPU was in interrupts")
{
	for (const bool is_filtering : {false, true}) {
		Machine machine = Machine::with_a_sleep();
		analyze::RecordingInfo info = make_info(0, 400, true, false);
		if (is_filtering)
			info.filter.pids = {7};
		const Followed followed(machine, info);
		const explain::MachineReader reader(followed.fold, info, followed.trace.description().clock);
		const explain::Machine read = reader.read({}, [](const analyze::Thread &) { return true; });
		REQUIRE(read.irqs.size() == 2);
		CHECK(read.irqs[0].has_value() == !is_filtering);
	}
}

TEST_CASE("path: a priority inversion begins where the sleep for the one without a CPU does")
{
	Machine machine;
	machine.cpu(1);
	for (const auto &[tid, priority] : {std::pair(7, 130), std::pair(8, 120), std::pair(9, 100)})
		machine.cpu(0).post(10, EDC_ID_SCHED_WAKING, 0, {pair(tid, priority)});
	machine.runs(0, 20, 7);
	machine.runs(1, 20, 9);
	machine.switches(0, 100, 7, running, 8);
	machine.sleeps(1, 200, 9);
	machine.switches(0, 300, 8, sleeping, 7);
	machine.cpu(0).post(310, EDC_ID_SCHED_WAKING, 0, {pair(9, 100)});
	machine.runs(1, 320, 9);
	Followed followed(machine, 400);
	const path::Paths &paths = followed.critical(9, {30, 400});
	REQUIRE(followed.links() == "7 running 30, 7 ready 100, 7 running 300, 9 ready 310, 9 running 320, 400");
	explain::Priorities priorities(followed.trace.description(), followed.fold);
	trace::merge(followed.trace, {}, [&](const trace::Event &event) { priorities.after(event); });
	const explain::Reclaim reclaim(followed.trace.description(), followed.info, followed.fold);
	const path::IsInside is_inside = [](std::uint32_t) { return true; };
	double unknown = 0;
	const explain::Path read =
	    explain::PathReader(followed.stretches, paths, followed.fold, is_inside, followed.trace.description().clock)
		.read(followed.parts(), priorities, reclaim, {}, 0.05, unknown);
	REQUIRE(read.inversions.size() == 1);
	CHECK(read.inversions[0].share == Approx(100.0 / 370));
}

TEST_CASE("path: sleep in reclaim ends with a switch to the thread, not later if that was lost")
{
	for (const bool is_lost : {false, true}) {
		Machine machine;
		machine.runs(0, 10, 7);
		machine.switches(0, 100, 7, sleeping | EDC_SWITCH_MEMSTALL << 12, 0);
		if (is_lost)
			machine.cpu(0).open(250, 5);
		else
			machine.runs(0, 200, 7);
		machine.sleeps(0, 300, 7);
		machine.runs(0, 900, 7);
		analyze::RecordingInfo info = make_info(0, 1000, true, false);
		info.switch_flags = {"memstall"};
		Followed followed(machine, info);
		analyze::ThreadFold fold(followed.trace, info);
		explain::Reclaim reclaim(followed.trace.description(), info, fold);
		analyze::feed(followed.trace, fold, [&](const trace::Event &event) { reclaim.after(event); });
		const analyze::Thread *thread = fold.thread(7);
		REQUIRE(thread);
		CHECK(reclaim.within(*thread, 100, 200) == (is_lost ? 0 : 100));
		CHECK(reclaim.within(*thread, 300, 900) == 0);
	}
}

TEST_CASE("path: a process whose number another one had later ends with its own threads")
{
	Machine machine;
	machine.cpu(1);
	creates(machine, 20, 9, 1, "first");
	machine.runs(0, 30, 9);
	machine.switches(0, 100, 9, dead, 0);
	creates(machine, 200, 9, 1, "second");
	machine.runs(0, 210, 9);
	Followed followed(machine, 300);
	analyze::Scope scope;
	scope.threads.emplace();
	for (const analyze::Thread &thread : followed.fold.threads())
		scope.threads->push_back(thread.tid == 9);
	selection::Selection selection;
	selection.threads.pids = {9};
	const path::SubjectChoice choice(followed.fold, followed.info, selection, scope, followed.stretches);
	CHECK_THROWS_WITH(choice.choose({0, 300}), Catch::StartsWith("several threads had the number 9"));
	const path::Subject first = choice.choose({0, 150});
	CHECK(first.end == 100);
	CHECK(first.to == std::string("exit"));
	CHECK(followed.stretches.threads()[first.last].thread == first.start);
	CHECK(choice.choose({150, 300}).range.from == 200);
}

TEST_CASE("path: with -p PID it is that of the only process, and of several one has to be chosen")
{
	Machine machine;
	machine.cpu(1);
	machine.lists(5, 9, sleeping, EDC_NO_SYSCALL, 0);
	machine.runs(0, 30, 9);
	machine.sleeps(0, 100, 9);
	Followed followed(machine, 300);
	analyze::RecordingInfo info = followed.info;
	analyze::Scope scope;
	selection::Selection selection;
	const path::SubjectChoice choice(followed.fold, info, selection, scope, followed.stretches);
	CHECK_THROWS_WITH(choice.choose({0, 300}), Catch::StartsWith("this recording has no command"));
	info.filter.pids = {9, 10};
	CHECK_THROWS_WITH(choice.choose({0, 300}), Catch::StartsWith("this recording is of 2 processes (-p)") &&
						       Catch::EndsWith("such as --pid 9"));
	info.filter.pids = {9};
	const path::Subject subject = choice.choose({0, 300});
	CHECK(subject.start->tid == 9);
	CHECK(subject.from == std::string("the start"));
	CHECK(subject.to == std::string("the end"));
	CHECK(subject.range.to == 300);
	info.command_pid = 8; // whose events -p left out
	CHECK(choice.choose({0, 300}).start->tid == 9);
	info.filter.pids = {8};
	CHECK_THROWS_WITH(choice.choose({0, 300}), Catch::StartsWith("the process did nothing in this time"));
	info.command_pid = 9;
	info.filter.command = true;
	CHECK(choice.choose({0, 300}).start->tid == 9);
}

TEST_CASE("path: a thread that was created before --from is followed from there")
{
	Machine machine;
	machine.cpu(1);
	creates(machine, 20, 9, 1, "first");
	machine.runs(0, 30, 9);
	machine.sleeps(0, 250, 9);
	Followed followed(machine, 300);
	const auto begins_with = [&](std::uint64_t from, const std::string &option) {
		analyze::Scope scope;
		scope.range = {from, 300};
		analyze::ThreadFold fold(followed.trace, followed.info, scope);
		path::Stretches stretches(fold, {});
		fold.add(static_cast<analyze::Observer &>(stretches));
		fold.add(static_cast<analyze::TimeObserver &>(stretches));
		analyze::feed(followed.trace, fold, [&](const trace::Event &event) { stretches.after(event); });
		selection::Selection selection;
		selection.from = option;
		selection.threads.tids = {9};
		scope.threads.emplace();
		for (const analyze::Thread &thread : fold.threads())
			scope.threads->push_back(thread.tid == 9);
		const path::SubjectChoice choice(fold, followed.info, selection, scope, stretches);
		return std::string(choice.choose({from, 300}).from);
	};
	CHECK(begins_with(0, "") == "creation");
	CHECK(begins_with(10, "10ns") == "creation");
	CHECK(begins_with(100, "") == "the start");
	CHECK(begins_with(100, "100ns") == "--from");
}

TEST_CASE("path: of several at a time each moment of each is in the sum")
{
	std::mt19937 random(47);
	for (int round = 0; round < 100; ++round) {
		std::uint64_t time = 100;
		History history = random_history(random, time);
		Followed followed(history, time + 10);
		path::Paths &paths = followed.paths.emplace(followed.stretches);
		for (int i = 0; i < 5; ++i) {
			const std::size_t thread = random() % followed.fold.threads().size();
			const std::uint32_t place = followed.stretches.find(followed.fold.threads()[thread]);
			const std::uint64_t begin = random() % time, end = begin + 1 + random() % 300;
			if (place != path::nobody)
				paths.add_bounded(place, {begin, end}, end);
		}
		std::uint64_t sum = 0;
		for (const auto &[what, ticks] : followed.sums())
			sum += ticks;
		REQUIRE(sum == paths.total());
	}
}

} // namespace test_path
