// SPDX-License-Identifier: MIT
// The fold: small hand-made histories of one or two CPUs, and what they must come to. One tick is one nanosecond.
#include <cstring>
#include <map>
#include <random>
#include <string_view>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "history.h"
#include "monitor/card.h"
#include "monitor/syscall_arg.h"
#include "reading/analyze/recorded.h"
#include "reading/analyze/thread_fold.h"
#include "samples.h"

namespace test_thread_fold {

using namespace monitor;
using namespace history;
using analyze::Mode;

namespace {

const std::string timed_events =
    events + samples::event_block(EDC_ID_LOCAL_TIMER_ENTRY, "local_timer_entry", "u12_t vector; u4_t user;") +
    samples::event_block(EDC_ID_LOCAL_TIMER_EXIT, "local_timer_exit", "u16_t vector;");

// A tick in mode `user` or not, which is over at once.
void ticks(History &history, std::uint64_t time, bool user)
{
	history.posts(0, time, EDC_ID_LOCAL_TIMER_ENTRY, user ? 1 << 12 : 0);
	history.posts(0, time, EDC_ID_LOCAL_TIMER_EXIT);
}

struct Recorder : analyze::Observer {
	std::vector<std::string> reported, waits;
	void refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t end,
			  std::int64_t result) override
	{
		reported.push_back(fmt::format("refused {} {} {} {}", thread.tid, call, end, result));
	}
	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override
	{
		reported.push_back("call " + std::to_string(thread.tid) + " " + std::to_string(number) + " " +
				   std::to_string(end - begin) + " " + std::to_string(result));
	}
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override
	{
		reported.push_back("blocked " + std::to_string(thread.tid) + " " + std::to_string(from) + "-" +
				   std::to_string(to) + " by " + std::to_string(waker.thread ? waker.thread->tid : -1) +
				   (waker.interrupt >= 0 ? " irq" : ""));
	}
	void got_cpu(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override
	{
		waits.push_back(fmt::format("{}: {}-{}", thread.tid, from, to));
	}
	void contradiction(analyze::Contradiction what, std::uint64_t time, std::uint32_t,
			   const analyze::Thread &) override
	{
		reported.push_back("contradiction " + std::to_string(static_cast<int>(what)) + " " +
				   std::to_string(time));
	}
};

struct Folded {
	Folded(History &history, std::uint64_t begin, std::uint64_t end, bool complete = true, bool filtering = false,
	       bool is_snapshot = false, const std::string &more_events = "")
	    : info(make_info(begin, end, complete, filtering, is_snapshot)),
	      trace(samples::trace(history.all(), timed_events + more_events)), fold(trace, info)
	{
		fold.add(recorder);
		feed(trace, fold);
	}
	const analyze::Thread &thread(std::int32_t tid) const
	{
		for (const analyze::Thread &thread : fold.threads())
			if (thread.tid == tid)
				return thread;
		throw std::runtime_error("no such thread");
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
	Recorder recorder;
};

} // namespace

TEST_CASE("fold: user, kernel and idle time of one thread")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 150, EDC_ID_SYS_EXIT, 0);   // what it did before is unknown
	history.posts(0, 250, EDC_ID_SYS_ENTER, 39); // 100 in user mode
	history.posts(0, 280, EDC_ID_SYS_EXIT, 5);   // 30 in the call
	history.switches(0, 300, 7, sleeping, 0);
	Folded folded(history, 100, 1000);
	const analyze::Usage &usage = folded.thread(7).usage;
	CHECK(usage[Mode::unknown] == 50);
	CHECK(usage[Mode::user] == 100 + 20);
	CHECK(usage[Mode::kernel] == 30);
	CHECK(usage.syscalls == 1);
	CHECK(usage.voluntary == 1);
	CHECK(folded.fold.cpus()[0].idle == 700);
	CHECK(folded.recorder.reported == std::vector<std::string>{"call 7 39 30 5", "blocked 7 300-1000 by -1"});
}

TEST_CASE("fold: a thread that is stopped sleeps in that, and no longer once it is woken")
{
	struct Calls : analyze::Observer {
		std::vector<std::uint32_t> of_sleeps;
		void blocked(const analyze::Thread &thread, std::uint64_t, std::uint64_t,
			     const analyze::Waker &) override
		{
			of_sleeps.push_back(thread.syscall);
		}
	};
	constexpr std::uint64_t stopped = 4, traced = 8;
	History history;
	history.lists(5, 8, stopped, EDC_NO_SYSCALL, 0);
	history.switches(0, 10, 0, running, 7);
	history.switches(0, 100, 7, stopped, 0);
	history.wakes(0, 200, 7);
	history.switches(0, 210, 0, running, 7);
	history.switches(0, 300, 7, traced, 0);
	history.wakes(0, 400, 7);
	history.switches(0, 410, 0, running, 7);
	history.posts(0, 420, EDC_ID_SYS_ENTER, 59);
	history.switches(0, 430, 7, traced, 0); // it is in execve
	history.wakes(0, 440, 7);
	history.switches(0, 450, 0, running, 7);
	history.posts(0, 460, EDC_ID_SYS_EXIT);
	history.switches(0, 500, 7, sleeping, 0);
	history.wakes(0, 600, 7);
	history.wakes(0, 700, 8);
	analyze::RecordingInfo info = make_info(0, 1000, true, false);
	trace::Trace trace = samples::trace(history.all(), timed_events);
	analyze::ThreadFold fold(trace, info);
	Calls calls;
	fold.add(calls);
	feed(trace, fold);
	CHECK(calls.of_sleeps == std::vector<std::uint32_t>{analyze::stopped_call, analyze::traced_call, 59,
							    EDC_NO_SYSCALL, analyze::stopped_call});
	for (const analyze::Thread &thread : fold.threads())
		CHECK(!analyze::is_stop(thread.syscall));
	CHECK(fold.kinds().syscall_label(analyze::stopped_call) == "stopped");
	CHECK(fold.kinds().syscall_label(analyze::traced_call) == "traced");
}

TEST_CASE("fold: a fault is kernel time if it completes, unattributed if nobody knows when it ended")
{
	History history;
	history.switches(0, 10, 0, running, 7);
	history.posts(0, 10, EDC_ID_SYS_EXIT);
	history.fault(0, 110);
	history.posts(0, 150, EDC_ID_MINOR_FAULT, 1); // completed: 40 in the kernel
	history.fault(0, 200);
	history.posts(0, 260, EDC_ID_SYS_ENTER, 1); // never completed: 60
	history.posts(0, 270, EDC_ID_SYS_EXIT);
	history.switches(0, 300, 7, dead, 0);
	Folded folded(history, 10, 300);
	const analyze::Usage &usage = folded.thread(7).usage;
	CHECK(usage[Mode::user] == 100 + 50 + 30);
	CHECK(usage[Mode::kernel] == 40 + 10);
	CHECK(usage[Mode::unattributed] == 60);
	CHECK(usage.minor_faults == 1);
}

TEST_CASE("fold: a preempted thread did not go to sleep")
{
	History history;
	history.switches(0, 0, 0, running, 7);
	history.switches(0, 100, 7, EDC_STATE_PREEMPTED, 9);
	history.switches(0, 200, 9, sleeping, 7);
	Folded folded(history, 0, 300);
	const analyze::Usage &usage = folded.thread(7).usage;
	CHECK(usage.involuntary == 1);
	CHECK(usage.voluntary == 0);
	CHECK(usage.waiting == 100);
	CHECK(usage.blocked == 0);
	CHECK(folded.recorder.waits == std::vector<std::string>{"7: 100-200"});
}

// The thread that stops the CPU runs last; the switch away from it has no token.
TEST_CASE("fold: a CPU is offline from its last token to its next one")
{
	const bool is_said = GENERATE(true, false);
	History history;
	std::uint64_t name[2] = {};
	std::memcpy(name, "migration/1", 11);
	history.cpu(0).post(500, EDC_ID_SCHED_WAKEUP_NEW, 1, {pair(15, 15), pair(2, 0), name[0], name[1]});
	history.switches(1, 600, 0, running, 15);
	history.switches(1, 700, 15, sleeping, 0);
	history.switches(1, 1000, 0, running, 15);
	if (is_said) {
		history.has_list = true;
		history.list.open(0);
		history.list.post(5000, EDC_ID_CPU_OFFLINE, 0, {1});
		history.posts(1, 8000, EDC_ID_IRQ_HANDLER_ENTRY, 5);
		history.posts(1, 8100, EDC_ID_IRQ_HANDLER_EXIT, 5);
	}
	history.switches(1, 9000, 0, running, 15);
	history.switches(1, 9400, 15, sleeping, 0);
	Folded folded(
	    history, 100, 10'000, true, false, false,
	    samples::event_block(EDC_ID_CPU_OFFLINE, "cpu_offline", "u16_t reserved; u32_t cpu; u32_t reserved1;"));
	const analyze::Cpu &cpu = folded.fold.cpus()[1];
	CHECK(cpu.offline == (is_said ? 7000 : 8000));
	CHECK(folded.thread(15).usage.cpu() == 100 + 400);
	CHECK(cpu.idle + cpu.usage.cpu() + cpu.offline == 9900);
	for (const std::string &reported : folded.recorder.reported) {
		INFO(reported);
		CHECK_FALSE(reported.starts_with("contradiction"));
	}
}

TEST_CASE("fold: a call does not end by the exit of another one")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_ENTER, 39);
	history.cpu(0).post(120, EDC_ID_SYS_EXIT_LONG, 72, {0}); // what came between is not in the trace
	history.posts(0, 130, EDC_ID_SYS_ENTER, 72);
	history.cpu(0).post(140, EDC_ID_SYS_EXIT_LONG, 72, {0});
	CHECK(Folded(history, 0, 200).recorder.reported == std::vector<std::string>{"call 7 72 10 0"});
}

TEST_CASE("fold: a call is its number and its ABI")
{
	constexpr unsigned compat = EDC_ABI_COMPAT << EDC_ABI_SHIFT, x32 = EDC_ABI_X32 << EDC_ABI_SHIFT;
	const std::pair<unsigned, std::string> calls[] = {{20, "writev"},
							  {compat | 20, "20 (compat)"},
							  {x32 | 20, "20 (x32)"},
							  {x32 | 516, "516 (x32)"},
							  {999, "999"},
							  {EDC_NO_SYSCALL, "no such call"},
							  {x32 | EDC_NO_SYSCALL, "no such call"},
							  {compat | EDC_NO_SYSCALL, "no such call"}};
	History history;
	history.switches(0, 10, 0, running, 7);
	history.posts(0, 20, EDC_ID_SYS_EXIT);
	std::uint64_t time = 100;
	for (const auto &[argument, name] : calls) {
		history.posts(0, time += 10, EDC_ID_SYS_ENTER, argument);
		history.cpu(0).post(time += 10, EDC_ID_SYS_EXIT_LONG, argument, {1u << 20});
	}
	history.posts(0, time += 10, EDC_ID_SYS_ENTER, compat | 20); // does not end by that of the other ABI
	history.cpu(0).post(time += 10, EDC_ID_SYS_EXIT_LONG, 20, {1u << 20});
	std::string labelled = events;
	labelled.replace(labelled.find("u12_t id;"), 9, "enum : u12_t { \"writev\" = 20 } id;");
	trace::Trace trace = samples::trace(history.all(), labelled);
	analyze::ThreadFold fold(trace, make_info(0, 1000, true, false));
	struct Names : analyze::Observer {
		const analyze::ThreadFold &fold;
		std::vector<std::string> reported;
		explicit Names(const analyze::ThreadFold &of) : fold(of) {}
		void system_call(const analyze::Thread &, std::uint32_t call, std::uint64_t, std::uint64_t,
				 std::int64_t) override
		{
			reported.push_back(fold.kinds().syscall_label(call));
		}
	} names(fold);
	fold.add(names);
	feed(trace, fold);
	std::vector<std::string> should;
	for (const auto &[argument, name] : calls)
		should.push_back(name);
	CHECK(names.reported == should);
}

TEST_CASE("fold: interrupts nest, and wake sleepers in their own name")
{
	History history;
	history.switches(0, 0, 0, running, 7);
	history.posts(0, 0, EDC_ID_SYS_EXIT);
	history.posts(0, 100, EDC_ID_SOFTIRQ_ENTRY, 1);     // softirq
	history.posts(0, 110, EDC_ID_IRQ_HANDLER_ENTRY, 5); // an interrupt in it
	history.wakes(0, 120, 9);
	history.posts(0, 130, EDC_ID_IRQ_HANDLER_EXIT, 5);
	history.posts(0, 140, EDC_ID_SOFTIRQ_EXIT, 1);
	history.switches(0, 200, 7, running, 9);
	history.switches(0, 300, 9, sleeping, 7);
	Folded folded(history, 0, 400);
	const analyze::Usage &usage = folded.thread(7).usage;
	CHECK(usage[Mode::user] == 100 + 60 + 100);
	CHECK(usage[Mode::softirq] == 10 + 10);
	CHECK(usage[Mode::irq] == 20);
	CHECK(usage.involuntary == 1);
	CHECK(usage.waiting == 100);
	CHECK(folded.thread(9).usage.waiting == 80);
}

TEST_CASE("fold: who woke whom, and a waking that overtakes the sleep")
{
	History history;
	history.switches(0, 0, 0, running, 7);
	history.switches(1, 0, 0, running, 9);
	history.posts(0, 10, EDC_ID_SYS_ENTER, 230);
	history.switches(0, 20, 7, sleeping, 0);
	history.wakes(1, 120, 7); // by 9 on the other CPU
	history.switches(0, 150, 0, running, 7);
	history.wakes(1, 199, 7); // 7 is just going to sleep
	history.switches(0, 200, 7, sleeping, 0);
	history.switches(0, 230, 0, running, 7);
	Folded folded(history, 0, 300);
	const analyze::Usage &usage = folded.thread(7).usage;
	CHECK(usage.blocked == 100);
	CHECK(usage.waiting == 30 + 30);
	CHECK(folded.recorder.reported == std::vector<std::string>{"blocked 7 20-120 by 9"});
	CHECK(folded.recorder.waits == std::vector<std::string>{"7: 120-150", "7: 200-230"});
}

TEST_CASE("fold: without softirqs their time and a thread as waker are unknown")
{
	History history;
	history.switches(0, 0, 0, running, 7);
	history.switches(1, 0, 0, running, 9);
	history.switches(0, 20, 7, sleeping, 0);
	history.wakes(1, 120, 7); // by 9, or by a softirq
	history.switches(0, 150, 0, running, 7);
	history.switches(0, 200, 7, sleeping, 0);
	history.posts(1, 210, EDC_ID_IRQ_HANDLER_ENTRY, 5);
	history.wakes(1, 215, 7);
	history.posts(1, 220, EDC_ID_IRQ_HANDLER_EXIT, 5);
	history.switches(0, 230, 0, running, 7);
	analyze::RecordingInfo info = make_info(0, 300, true, false);
	CHECK(info.unknown_text().empty());
	std::erase(info.programs, "softirq_entry");
	info.families = {"sched", "irq"};
	info.left_out = {"softirq_entry", "softirq_exit"};
	trace::Trace trace = samples::trace(history.all(), timed_events);
	analyze::ThreadFold fold(trace, info);
	Recorder recorder;
	fold.add(recorder);
	feed(trace, fold);
	CHECK(recorder.reported == std::vector<std::string>{"blocked 7 20-120 by -1", "blocked 7 200-215 by -1 irq"});
	const analyze::Recorded recorded = analyze::recorded(info);
	const analyze::Usage &usage = fold.cpus()[1].usage;
	CHECK(usage[Mode::irq] == 10);
	CHECK(recorded.knows(usage, Mode::irq));
	CHECK_FALSE(recorded.knows(usage, Mode::softirq));
	CHECK(info.unknown_text().starts_with("softirqs were left out"));
	CHECK(info.events_text() == "sched, irq, without softirq_entry, softirq_exit");
	CHECK(info.switches_text().empty());
	info.switch_flags = {"iowait", "throttled"};
	CHECK(info.switches_text() == "say throttled, iowait; unknown: memstall");
}

TEST_CASE("fold: after a loss everything is unknown, and the packet tells who runs")
{
	History history;
	samples::StreamWriter &cpu = history.cpu(0);
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 100, EDC_ID_SYS_EXIT);
	history.posts(0, 200, EDC_ID_SYS_ENTER, 1);
	cpu.open(500, 3).tid = 8; // three tokens were discarded between 200 and 500
	history.posts(0, 500, EDC_ID_SYS_EXIT);
	history.posts(0, 600, EDC_ID_SYS_ENTER, 2);
	history.switches(0, 700, 8, sleeping, 7);
	Folded folded(history, 100, 800);
	CHECK(folded.thread(7).usage[Mode::user] == 100);
	CHECK(folded.thread(8).usage[Mode::unknown] == 0);
	CHECK(folded.thread(8).usage[Mode::user] == 100);
	CHECK(folded.thread(8).usage[Mode::kernel] == 100);
	CHECK(folded.fold.cpus()[0].usage[Mode::unknown] == 300 + 100);
	CHECK(folded.thread(7).usage.blocked == 0);
	// No call and no sleep is carried across.
	CHECK(folded.recorder.reported == std::vector<std::string>{"blocked 8 700-800 by -1"});
}

// CPU 1 loses events between 150 and 600. Thread 8 runs there before, thread 7 on CPU 0.
History history_with_a_gap()
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_EXIT);
	history.switches(1, 150, 0, running, 8);
	history.cpu(1).open(600, 5).tid = 8;
	history.posts(1, 600, EDC_ID_SYS_EXIT);
	return history;
}

TEST_CASE("fold: a thread that is on no CPU may run unseen where events are lost")
{
	History history = history_with_a_gap();
	history.posts(0, 200, EDC_ID_SYS_ENTER, 202);
	history.switches(0, 210, 7, sleeping, 0); // its call ends on CPU 1, where it sleeps again
	history.wakes(0, 390, 7);
	history.switches(0, 400, 0, running, 7);
	history.posts(0, 410, EDC_ID_SYS_EXIT); // of another call
	history.posts(0, 420, EDC_ID_SYS_ENTER, 39);
	history.posts(0, 430, EDC_ID_SYS_EXIT, 5);
	history.switches(0, 500, 7, sleeping, 0);
	history.wakes(0, 700, 7);
	history.switches(0, 750, 0, running, 7); // all is seen again since it was woken
	Folded folded(history, 100, 800);
	CHECK(folded.recorder.reported == std::vector<std::string>{"call 7 39 10 5"});
	CHECK(folded.recorder.waits == std::vector<std::string>{"7: 700-750"});
	CHECK(folded.thread(7).usage.blocked == 0);
	CHECK(folded.thread(7).usage.waiting == 50);
	CHECK(folded.thread(7).usage[Mode::kernel] == 10 + 10);
	// What it is doing is not known from when it leaves its CPU.
	History asleep = history_with_a_gap();
	asleep.switches(0, 210, 7, sleeping, 0);
	Folded of_asleep(asleep, 100, 800);
	CHECK(!of_asleep.fold.is_known(of_asleep.thread(7)));
	CHECK(of_asleep.thread(7).usage.blocked == 0);
	// It may have been preempted, too, or be new.
	History ready = history_with_a_gap();
	ready.cpu(0).post(160, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(9, 9), pair(1, 120), 0x78, 0});
	ready.switches(0, 210, 7, running, 9);
	ready.switches(0, 300, 9, sleeping, 7);
	CHECK(Folded(ready, 100, 800).recorder.waits.empty());
}

TEST_CASE("fold: a thread that runs on a CPU without a loss is followed through that of another")
{
	History history = history_with_a_gap();
	history.posts(0, 140, EDC_ID_SYS_ENTER, 1); // before the loss
	history.posts(0, 700, EDC_ID_SYS_ENTER, 2);
	history.switches(0, 710, 7, dead, 0);
	CHECK(Folded(history, 100, 800).recorder.reported == std::vector<std::string>{"contradiction 2 700"});
	History within = history_with_a_gap();
	within.switches(0, 200, 7, sleeping, 9);
	within.posts(0, 210, EDC_ID_SYS_ENTER, 1);
	within.posts(0, 220, EDC_ID_SYS_ENTER, 2);
	within.switches(0, 230, 9, dead, 0);
	CHECK(Folded(within, 100, 800).recorder.reported == std::vector<std::string>{"contradiction 2 220"});
	History after = history_with_a_gap();
	after.switches(0, 600, 7, sleeping, 0); // the loss is over
	after.wakes(0, 650, 7);
	CHECK(Folded(after, 100, 800).recorder.reported == std::vector<std::string>{"blocked 7 600-650 by -1"});
}

TEST_CASE("fold: a phase without probes is over on all CPUs when one of them has a token")
{
	History history = history_with_a_gap();
	history.switches(0, 210, 7, sleeping, 0);
	history.wakes(0, 390, 7);
	analyze::RecordingInfo info = make_info(100, 800, true, false);
	info.calibration.emplace().phases.emplace().marks = 5;
	trace::Trace trace = samples::trace(history.all(), events);
	analyze::ThreadFold fold(trace, info);
	Recorder recorder;
	fold.add(recorder);
	feed(trace, fold);
	CHECK(recorder.reported == std::vector<std::string>{"blocked 7 210-390 by -1"});
}

TEST_CASE("fold: after the last token of a CPU of a killed recording threads may run there unseen")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_EXIT);
	history.switches(1, 150, 0, running, 8);
	history.posts(0, 200, EDC_ID_SYS_ENTER, 202);
	history.switches(0, 210, 7, sleeping, 0);
	history.switches(0, 400, 0, running, 7);
	history.posts(0, 410, EDC_ID_SYS_ENTER, 39);
	history.switches(0, 420, 7, sleeping, 0);
	history.wakes(0, 500, 7);
	CHECK(Folded(history, 100, 0, false).recorder.reported.empty());
}

TEST_CASE("fold: the first packet tells who runs before any switch does")
{
	History history;
	history.cpu(0).open(100).tid = 7;
	history.posts(0, 120, EDC_ID_SYS_EXIT);
	history.posts(0, 200, EDC_ID_SYS_ENTER, 39);
	Folded folded(history, 100, 300);
	CHECK(folded.thread(7).usage[Mode::unknown] == 20);
	CHECK(folded.thread(7).usage[Mode::user] == 80);
	CHECK(folded.thread(7).usage[Mode::kernel] == 100);
	CHECK(folded.fold.cpus()[0].usage[Mode::unknown] == 20);
}

TEST_CASE("fold: of a snapshot the first token of a thread says what it did from the start")
{
	History history;
	for (const std::int32_t tid : {7, 8, 9})
		history.lists(0, tid, sleeping, 0, EDC_THREAD_LATER);
	history.lists(0, 10, running, 0, EDC_THREAD_LATER);
	history.lists(0, 11, sleeping, 0, EDC_THREAD_LATER | EDC_THREAD_HIDDEN);
	history.wakes(0, 50, 9); // before its rings are complete
	history.wakes(0, 300, 7);
	history.switches(0, 400, 0, running, 7);
	history.switches(0, 500, 7, sleeping, 8);
	history.wakes(0, 600, 12);
	history.switches(0, 700, 8, running, 0);
	const Folded folded(history, 100, 1000, true, false, true);
	CHECK(folded.thread(7).usage.blocked == 200 + 500);
	CHECK(folded.thread(7).usage.waiting == 100);
	CHECK(folded.thread(8).usage.waiting == 400 + 300);
	CHECK(folded.thread(8).usage.blocked == 0);
	CHECK(folded.thread(9).usage.blocked == 900);
	CHECK(folded.thread(10).usage.waiting == 0);   // it may have been woken after the end
	CHECK(folded.thread(12).usage.blocked == 500); // it had ended when they were listed
	CHECK(folded.thread(11).usage.blocked == 0);   // what it did left no tokens
	History older;                                 // a list from before the snapshot says who ran then
	older.lists(10, 7, running, 0, EDC_THREAD_RUNNING);
	older.cpu(0).header().tid = 8;
	older.posts(0, 150, EDC_ID_SYS_ENTER, 1);
	older.switches(0, 200, 8, sleeping, 0);
	Folded of_snapshot(older, 100, 1000, true, false, true);
	for (const std::string &reported : of_snapshot.recorder.reported)
		CHECK(reported.find("contradiction") == std::string::npos);
	CHECK(of_snapshot.thread(7).usage.cpu() == 0);
	History lossy;
	lossy.lists(0, 7, sleeping, 0, EDC_THREAD_LATER);
	lossy.switches(0, 200, 0, running, 0);
	lossy.cpu(0).open(300, 5);
	lossy.wakes(0, 400, 7);
	CHECK(Folded(lossy, 100, 1000, true, false, true).thread(7).usage.blocked == 0); // its first token may be lost
}

TEST_CASE("fold: a thread that had ended before the recording, and was not yet waited for, is not blocked")
{
	constexpr std::uint32_t dead = 0x10, zombie = 0x20;
	for (const std::uint32_t state : {dead, zombie}) {
		History history;
		history.lists(5, 7, state, EDC_NO_SYSCALL, 0);
		history.lists(5, 8, sleeping, EDC_NO_SYSCALL, 0);
		const Folded folded(history, 0, 100);
		CHECK(folded.thread(7).state == analyze::State::dead);
		CHECK(folded.thread(7).usage.blocked == 0);
		CHECK(folded.thread(8).usage.blocked == 100);
		History snapshot;
		snapshot.lists(0, 7, state, 0, EDC_THREAD_LATER);
		snapshot.lists(0, 8, sleeping, 0, EDC_THREAD_LATER);
		const Folded later(snapshot, 100, 1000, true, false, true);
		CHECK(later.thread(7).usage.blocked == 0);
		CHECK(later.thread(8).usage.blocked == 900);
	}
}

TEST_CASE("fold: a killed recording ends with its last token")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.switches(0, 200, 7, sleeping, 0);
	history.switches(1, 100, 0, running, 8);
	history.switches(1, 900, 8, sleeping, 0);
	Folded folded(history, 100, 0, false);
	CHECK(folded.fold.cpus()[0].idle == 0);
	CHECK(folded.fold.cpus()[0].usage[Mode::unknown] == 100 + 700);
}

TEST_CASE("fold: what contradicts itself is told")
{
	History history;
	history.switches(0, 0, 0, running, 7);
	history.posts(0, 10, EDC_ID_SYS_EXIT);
	history.posts(0, 20, EDC_ID_SYS_EXIT); // an exit without an entry
	history.posts(0, 30, EDC_ID_SYS_ENTER, 1);
	history.posts(0, 40, EDC_ID_SYS_ENTER, 1); // an entry without an exit
	history.switches(1, 0, 0, running, 8);
	history.switches(1, 50, 8, sleeping, 7); // 7 runs on CPU 0
	history.switches(0, 60, 9, sleeping, 0); // 9 did not run there
	Folded folded(history, 0, 100);
	CHECK(folded.recorder.reported[0] == "contradiction 3 20");
	CHECK(folded.recorder.reported[1] == "contradiction 2 40");
	CHECK(folded.recorder.reported[2] == "contradiction 1 50");
	CHECK(folded.recorder.reported[3] == "contradiction 0 60");
}

TEST_CASE("fold: a thread created before states are followed waits for nothing that was not seen")
{
	History history;
	const auto creates = [&](std::uint64_t time, std::int32_t tid) {
		history.cpu(0).post(time, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(tid, tid), pair(1, 120), 0x78, 0});
	};
	creates(50, 7); // is gone before the start
	creates(60, 8); // sleeps at the start, as the list says
	creates(70, 9); // runs later
	history.switches(0, 80, 7, dead, 0);
	history.lists(110, 8, sleeping, EDC_NO_SYSCALL, 0);
	history.switches(0, 150, 0, running, 9);
	history.switches(0, 200, 9, sleeping, 0);
	creates(250, 10);
	history.switches(0, 300, 0, running, 10);
	Folded folded(history, 100, 1000);
	for (const std::int32_t tid : {7, 8, 9})
		CHECK(folded.thread(tid).usage.waiting == 0);
	CHECK(folded.thread(7).usage.blocked == 0);
	CHECK(folded.thread(8).usage.blocked == 900);
	CHECK(folded.thread(9).usage.blocked == 800);
	CHECK(folded.thread(10).usage.waiting == 50);
}

TEST_CASE("fold: a number is used again by another thread, and exec by a thread takes the leader's")
{
	History history;
	samples::StreamWriter &cpu = history.cpu(0);
	const std::uint64_t name = 0x61; // "a"
	cpu.post(10, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(7, 7), pair(1, 120), name, 0});
	history.switches(0, 20, 0, running, 7);
	history.switches(0, 50, 7, dead, 0);
	cpu.post(60, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(7, 7), pair(1, 120), name + 1, 0});
	history.switches(0, 70, 0, running, 7);
	cpu.post(75, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(8, 7), pair(7, 120), name, 0});
	history.switches(0, 80, 7, running, 8);
	cpu.post(90, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), name + 2, 0}); // thread 8 execs and becomes 7
	history.switches(0, 100, 7, dead, 0);
	Folded folded(history, 0, 100);
	REQUIRE(folded.fold.threads().size() >= 4);
	CHECK(folded.fold.threads()[0].usage.cpu() + folded.fold.threads()[1].usage.cpu() > 0);
	std::uint64_t of_c = 0;
	for (const analyze::Thread &thread : folded.fold.threads())
		if (thread.name == "c")
			of_c = thread.usage.cpu();
	CHECK(of_c == 20);
	CHECK(folded.recorder.reported.empty());
}

// Thread 8 of process 7 executes a program while thread 7 runs on the other CPU. `order`: which token shows first that
// the two have exchanged their numbers.
TEST_CASE("fold: a thread takes over its leader's number before a token says so")
{
	const int order = GENERATE(0, 1, 2);
	History history;
	samples::StreamWriter &cpu = history.cpu(0);
	for (std::int32_t tid : {7, 8})
		cpu.post(10, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(tid, 7), pair(1, 120), 0x61, 0});
	history.switches(0, 20, 0, running, 8);
	history.switches(1, 20, 0, running, 7);
	history.posts(0, 30, EDC_ID_SYS_ENTER, 59);
	history.posts(1, 30, EDC_ID_SYS_EXIT, 0); // in user mode
	if (order == 0) {                         // thread 8 is preempted
		history.switches(0, 40, 7, running, 0);
		history.wakes(1, 44, 7);
		history.switches(0, 45, 0, running, 7);
	}
	if (order < 2)
		history.switches(1, 50, 8, dead, 0); // the old leader
	cpu.post(60, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), 0x63, 0});
	if (order == 2)
		history.switches(1, 65, 8, dead, 0);
	history.posts(0, 70, EDC_ID_SYS_EXIT, 0);
	history.switches(0, 80, 7, sleeping, 0);
	Folded folded(history, 0, 100);
	const std::vector<std::string> reported = {"call 7 59 40 0", "blocked 7 80-100 by -1"};
	CHECK(folded.recorder.reported == reported);
	CHECK(folded.thread(7).state == analyze::State::blocked);
	CHECK(folded.thread(8).state == analyze::State::dead);
	CHECK(folded.thread(7).usage.voluntary + folded.thread(8).usage.voluntary == 2);
}

// The old leader is still about to end, on CPU 1 or waiting for it.
TEST_CASE("fold: what threads did before they exchanged their numbers is of the number that they had")
{
	const bool waits = GENERATE(false, true);
	History history;
	for (std::int32_t tid : {7, 8})
		history.cpu(0).post(10, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(tid, 7), pair(1, 120), 0x61, 0});
	history.switches(0, 20, 0, running, 8);
	history.switches(1, 20, 0, running, 7);
	if (waits)
		history.switches(1, 30, 7, EDC_STATE_PREEMPTED, 0);
	history.switches(0, 40, 7, EDC_STATE_PREEMPTED, 0); // 8 has become 7
	if (waits)
		history.switches(1, 46, 0, running, 8);
	history.switches(1, 50, 8, dead, 0);
	Folded folded(history, 0, 100);
	const analyze::Usage &of_7 = folded.thread(7).usage, &of_8 = folded.thread(8).usage;
	CHECK(of_7.cpu() == (waits ? 10 : 20));
	CHECK(of_7.waiting == 10 + (waits ? 10 : 0) + 60);
	CHECK(of_8.cpu() == 20 + (waits ? 4 : 10));
	CHECK(of_8.waiting == 10 + (waits ? 6 : 0));
}

TEST_CASE("fold: of a thread that -p left out only the switches are known, wherever it was at the start")
{
	History history;
	history.switches(0, 20, 0, running, 7);
	history.switches(0, 60, 7, sleeping, 0);
	history.cpu(0).post(65, EDC_ID_SCHED_WAKEUP_NEW, 0,
			    {pair(8, 8), pair(7, 120), 0x61, 0}); // and its child, from its creation on
	history.switches(0, 70, 0, running, 8);
	history.switches(0, 80, 8, sleeping, 0);
	history.lists(5, 7, sleeping, 35, EDC_THREAD_FILTERED);
	Folded folded(history, 0, 100, true, true);
	CHECK(folded.thread(7).usage[Mode::unattributed] == 40);
	CHECK(folded.thread(7).usage.cpu() == 40);
	CHECK(folded.thread(8).usage[Mode::unattributed] == 10);
	CHECK(folded.thread(8).usage.cpu() == 10);
}

TEST_CASE("fold: a thread that -p left out takes another number only if an exec says so")
{
	const auto contradictions = [](std::int32_t pid, std::int32_t old_pid) {
		History history;
		history.switches(0, 20, 0, running, 8);
		history.switches(0, 40, 7, running, 0); // 8 has become 7
		history.switches(0, 50, 0, running, 7);
		history.cpu(0).post(60, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(pid, old_pid), 0x63, 0});
		history.switches(0, 80, 7, sleeping, 0);
		history.switches(0, 2'000'000'000, 0, running, 7);
		Folded folded(history, 0, 2'000'000'100, true, true);
		CHECK(folded.thread(7).usage.cpu() == 30 + 100); // before 40 it was 8
		return std::ranges::count(folded.recorder.reported, "contradiction 0 40");
	};
	CHECK(contradictions(7, 8) == 0);
	CHECK(contradictions(7, 9) == 1);
}

TEST_CASE("fold: a process that -p left out and that has shown itself by an exec may call it in another thread again")
{
	const auto contradictions = [](std::int32_t old_pid) {
		History history;
		history.switches(0, 20, 0, running, 7);
		history.cpu(0).post(30, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 7), 0x63, 0});
		history.switches(0, 40, 7, sleeping, 9);
		history.switches(0, 60, 7, running, 0); // 9 has become 7
		history.switches(0, 70, 0, running, 7);
		history.cpu(0).post(80, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, old_pid), 0x63, 0});
		history.switches(0, 90, 7, sleeping, 0);
		history.switches(0, 2'000'000'000, 0, running, 7);
		Folded folded(history, 0, 2'000'000'100, true, true);
		return std::ranges::count(folded.recorder.reported, "contradiction 0 60");
	};
	CHECK(contradictions(9) == 0);
	CHECK(contradictions(8) == 1);
}

TEST_CASE("fold: what runs where a hidden thread was switched in is unknown until a token tells")
{
	History history;
	history.lists(5, 9, sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
	history.lists(6, 7, sleeping, 35, 0);
	history.switches(0, 20, 0, running, 9);
	history.posts(0, 40, EDC_ID_IRQ_HANDLER_ENTRY, 3); // of the interrupt it is known that it is none of its time
	history.posts(0, 45, EDC_ID_IRQ_HANDLER_EXIT, 3);
	history.posts(0, 60, EDC_ID_SYS_EXIT, 0); // thread 7 took the CPU from it at some time
	history.switches(0, 80, 7, sleeping, 0);
	Folded folded(history, 0, 100);
	CHECK(folded.thread(9).usage.cpu() == 0);
	CHECK(folded.thread(9).has_run);
	CHECK(folded.fold.cpus()[0].usage[Mode::unknown] == 55);
	CHECK(folded.fold.cpus()[0].usage[Mode::irq] == 5);
	CHECK(folded.recorder.reported == std::vector<std::string>{"blocked 7 80-100 by -1"});
}

TEST_CASE("fold: a call after a hidden thread says who runs, and all that it did is known")
{
	const auto fold = [](bool by_packet) {
		History history;
		history.lists(5, 9, sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
		history.lists(6, 7, running, EDC_NO_SYSCALL, 0);
		history.switches(0, 20, 0, running, 7);
		history.posts(0, 22, EDC_ID_SYS_EXIT);
		history.posts(0, 30, EDC_ID_SYS_ENTER, 17);
		history.switches(0, 40, 7, sleeping, 9);
		history.wakes(0, 55, 7);
		if (by_packet)
			history.cpu(0).open(60).tid = 7;
		history.cpu(0).post(60, EDC_ID_THREAD_RUNS, 0, {pair(7, 7)}); // the switch away from 9 is hidden
		history.posts(0, 60, EDC_ID_SYS_EXIT, 5);
		history.posts(0, 70, EDC_ID_SYS_ENTER, 18);
		history.posts(0, 75, EDC_ID_SYS_EXIT, 6);
		history.switches(0, 80, 7, sleeping, 0);
		return Folded(
		    history, 0, 100, true, false, false,
		    samples::event_block(EDC_ID_THREAD_RUNS, "thread_runs", "u16_t reserved; s32_t pid; s32_t tgid;"));
	};
	for (const bool by_packet : {false, true}) {
		const Folded folded = fold(by_packet);
		CAPTURE(by_packet);
		CHECK(folded.recorder.reported == std::vector<std::string>{"blocked 7 40-55 by 9", "call 7 17 30 5",
									   "call 7 18 5 6", "blocked 7 80-100 by -1"});
		CHECK(folded.recorder.waits == std::vector<std::string>{"7: 0-20", "7: 55-60"});
		CHECK(folded.thread(7).usage.cpu() == 20 + 20);
		CHECK(folded.fold.calls_of_unknown().empty());
	}
}

TEST_CASE("fold: a thread that executes and takes another number behind a hidden thread is in its call")
{
	History history;
	history.lists(5, 9, sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
	history.lists(6, 7, sleeping, 35, 0);
	history.cpu(0).post(10, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(8, 7), pair(7, 120), 0x61, 0});
	history.switches(0, 20, 0, running, 8);
	history.posts(0, 22, EDC_ID_SYS_EXIT);
	history.posts(0, 30, EDC_ID_SYS_ENTER, 59);
	history.switches(0, 40, 8, sleeping, 9);                      // until its first thread is dead
	history.cpu(0).post(60, EDC_ID_THREAD_RUNS, 0, {pair(7, 7)}); // the switch away from 9 is hidden
	history.cpu(0).post(70, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), 0x63, 0});
	history.posts(0, 75, EDC_ID_SYS_EXIT);
	history.posts(0, 80, EDC_ID_SYS_ENTER, 18);
	history.posts(0, 85, EDC_ID_SYS_EXIT, 6);
	history.switches(0, 90, 7, sleeping, 0);
	const Folded folded(
	    history, 0, 100, true, false, false,
	    samples::event_block(EDC_ID_THREAD_RUNS, "thread_runs", "u16_t reserved; s32_t pid; s32_t tgid;"));
	for (const std::string &reported : folded.recorder.reported)
		CHECK_FALSE(reported.starts_with("contradiction"));
	CHECK(std::ranges::count(folded.recorder.reported, "call 7 59 45 0") == 1); // begun by thread 8
	CHECK(folded.thread(7).usage.cpu() == 30);
	CHECK(folded.thread(8).usage.cpu() == 20);
}

// No token has named the process of thread 8: it was created before the probes were attached, and is gone when the
// threads are listed.
TEST_CASE("fold: an exec of a thread of an unknown process may show first in a call or in a switch")
{
	const bool by_switch = GENERATE(false, true);
	const std::int32_t old_pid = GENERATE(8, 9);
	History history;
	history.switches(0, 20, 0, running, 8);
	history.posts(0, 22, EDC_ID_SYS_EXIT);
	history.posts(0, 30, EDC_ID_SYS_ENTER, 59);
	if (by_switch) { // 8 has become 7
		history.switches(0, 40, 7, running, 0);
		history.switches(0, 50, 0, running, 7);
	} else {
		history.cpu(0).post(40, EDC_ID_THREAD_RUNS, 0, {pair(7, 7)});
	}
	history.cpu(0).post(60, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, old_pid), 0x63, 0});
	history.posts(0, 70, EDC_ID_SYS_EXIT);
	history.switches(0, 80, 7, sleeping, 0);
	history.switches(0, 2'000'000'000, 0, running, 7);
	const Folded folded(
	    history, 0, 2'000'000'100, true, false, false,
	    samples::event_block(EDC_ID_THREAD_RUNS, "thread_runs", "u16_t reserved; s32_t pid; s32_t tgid;"));
	const bool is_true = old_pid == 8;
	CHECK(std::ranges::count(folded.recorder.reported, "contradiction 0 40") == !is_true);
	CHECK(std::ranges::count(folded.recorder.reported, "call 7 59 40 0") == is_true);
	CHECK(folded.thread(8).usage.cpu() == 20);
	CHECK(folded.thread(7).usage.cpu() == (by_switch ? 30 : 40) + 100);
}

// As above, where --filter left out calls and faults.
TEST_CASE("fold: an exec of a thread of an unknown process may show first in a switch, without its call")
{
	const std::int32_t old_pid = GENERATE(8, 9);
	History history;
	history.switches(0, 20, 0, running, 8);
	history.switches(0, 40, 7, running, 0); // 8 has become 7
	history.switches(0, 50, 0, running, 7);
	history.cpu(0).post(60, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, old_pid), 0x63, 0});
	history.switches(0, 80, 7, sleeping, 0);
	history.switches(0, 2'000'000'000, 0, running, 7);
	analyze::RecordingInfo info = make_info(0, 2'000'000'100, true, false);
	info.programs.push_back("sched_process_exec");
	info.partial = {"sys_enter", "sys_exit"};
	trace::Trace trace = samples::trace(history.all(), timed_events);
	analyze::ThreadFold fold(trace, info);
	Recorder recorder;
	fold.add(recorder);
	feed(trace, fold);
	CHECK(std::ranges::count(recorder.reported, "contradiction 0 40") == (old_pid != 8));
}

TEST_CASE("fold: of a CPU whose file is missing nothing is known, whatever ran there at the start")
{
	History history;
	history.lists(5, 7, running, EDC_NO_SYSCALL, EDC_THREAD_RUNNING); // on CPU 0
	history.switches(1, 20, 0, running, 8);
	history.switches(1, 100, 8, sleeping, 0);
	auto &writers = history.all();
	std::vector<std::unique_ptr<trace::Stream>> streams;
	for (std::size_t i = 1; i < writers.size(); ++i)
		streams.push_back(samples::stream("s" + std::to_string(i), writers[i].bytes()));
	streams.push_back(std::make_unique<trace::Stream>("kernel_cpu0", std::span<const std::byte>(), samples::uuid));
	streams.back()->set_recorded(2);
	trace::Trace trace(samples::description(timed_events), std::move(streams));
	REQUIRE(trace.problems().total() == 1);
	CHECK(trace.problems().kept()[0].text() ==
	      "kernel_cpu0, packet 0 at byte 0: 2 packets that were recorded are missing: the file is not here");
	analyze::ThreadFold fold(trace, make_info(0, 100, true, false));
	feed(trace, fold);
	CHECK(fold.cpus()[0].usage[Mode::unknown] == 100);
	CHECK(fold.cpus()[1].usage[Mode::unknown] < 100);
	CHECK(fold.gaps() == 1);
	REQUIRE(fold.thread(7));
	CHECK(fold.thread(7)->usage.cpu() == 0);
}

TEST_CASE("fold: another thread than the last switch said is a contradiction, unless that one is hidden")
{
	History history;
	history.lists(5, 7, sleeping, EDC_NO_SYSCALL, 0);
	history.lists(6, 8, sleeping, EDC_NO_SYSCALL, 0);
	history.switches(0, 20, 0, running, 7);
	history.cpu(0).post(60, EDC_ID_THREAD_RUNS, 0, {pair(8, 8)});
	Folded folded(
	    history, 0, 100, true, false, false,
	    samples::event_block(EDC_ID_THREAD_RUNS, "thread_runs", "u16_t reserved; s32_t pid; s32_t tgid;"));
	CHECK(folded.recorder.reported.front() == "contradiction 0 60");
	CHECK(folded.thread(8).usage.cpu() == 40);
}

TEST_CASE("fold: a refused call has an exit with its number, and no entry")
{
	constexpr unsigned refused = static_cast<std::uint16_t>(-1);
	History history;
	history.switches(0, 10, 0, running, 7);
	history.cpu(0).post(20, EDC_ID_SYS_EXIT_LONG, 110, {~0ull}); // of one that had begun before, or not: not known
	history.cpu(0).post(30, EDC_ID_SYS_EXIT_LONG, 110, {~0ull});
	history.posts(0, 40, EDC_ID_SYS_ENTER, 39);
	history.cpu(0).post(50, EDC_ID_SYS_EXIT_LONG, 39, {7}); // its entry may not have been seen on that CPU
	history.posts(0, 60, EDC_ID_SYS_EXIT, refused);         // in recordings whose refused calls have no number
	history.cpu(0).post(70, EDC_ID_SYS_EXIT_LONG, 9, {1u << 20}); // too large for a short exit: nobody refused it
	history.switches(0, 80, 7, dead, 0);
	Folded folded(history, 0, 100);
	CHECK(folded.recorder.reported ==
	      std::vector<std::string>{"refused 7 110 30 -1", "call 7 39 10 7", "contradiction 3 70"});
	CHECK(folded.thread(7).usage.syscalls == 2);
}

TEST_CASE("fold: a packet that a dead thread's counts open does not say who runs")
{
	History history;
	history.lists(5, 9, sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
	history.lists(6, 7, running, EDC_NO_SYSCALL, 0);
	history.lists(7, 8, sleeping, EDC_NO_SYSCALL, 0);
	history.switches(0, 20, 0, running, 7);
	history.switches(0, 40, 7, dead, 9);
	history.cpu(0).open(41).tid = 7; // within the switch
	history.cpu(0).post(41, EDC_ID_EXIT_COUNTS, 2, {pair(7, 7), 1, 0, 20, 0, 0});
	history.posts(0, 60, EDC_ID_SYS_EXIT, 0);
	history.switches(0, 80, 8, sleeping, 0);
	Folded folded(history, 0, 100);
	CHECK(folded.thread(7).usage.cpu() == 20);
	for (const std::string &reported : folded.recorder.reported)
		CHECK_FALSE(reported.starts_with("contradiction"));
}

TEST_CASE("fold: a packet that a switch's stack opens does not say who runs")
{
	for (const std::uint64_t opened : {40, 41}) {
		History history;
		history.lists(5, 9, sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
		history.lists(6, 7, running, EDC_NO_SYSCALL, 0);
		history.lists(7, 8, sleeping, EDC_NO_SYSCALL, 0);
		history.switches(0, 20, 0, running, 7);
		history.switches(0, 40, 7, sleeping, 9);
		history.cpu(0).open(opened).tid = 7; // at 40 within the switch; at 41 thread 7 took the CPU from 9
		history.cpu(0).post(opened, EDC_ID_IRQ_HANDLER_ENTRY, 3);
		history.posts(0, 45, EDC_ID_IRQ_HANDLER_EXIT, 3);
		history.posts(0, 60, EDC_ID_SYS_EXIT, 0);
		history.switches(0, 80, 8, sleeping, 0);
		Folded folded(history, 0, 100);
		const bool is_reported = std::ranges::any_of(folded.recorder.reported, [](const std::string &reported) {
			return reported.starts_with("contradiction");
		});
		CAPTURE(opened);
		CHECK(is_reported == (opened == 41));
	}
}

TEST_CASE("fold: where the kernel hides threads, one that is neither listed nor seen being created is hidden")
{
	const auto fold = [](std::uint32_t flags) {
		History history;
		history.lists(5, 9, sleeping, EDC_NO_SYSCALL, flags);
		history.lists(6, 7, sleeping, 35, 0);
		history.switches(0, 20, 0, running, 99);
		history.switches(0, 80, 7, sleeping, 0);
		history.switches(0, 85, 0, running, 7);
		history.switches(0, 90, 7, sleeping, 0);
		return Folded(history, 0, 100);
	};
	const Folded hidden = fold(EDC_THREAD_HIDDEN), open = fold(0);
	CHECK(hidden.thread(99).hidden);
	CHECK_FALSE(hidden.thread(7).hidden);
	CHECK(hidden.fold.cpus()[0].usage[Mode::unknown] == 60);
	CHECK_FALSE(open.thread(99).hidden);
	CHECK(open.recorder.reported.front() == "contradiction 0 80");
}

TEST_CASE("fold: a sleep that a hidden thread ends lasts until the sleeper is switched in")
{
	const auto fold = [](std::uint32_t flags) {
		History history;
		history.lists(0, 7, sleeping, 1, 0);
		history.lists(0, 99, sleeping, 1, flags);
		history.switches(0, 200, 0, running, 7);
		history.switches(0, 300, 7, sleeping, 99);
		history.switches(0, 450, 7, sleeping, 0); // it followed the hidden one unseen
		return Folded(history, 100, 500);
	};
	const Folded hidden = fold(EDC_THREAD_HIDDEN), open = fold(0);
	CHECK(hidden.thread(7).usage.blocked == 100 + 50);
	CHECK(hidden.thread(7).usage.waiting == 0);
	CHECK(hidden.recorder.reported[0] == "blocked 7 100-200 by -1");
	CHECK(hidden.recorder.waits.empty());
	CHECK(hidden.thread(99).usage.blocked == 0);
	CHECK(open.thread(7).usage.blocked == 50); // its wake-up is missing for another reason
}

TEST_CASE("fold: a sleep that a hidden thread ends is one, although a call before it was woken while still running")
{
	History history;
	history.lists(0, 7, sleeping, 1, 0);
	history.lists(0, 99, sleeping, 1, EDC_THREAD_HIDDEN);
	history.switches(0, 200, 0, running, 7);
	history.wakes(1, 220, 7);
	history.posts(0, 250, EDC_ID_SYS_ENTER, 1);
	history.switches(0, 300, 7, sleeping, 0);
	history.switches(0, 450, 0, running, 7);
	const Folded folded(history, 100, 500);
	CHECK(folded.thread(7).usage.blocked == 100 + 150);
	CHECK(folded.thread(7).usage.waiting == 0);
}

TEST_CASE("fold: a ready thread that comes and leaves behind a hidden one waited until that one came")
{
	const auto fold = [](std::uint32_t flags) {
		History history;
		history.lists(0, 7, sleeping, 1, 0);
		history.lists(0, 99, sleeping, 1, flags);
		history.switches(0, 200, 0, running, 7);
		history.switches(0, 300, 7, running, 0);
		history.switches(0, 420, 0, running, 99);
		history.switches(0, 450, 7, sleeping, 0); // it followed the hidden one unseen
		return Folded(history, 100, 500);
	};
	const Folded hidden = fold(EDC_THREAD_HIDDEN), open = fold(0);
	CHECK(hidden.thread(7).usage.waiting == 120);
	CHECK(hidden.recorder.waits.empty());     // when it got the CPU is unknown
	CHECK(open.thread(7).usage.waiting == 0); // a contradiction
}

TEST_CASE("fold: a whole process, or one thread of it, moves to another cgroup")
{
	History history;
	samples::StreamWriter &cpu = history.cpu(0);
	for (std::int32_t tid : {7, 8, 9})
		cpu.post(10, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(tid, 7), pair(1, 120), 0x61, 0});
	history.moves(0, 20, 9, 100);           // thread 9 alone
	history.moves(0, 30, 7, 200, true);     // all of process 7
	history.moves(0, 40, 8, 300);           // thread 8 alone
	history.moves(0, 50, 8, 400, false, 3); // in a hierarchy of cgroup 1
	Folded folded(history, 0, 100);
	CHECK(folded.fold.cgroup_of(folded.thread(7)) == 200);
	CHECK(folded.fold.cgroup_of(folded.thread(8)) == 300);
	CHECK(folded.fold.cgroup_of(folded.thread(9)) == 200);
}

namespace {

// What a thread used in each cgroup that it was in, in ticks: "CGROUP: on a CPU, waiting, asleep".
std::string by_cgroup(const Folded &folded, std::int32_t tid)
{
	std::string text;
	folded.fold.visit_cgroups(folded.thread(tid), [&](std::uint64_t cgroup, const analyze::Usage &usage) {
		text += fmt::format("{}{}: {}, {}, {}", text.empty() ? "" : "; ", cgroup, usage.cpu(), usage.waiting,
				    usage.blocked);
	});
	return text;
}

} // namespace

TEST_CASE("fold: what a thread uses is of the cgroup that it is in then")
{
	History history;
	history.cpu(0).post(10, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(7, 7), pair(1, 120), 0x61, 0});
	history.moves(0, 10, 7, 100); // where it is born
	history.switches(0, 15, 0, running, 7);
	history.moves(1, 25, 7, 200); // by another thread, while it runs
	history.switches(0, 45, 7, sleeping, 0);
	history.moves(1, 50, 7, 300); // while it sleeps
	history.wakes(1, 70, 7);
	history.moves(1, 73, 7, 100); // while it waits
	history.switches(0, 75, 0, running, 7);
	history.switches(0, 80, 7, dead, 0);
	Folded folded(history, 0, 100);
	CHECK(by_cgroup(folded, 7) == "100: 10, 5, 0; 200: 20, 0, 5; 300: 0, 3, 20; 100: 5, 2, 0");
	const analyze::Usage &usage = folded.thread(7).usage;
	CHECK(usage.cpu() == 35);
	CHECK(usage.waiting == 10);
	CHECK(usage.blocked == 25);
	CHECK(folded.recorder.reported == std::vector<std::string>{"blocked 7 45-70 by -1"});
	CHECK(folded.recorder.waits == std::vector<std::string>{"7: 10-15", "7: 70-75"});
}

TEST_CASE("fold: a tick in the kernel says that a thread without tokens has been there")
{
	History history;
	history.switches(0, 10, 0, running, 7);
	ticks(history, 20, false);
	history.switches(0, 40, 7, EDC_STATE_PREEMPTED, 8); // still in it
	ticks(history, 45, true);
	history.switches(0, 50, 8, EDC_STATE_PREEMPTED, 7);
	SECTION("a call returns")
	{
		history.posts(0, 60, EDC_ID_SYS_EXIT, 0);
	}
	SECTION("a fault completes")
	{
		history.posts(0, 55, EDC_ID_MINOR_FAULT, 0); // one of the kernel's
		history.posts(0, 60, EDC_ID_MINOR_FAULT, 1);
	}
	SECTION("it was something that no token brackets")
	{
		ticks(history, 60, true);
	}
	history.switches(0, 75, 7, EDC_STATE_PREEMPTED, 0);
	Folded folded(history, 0, 100);
	CHECK(folded.thread(7).usage[Mode::unknown] == 0);
	CHECK(folded.thread(7).usage[Mode::kernel] == 30 + 10);
	CHECK(folded.thread(7).usage[Mode::user] == 15);
	CHECK(folded.thread(8).usage[Mode::unknown] == 5);
	CHECK(folded.thread(8).usage[Mode::user] == 5);
	CHECK(folded.fold.cpus()[0].usage[Mode::kernel] == 40);
}

TEST_CASE("fold: a tick in the kernel says nothing of the thread that had this number before")
{
	History history;
	history.lists(5, 7, sleeping, 35, 0);
	history.list.post(6, EDC_ID_THREAD_STATE, sleeping, {pair(8, 7), pair(1, 0), EDC_NO_SYSCALL});
	history.switches(0, 10, 0, running, 8);
	history.cpu(0).post(40, EDC_ID_THREAD_RUNS, 0, {pair(7, 7)}); // 8 has become 7
	ticks(history, 50, false);
	history.switches(0, 60, 7, sleeping, 0);
	Folded folded(
	    history, 0, 100, true, false, false,
	    samples::event_block(EDC_ID_THREAD_RUNS, "thread_runs", "u16_t reserved; s32_t pid; s32_t tgid;"));
	CHECK(folded.thread(8).usage[Mode::unknown] == 30);
	CHECK(folded.thread(7).usage[Mode::unknown] == 0);
	CHECK(folded.thread(7).usage[Mode::kernel] == 20);
	CHECK(folded.fold.cpus()[0].usage[Mode::unknown] == 30);
	CHECK(folded.fold.cpus()[0].usage[Mode::kernel] == 20);
}

TEST_CASE("fold: a tick in user mode says that a fault without a completion is over")
{
	History history;
	history.switches(0, 10, 0, running, 7);
	history.posts(0, 20, EDC_ID_SYS_EXIT, 0);
	history.fault(0, 30);
	ticks(history, 35, false); // the kernel looks at it
	ticks(history, 40, true);  // its handler runs
	ticks(history, 50, true);
	history.posts(0, 60, EDC_ID_SYS_ENTER, 15);
	history.posts(0, 65, EDC_ID_SYS_EXIT, 0);
	history.switches(0, 75, 7, sleeping, 0);
	const analyze::Usage usage = Folded(history, 0, 100).thread(7).usage;
	CHECK(usage[Mode::unattributed] == 10);
	CHECK(usage[Mode::user] == 10 + 20 + 10);
	CHECK(usage[Mode::kernel] == 5);
}

TEST_CASE("fold: a tick in the kernel says nothing within an interrupt, or where calls are not all recorded")
{
	History history;
	history.switches(0, 10, 0, running, 7);
	history.posts(0, 15, EDC_ID_SOFTIRQ_ENTRY, 1);
	ticks(history, 20, false);
	history.posts(0, 25, EDC_ID_SOFTIRQ_EXIT, 1);
	history.switches(0, 40, 7, sleeping, 0);
	CHECK(Folded(history, 0, 100).thread(7).usage[Mode::unknown] == 20);
	History filtered;
	filtered.switches(0, 10, 0, running, 7);
	ticks(filtered, 20, false);
	filtered.switches(0, 40, 7, sleeping, 0);
	CHECK(Folded(filtered, 0, 100).thread(7).usage[Mode::kernel] == 30);
	CHECK(Folded(filtered, 0, 100, true, true).thread(7).usage[Mode::kernel] == 0);
}

TEST_CASE("fold: whatever the tokens say, a CPU's times are its window")
{
	std::mt19937 random(4711);
	for (int round = 0; round < 300; ++round) {
		std::uint64_t time = 0;
		History history = random_history(random, time);
		const std::uint64_t end = time + 10;
		Folded folded(history, 5, end, round % 3 != 0);
		for (const analyze::Cpu &cpu : folded.fold.cpus()) {
			CHECK(cpu.usage.cpu() + cpu.idle ==
			      folded.fold.window_end() - std::min<std::uint64_t>(5, folded.fold.window_end()));
		}
	}
}

TEST_CASE("fold: an interrupt with a number has the name that the kernel gives its handler")
{
	const trace::Description none;
	const analyze::EventKinds kinds(none, {}, {{"36", "virtio1-req.0"}});
	CHECK(kinds.interrupt_label(0, 36) == "irq:36 (virtio1-req.0)");
	CHECK(kinds.interrupt_label(0, 3) == "irq:3");
	CHECK(kinds.interrupt_label(2, 36) == "irq:local_timer");
}

TEST_CASE("fold: a numbered interrupt is a timer's or a device's by its name, or a device's where timers have others")
{
	using enum analyze::InterruptSource;
	constexpr std::uint32_t irq_handler = 0, local_timer = 2, reschedule = 3;
	const std::map<std::string, analyze::InterruptSource> sources = {{"arch_timer", timer},
									 {"riscv-timer", timer},
									 {"timer", timer},
									 {"timer7", timer},
									 {"hpet2", timer},
									 {"Hyper-V stimer0", timer},
									 {"arch_timer, timer", timer},
									 {"eth0", device},
									 {"eth0, eth1", device},
									 {"arch_timer, eth0", unknown}};
	const trace::Description none;
	for (const auto &[name, source] : sources) {
		INFO(name);
		const analyze::EventKinds kinds(none, {}, {{"11", name}});
		CHECK(kinds.interrupt_source(irq_handler, 11) == source);
		CHECK(kinds.interrupt_source(irq_handler, 12) == unknown);
	}
	CHECK(analyze::EventKinds(none, {}, {{"11", "arch_timer"}}).has_cpu_timers());
	CHECK(!analyze::EventKinds(none, {}, {{"0", "timer"}}).has_cpu_timers());
	History history;
	history.switches(0, 10, 0, running, 7);
	const trace::Trace trace = samples::trace(history.all(), timed_events);
	for (const bool attached : {false, true}) {
		const analyze::EventKinds kinds(trace.description(), {}, {}, {}, attached);
		CHECK(kinds.has_local_timer() == attached);
		CHECK(kinds.interrupt_source(irq_handler, 12) == (attached ? device : unknown));
		CHECK(kinds.interrupt_source(local_timer, 0) == timer);
		CHECK(kinds.interrupt_source(reschedule, 0) == unknown);
	}
}

TEST_CASE("fold: in another tracer's trace a thread is a waker only if the timer's interrupts are known")
{
	std::string named = events;
	const std::string_view irq = "u16_t irq;";
	named.replace(named.find(irq), irq.size(), "u16_t irq; text_t name[16];");
	const auto waker = [](const std::string &described, std::uint64_t handler) {
		History history;
		history.cpu(1);
		history.switches(0, 10, 0, running, 7);
		history.switches(1, 10, 0, running, 8);
		if (handler) {
			history.cpu(1).post(50, EDC_ID_IRQ_HANDLER_ENTRY, 11, {handler, 0});
			history.posts(1, 60, EDC_ID_IRQ_HANDLER_EXIT, 11);
		}
		history.switches(0, 100, 7, sleeping, 0);
		history.wakes(1, 300, 7);
		history.switches(0, 320, 0, running, 7);
		history.switches(1, 340, 8, running, 9);
		trace::Trace trace = samples::trace(history.all(), described);
		analyze::FoldInput input = analyze::input_of(trace, {});
		input.is_generic_ctf = true;
		analyze::ThreadFold fold(input, {}, {});
		Recorder recorder;
		fold.add(recorder);
		feed(trace, fold);
		REQUIRE(recorder.reported.size() == 1);
		return recorder.reported.front();
	};
	const auto text = [](const char *name) {
		std::uint64_t word = 0;
		std::memcpy(&word, name, std::strlen(name));
		return word;
	};
	CHECK(waker(timed_events, 0) == "blocked 7 100-300 by 8");
	CHECK(waker(events, 0) == "blocked 7 100-300 by -1");
	CHECK(waker(named, text("eth0")) == "blocked 7 100-300 by -1");
	CHECK(waker(named, text("timer")) == "blocked 7 100-300 by -1");
	CHECK(waker(named, text("twd")) == "blocked 7 100-300 by 8");
}

} // namespace test_thread_fold
