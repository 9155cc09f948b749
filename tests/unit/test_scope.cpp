// SPDX-License-Identifier: MIT
// Reports of a part of a trace: windows that cut through states, and partitions whose parts add up to the whole.
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/selection/thread_selection.h"
#include "history.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/event_selection.h"
#include "reading/events/threads.h"

namespace test_scope {

using namespace monitor;
using namespace history;
using analyze::Mode;
using analyze::Scope;

namespace {

constexpr std::uint64_t forever = std::numeric_limits<std::uint64_t>::max();

struct Intervals : analyze::Observer {
	std::vector<std::string> reported;
	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override
	{
		reported.push_back(fmt::format("call {} {} {} {}", thread.tid, number, end - begin, result));
	}
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override
	{
		reported.push_back(fmt::format("blocked {} {}-{} {}", thread.tid, from, to, waker.interrupt));
	}
};

struct Part {
	Part(trace::Trace &trace, const analyze::RecordingInfo &info, Scope scope) : fold(trace, info, scope)
	{
		fold.add(intervals);
		feed(trace, fold);
	}
	const analyze::Usage &usage(std::int32_t tid) const
	{
		return std::ranges::find(fold.threads(), tid, &analyze::Thread::tid)->usage;
	}

	analyze::ThreadFold fold;
	Intervals intervals;
};

// What a sum over parts must equal, of every thread and CPU.
std::vector<std::uint64_t> figures(const analyze::ThreadFold &fold, bool with_waits = true)
{
	std::vector<std::uint64_t> all;
	const auto add = [&](const analyze::Usage &usage) {
		all.insert(all.end(), usage.ticks.begin(), usage.ticks.end());
		for (const std::uint64_t figure :
		     {with_waits ? usage.waiting : 0, with_waits ? usage.throttled : 0, with_waits ? usage.blocked : 0,
		      usage.voluntary, usage.involuntary, usage.migrations, usage.syscalls, usage.minor_faults,
		      usage.major_faults})
			all.push_back(figure);
	};
	for (const analyze::Thread &thread : fold.threads())
		add(thread.usage);
	for (const analyze::Cpu &cpu : fold.cpus())
		if (with_waits) {
			add(cpu.usage);
			all.push_back(cpu.idle);
		}
	return all;
}

struct Sum {
	std::vector<std::uint64_t> figures;
	std::vector<std::string> reported;
	void add(const Part &part, bool with_waits = true)
	{
		const std::vector<std::uint64_t> more = test_scope::figures(part.fold, with_waits);
		figures.resize(more.size());
		for (std::size_t i = 0; i < more.size(); ++i)
			figures[i] += more[i];
		reported.insert(reported.end(), part.intervals.reported.begin(), part.intervals.reported.end());
		std::ranges::sort(reported);
	}
};

// Parts without holes, from the first tick to the last.
std::vector<trace::TimeRange> partition(std::mt19937 &random, std::uint64_t end)
{
	std::vector<std::uint64_t> cuts;
	for (std::size_t count = 1 + random() % 6; cuts.size() < count;)
		cuts.push_back(random() % (end + 20) + 1);
	std::ranges::sort(cuts);
	cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
	std::vector<trace::TimeRange> parts = {{0, cuts.front() - 1}};
	for (std::size_t i = 0; i < cuts.size(); ++i)
		parts.push_back({cuts[i], i + 1 < cuts.size() ? cuts[i + 1] - 1 : forever});
	return parts;
}

analyze::RecordingInfo with_edges(std::uint64_t begin, std::uint64_t end, bool complete)
{
	analyze::RecordingInfo info = make_info(begin, end, complete, false);
	info.cost_ns = {{"call_edge", 7}, {"fault_edge", 3}};
	return info;
}

} // namespace

TEST_CASE("scope: windows that cut through a call, an interrupt, a sleep and a wait")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_EXIT);
	history.posts(0, 200, EDC_ID_SYS_ENTER, 39);
	history.posts(0, 260, EDC_ID_SYS_EXIT);
	history.posts(0, 300, EDC_ID_IRQ_HANDLER_ENTRY, 5);
	history.posts(0, 340, EDC_ID_IRQ_HANDLER_EXIT, 5);
	history.switches(0, 400, 7, sleeping, 0);
	history.wakes(0, 700, 7);
	history.switches(0, 750, 0, running, 7);
	history.switches(0, 800, 7, dead, 0);
	trace::Trace trace = samples::trace(history.all(), events);
	const analyze::RecordingInfo info = make_info(100, 1000, true, false);

	const Part call(trace, info, {{0, 229}, {}, {}});
	CHECK(call.usage(7)[Mode::unknown] == 10);
	CHECK(call.usage(7)[Mode::user] == 90);
	CHECK(call.usage(7)[Mode::kernel] == 30);
	CHECK(call.usage(7).syscalls == 1);
	CHECK(call.usage(7).blocked == 0);
	CHECK(call.intervals.reported.empty()); // the call ends later

	const Part interrupt(trace, info, {{230, 319}, {}, {}});
	CHECK(interrupt.usage(7)[Mode::kernel] == 30);
	CHECK(interrupt.usage(7)[Mode::user] == 40);
	CHECK(interrupt.usage(7)[Mode::irq] == 20);
	CHECK(interrupt.usage(7).syscalls == 0);
	CHECK(interrupt.intervals.reported == std::vector<std::string>{"call 7 39 60 0"}); // all of it

	const Part sleep(trace, info, {{320, 549}, {}, {}});
	CHECK(sleep.usage(7)[Mode::irq] == 20);
	CHECK(sleep.usage(7)[Mode::user] == 60);
	CHECK(sleep.usage(7).blocked == 150);
	CHECK(sleep.usage(7).voluntary == 1);
	CHECK(sleep.fold.cpus()[0].idle == 150);
	CHECK(sleep.intervals.reported.empty());

	// Nothing happens in it: the states are those of before.
	const Part asleep(trace, info, {{450, 649}, {}, {}});
	CHECK(asleep.usage(7).blocked == 200);
	CHECK(asleep.fold.cpus()[0].idle == 200);

	const Part wait(trace, info, {{550, 719}, {}, {}});
	CHECK(wait.usage(7).blocked == 150);
	CHECK(wait.usage(7).waiting == 20);
	CHECK(wait.intervals.reported == std::vector<std::string>{"blocked 7 400-700 -1"});

	const Part end(trace, info, {{720, forever}, {}, {}});
	CHECK(end.usage(7).waiting == 30);
	CHECK(end.usage(7)[Mode::unknown] == 50);
	CHECK(end.fold.cpus()[0].idle == 230);
	CHECK(end.fold.window_end() == 1000);
}

TEST_CASE("scope: the part before an entry that is the edge of a call counts where it is")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 100, EDC_ID_SYS_EXIT);
	history.posts(0, 200, EDC_ID_SYS_ENTER, 39);
	history.posts(0, 300, EDC_ID_SYS_EXIT);
	trace::Trace trace = samples::trace(history.all(), events);
	const analyze::RecordingInfo info = with_edges(100, 300, true); // the edge is 193 to 200
	const Part before(trace, info, {{0, 195}, {}, {}}), after(trace, info, {{196, forever}, {}, {}});
	CHECK(before.usage(7)[Mode::user] == 93);
	CHECK(before.usage(7)[Mode::unattributed] == 3);
	CHECK(after.usage(7)[Mode::user] == 0);
	CHECK(after.usage(7)[Mode::unattributed] == 4);
	CHECK(after.usage(7)[Mode::kernel] == 100);
}

TEST_CASE("scope: the parts of a random partition add up to the whole")
{
	std::mt19937 random(2026);
	for (int round = 0; round < 100; ++round) {
		std::uint64_t time = 0;
		History history = random_history(random, time);
		if (round % 2)
			list_one(history, random);
		trace::Trace trace = samples::trace(history.all(), events);
		const analyze::RecordingInfo info = with_edges(random() % 40, time + 10, round % 3 != 0);
		Sum whole, parts, cpus;
		const Part all(trace, info, {});
		whole.add(all);
		for (const trace::TimeRange &range : partition(random, time)) {
			const Part part(trace, info, {range, {}, {}});
			parts.add(part);
			for (const analyze::Cpu &cpu : part.fold.cpus())
				CHECK(cpu.usage.cpu() + cpu.idle == part.fold.window_end() - part.fold.window_begin());
		}
		CHECK(parts.figures == whole.figures);
		CHECK(parts.reported == whole.reported);
		for (const std::uint32_t cpu : {0u, 1u})
			cpus.add(Part(trace, info, {{}, {cpu}, {}}), false);
		CHECK(cpus.figures == figures(all.fold, false));
	}
}

TEST_CASE("scope: threads restrict what observers get, and nothing else")
{
	std::mt19937 random(77);
	std::uint64_t time = 0;
	History history = random_history(random, time);
	trace::Trace trace = samples::trace(history.all(), events);
	const analyze::RecordingInfo info = with_edges(5, time + 10, true);
	const Part all(trace, info, {});
	std::vector<std::string> reported;
	for (const std::int32_t tid : {0, 1, 2, 3, 4}) {
		const std::vector<bool> threads =
		    selection::threads_of_fold(trace, info, {.pids = {}, .tids = {tid}, .comms = {}, .cgroups = {}});
		const Part part(trace, info, {{}, {}, threads});
		CHECK(figures(part.fold) == figures(all.fold));
		for (const analyze::Thread &thread : part.fold.threads())
			CHECK(thread.selected == (thread.tid == tid));
		reported.insert(reported.end(), part.intervals.reported.begin(), part.intervals.reported.end());
	}
	std::vector<std::string> whole = all.intervals.reported;
	std::ranges::sort(whole);
	std::ranges::sort(reported);
	CHECK(reported == whole);
}

namespace {

// "init" starts the command 10, which starts 11 in a cgroup of its own; later the number 11 is that of another process.
struct Selecting {
	Selecting() : trace(samples::trace(make(), events)) { info.command_pid = 10; }
	static std::vector<samples::StreamWriter> &make()
	{
		static History history;
		history = History();
		const auto born = [](std::uint64_t at, std::int32_t tid, std::int32_t tgid, std::int32_t parent,
				     const char *name) {
			std::uint64_t comm[2] = {};
			std::strncpy(reinterpret_cast<char *>(comm), name, sizeof comm);
			history.cpu(0).post(at, EDC_ID_SCHED_WAKEUP_NEW, 0,
					    {pair(tid, tgid), pair(parent, 120), comm[0], comm[1]});
		};
		born(100, 10, 10, 1, "sh");
		born(110, 11, 10, 10, "worker-1");
		history.moves(0, 120, 11, 77);
		history.switches(0, 200, 0, running, 11);
		history.switches(0, 300, 11, dead, 0);
		born(400, 11, 11, 1, "other");
		history.switches(0, 500, 0, running, 11);
		history.switches(0, 600, 11, dead, 0);
		return history.all();
	}
	// Of the threads 10, 11 and the second 11: which are selected; those of events must be the same.
	std::string operator()(const selection::ThreadSelection &wanted) const
	{
		const std::vector<bool> selected = selection::threads_of_fold(trace, info, wanted);
		const trace::SelectedThreads by_number = selection::threads_of_events(trace, info, wanted);
		analyze::ThreadFold fold(trace, info);
		trace::Problems ignored;
		trace::merge(
		    trace, ignored, {}, [&](const trace::Event &event) { fold.event(event); }, [](const auto &...) {});
		std::string text;
		for (std::size_t i = 0; i < selected.size(); ++i) {
			const analyze::Thread &thread = fold.threads()[i];
			if (thread.tid == 0 || thread.tid == 1)
				continue;
			text += selected[i] ? 'x' : '-';
			if (wanted.tids.empty())
				CHECK(by_number.includes(0, thread.tid, thread.born + 50) == selected[i]);
		}
		return text;
	}

	trace::Trace trace;
	analyze::RecordingInfo info = make_info(50, 700, true, false);
};

} // namespace

TEST_CASE("scope: threads by process, number, name, cgroup and command")
{
	const Selecting selected;
	CHECK(selected({.pids = {10}, .tids = {}, .comms = {}, .cgroups = {}}) == "xx-");
	CHECK(selected({.pids = {11}, .tids = {}, .comms = {}, .cgroups = {}}) == "--x");
	CHECK(selected({.pids = {10, 11}, .tids = {}, .comms = {}, .cgroups = {}}) == "xxx");
	CHECK(selected({.pids = {}, .tids = {11}, .comms = {}, .cgroups = {}}) == "-xx");
	CHECK(selected({.pids = {10}, .tids = {11}, .comms = {}, .cgroups = {}}) == "-x-");
	CHECK(selected({.pids = {}, .tids = {}, .comms = {"work*", "s?"}, .cgroups = {}}) == "xx-");
	CHECK(selected({.pids = {}, .tids = {}, .comms = {"other"}, .cgroups = {}}) == "--x");
	CHECK(selected({.pids = {}, .tids = {}, .comms = {}, .cgroups = {"77"}}) == "-x-");
	CHECK(selected({.pids = {}, .tids = {}, .comms = {}, .cgroups = {"/"}}) == "---"); // unknown paths
	CHECK(selected({.pids = {}, .tids = {}, .comms = {}, .cgroups = {}, .command = true}) == "xx-");
}

TEST_CASE("scope: a thread that ends leaves nothing of the next one out")
{
	struct Waits : analyze::Observer {
		std::vector<std::string> reported;
		void got_cpu(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override
		{
			reported.push_back(fmt::format("{} {}-{}", thread.tid, from, to));
		}
	} waits;
	History history;
	history.moves(0, 10, 7, 1);
	history.moves(0, 10, 8, 2);
	history.switches(0, 20, 0, running, 7);
	history.wakes(0, 30, 8);
	history.switches(0, 40, 7, dead, 8);
	trace::Trace trace = samples::trace(history.all(), events);
	Scope scope;
	scope.cgroups = {2};
	analyze::ThreadFold fold(trace, make_info(0, 100, true, false), scope);
	fold.add(waits);
	analyze::feed(trace, fold);
	CHECK(waits.reported == std::vector<std::string>{"8 30-40"});
}

TEST_CASE("scope: events of selected CPUs and threads")
{
	const Selecting history;
	const auto count = [&](std::vector<std::uint32_t> cpus, std::optional<trace::SelectedThreads> threads) {
		const trace::EventSelection selection(history.trace, std::move(cpus), std::move(threads));
		trace::Threads running(history.trace);
		trace::Problems ignored;
		int events = 0;
		trace::merge(
		    history.trace, ignored, {},
		    [&](const trace::Event &event) {
			    events += selection.includes(event, running.before(event));
			    running.after(event);
		    },
		    [](const auto &...) {});
		return events;
	};
	CHECK(count({}, {}) == 8);
	CHECK(count({0}, {}) == 8);
	CHECK(count({1}, {}) == 0);
	const auto of_process = [&](std::int32_t pid) {
		return selection::threads_of_events(history.trace, history.info,
						    {.pids = {pid}, .tids = {}, .comms = {}, .cgroups = {}});
	};
	CHECK(count({}, of_process(10)) == 5); // the creation of 10 and 11, the cgroup, two switches
	CHECK(count({}, of_process(11)) == 3);
	CHECK(count({1}, of_process(11)) == 0);
}

} // namespace test_scope
