// SPDX-License-Identifier: MIT
// Run lengths of states: hand-made histories of one or two CPUs, and what they must come to; and what holds for any
// history. One tick is one nanosecond.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/run_lengths/run_list.h"
#include "answers/run_lengths/totals.h"
#include "history.h"
#include "reading/analyze/thread_fold.h"
#include "reading/states/evaluator.h"
#include "samples.h"
#include "short_forms.h"

namespace test_states {

using namespace monitor;
using namespace history;
using analyze::Mode;
using states::Run;

namespace {

struct Evaluated {
	Evaluated(History &history, const std::string &text, std::uint64_t begin, std::uint64_t end,
		  trace::TimeRange whole, analyze::Scope scope = {}, bool complete = true)
	    : tree(states::parse_tree(text, "my.tree")), info(make_info(begin, end, complete, false)),
	      trace(samples::trace(history.all(), events)),
	      evaluator(tree, analyze::input_of(trace, info), info, 0, whole, scope, list)
	{
		evaluate(trace, evaluator);
	}
	Evaluated(History &history, const std::string &text, std::uint64_t begin, std::uint64_t end)
	    : Evaluated(history, text, begin, end, {begin, end})
	{
	}
	// "idle 100, busy 250, ..., 300": each state with the time at which it begins, then the end.
	std::string runs(std::size_t subject) const
	{
		std::string text;
		for (const Run &run : list.runs().at(subject))
			text += tree.path(run.state) + ' ' + std::to_string(run.from) + ", ";
		return text + std::to_string(list.runs().at(subject).back().to);
	}
	std::string of_thread(std::int32_t tid) const
	{
		for (std::size_t i = 0; i < evaluator.subjects().size(); ++i)
			if (evaluator.subjects()[i].thread->tid == tid)
				return runs(i);
		return "no such thread";
	}

	states::Tree tree;
	analyze::RecordingInfo info;
	trace::Trace trace;
	run_lengths::RunList list;
	states::Evaluator evaluator;
};

std::string refused(const std::string &text)
{
	History history;
	history.switches(0, 100, 0, running, 7);
	try {
		Evaluated(history, text, 0, 1000);
	} catch (const Error &error) {
		return error.what();
	}
	return "accepted";
}

const std::string of_cpu = "of cpu\n"
			   "interrupted: mode in {\"irq\", \"softirq\"}\n"
			   "\tirq: mode == \"irq\"\n"
			   "idle: state == \"idle\"\n"
			   "user: mode == \"user\"\n"
			   "call: has(call)\n";
const std::string of_thread = "of thread\n"
			      "blocked: state == \"blocked\"\n"
			      "\tfault: blocked_on == \"fault\"\n"
			      "\tread: blocked_on == 0\n"
			      "ready: state == \"ready\"\n"
			      "call: call == 0\n"
			      "user: mode == \"user\"\n";

} // namespace

TEST_CASE("states: of a CPU, from what is known at its tokens")
{
	History history;
	history.switches(0, 100, 0, running, 7); // idle until now, which shows only here
	history.posts(0, 150, EDC_ID_SYS_EXIT, 0);
	history.posts(0, 250, EDC_ID_SYS_ENTER, 39);
	history.posts(0, 260, EDC_ID_IRQ_HANDLER_ENTRY, 5);
	history.posts(0, 265, EDC_ID_SOFTIRQ_ENTRY, 1);
	history.posts(0, 267, EDC_ID_SOFTIRQ_EXIT, 1);
	history.posts(0, 267, EDC_ID_IRQ_HANDLER_EXIT, 5); // in the same tick
	history.posts(0, 280, EDC_ID_SYS_EXIT, 5);
	history.switches(0, 300, 7, sleeping, 0);
	CHECK(
	    Evaluated(history, of_cpu, 50, 1000).runs(0) ==
	    "idle 50, unknown 100, user 150, call 250, interrupted/irq 260, interrupted/REST 265, interrupted/irq 267, "
	    "call 267, user 280, idle 300, 1000");
}

TEST_CASE("states: a loss makes them unknown until a token shows them")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 150, EDC_ID_SYS_EXIT, 0);
	history.cpu(0).open(400, 3).tid = 7; // three are lost between 150 and 400
	history.posts(0, 400, EDC_ID_SOFTIRQ_ENTRY, 1);
	history.posts(0, 410, EDC_ID_SOFTIRQ_EXIT, 1);
	history.switches(0, 500, 7, sleeping, 0);
	history.switches(1, 120, 0, running, 8);
	CHECK(Evaluated(history, of_cpu, 100, 600).runs(0) ==
	      "unknown 100, user 150, unknown 150, interrupted/REST 400, unknown 410, idle 500, 600");
	// it is known at once if no condition asks for what is not
	CHECK(Evaluated(history, "of cpu\nsoft: name == \"softirq_entry\"\n", 100, 600).runs(0) ==
	      "REST 100, unknown 150, soft 400, REST 410, 600");
	// what was idle when it was found is known from the end of the loss
	History idle;
	idle.switches(0, 100, 7, sleeping, 0);
	idle.cpu(0).open(400, 3);
	idle.switches(0, 500, 0, running, 7);
	CHECK(Evaluated(idle, "of cpu\nidle: state == \"idle\"\n", 100, 600).runs(0) ==
	      "idle 100, unknown 100, idle 400, REST 500, 600");
}

TEST_CASE("states: after a loss only the threads that run on other CPUs are known")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.switches(1, 110, 0, running, 8);
	history.switches(0, 120, 7, sleeping, 9);
	history.cpu(0).open(300, 1).tid = 9; // it may have woken 7
	history.switches(1, 350, 8, sleeping, 0);
	history.wakes(1, 400, 7);
	const std::string tree = "of thread\nblocked: state == \"blocked\"\nrunning: state == \"running\"\n";
	const Evaluated all(history, tree, 100, 500);
	CHECK(all.of_thread(7) == "running 100, blocked 120, unknown 120, REST 400, 500");
	CHECK(all.of_thread(8) == "unknown 100, running 110, blocked 350, 500");
	CHECK(all.of_thread(9) == "unknown 100, running 120, unknown 120, 500");
}

TEST_CASE("states: of a thread that leaves its CPU while another one loses events, none is known")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_EXIT);
	history.switches(1, 150, 0, running, 8);
	history.cpu(1).open(600, 5).tid = 8; // they are lost between 150 and 600
	history.posts(1, 600, EDC_ID_SYS_EXIT);
	history.posts(0, 200, EDC_ID_SYS_ENTER, 202);
	history.switches(0, 210, 7, sleeping, 0); // it may go on on CPU 1
	history.wakes(0, 300, 7);
	history.switches(0, 400, 0, running, 7);
	history.posts(0, 410, EDC_ID_SYS_EXIT);
	history.switches(0, 700, 7, sleeping, 0);
	CHECK(Evaluated(history,
			"of thread\nblocked: state == \"blocked\"\nready: state == \"ready\"\ncall: has(call)\n", 100,
			800)
		  .of_thread(7) == "unknown 100, REST 110, call 200, unknown 210, REST 410, blocked 700, 800");
	CHECK(Evaluated(history, "of thread\ncall: name == \"sys_enter\"\n", 100, 800).of_thread(7) ==
	      "REST 100, call 200, unknown 210, REST 400, 800");
}

TEST_CASE("states: of threads, from their creation to their end")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.posts(0, 110, EDC_ID_SYS_EXIT, 0);
	history.posts(0, 120, EDC_ID_SYS_ENTER, 0);
	history.switches(0, 130, 7, sleeping, 0);
	history.wakes(1, 200, 7); // on another CPU
	history.switches(0, 210, 0, running, 7);
	history.posts(0, 220, EDC_ID_SYS_EXIT, 0);
	history.fault(0, 230);
	history.switches(0, 240, 7, sleeping, 0);
	history.wakes(0, 250, 7);
	history.switches(0, 260, 0, running, 7);
	history.posts(0, 270, EDC_ID_MINOR_FAULT, 0);
	history.cpu(0).post(280, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(9, 7), pair(7, 120), 'x', 0});
	history.switches(0, 290, 7, running, 9);
	history.switches(0, 300, 9, dead, 7);
	const Evaluated all(history, of_thread, 100, 400);
	CHECK(all.of_thread(7) ==
	      "unknown 100, user 110, call 120, blocked/read 130, ready 200, call 210, user 220, "
	      "REST 230, blocked/fault 240, ready 250, REST 260, user 270, ready 290, user 300, 400");
	CHECK(all.of_thread(9) == "PAUSE 100, ready 280, REST 290, PAUSE 300, 400");
	CHECK(all.evaluator.subjects().size() == 2);
}

TEST_CASE("states: what the recorder lists at the start holds from there on")
{
	History history;
	const std::uint32_t none = EDC_NO_SYSCALL;
	history.lists(90, 7, sleeping, 0, 0);
	history.lists(110, 8, sleeping, none, EDC_THREAD_KERNEL);
	history.lists(110, 9, running, none, EDC_THREAD_RUNNING);
	history.lists(110, 10, sleeping, none, 0); // never runs: it is not shown
	history.wakes(1, 200, 7);
	history.wakes(1, 200, 8);
	history.switches(0, 210, 9, running, 7);
	history.switches(0, 220, 7, running, 8);
	const Evaluated all(history, of_thread, 100, 300);
	CHECK(all.of_thread(7) == "blocked/read 100, ready 200, call 210, ready 220, 300");
	CHECK(all.of_thread(8) == "blocked/REST 100, ready 200, REST 220, 300");
	CHECK(all.of_thread(9) == "unknown 100, ready 210, 300");
	CHECK(all.evaluator.subjects().size() == 3);
	CHECK(Evaluated(history, "of cpu\nidle: state == \"idle\"\n", 100, 300).runs(0) ==
	      "unknown 100, REST 110, 300");
}

TEST_CASE("states: of the machine, by its events and by how many CPUs are in use")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.switches(1, 120, 0, running, 8);
	history.posts(1, 130, EDC_ID_SOFTIRQ_ENTRY, 1);
	history.switches(0, 150, 7, sleeping, 0);
	CHECK(Evaluated(history, "of machine\nfull: idle == 0\n\tby8: thread ~ \"x*\"\n", 100, 200).runs(0) ==
	      "unknown 100, REST 150, 200");
	CHECK(Evaluated(history, "of machine\ntwo: running == 2\none: running == 1\n", 100, 200).runs(0) ==
	      "unknown 100, two 120, one 150, 200");
	CHECK(Evaluated(history, "of machine\nsoft: name == \"softirq_entry\"\nseven: next_pid == 7 or prev_pid == 7\n",
			100, 200)
		  .runs(0) == "seven 100, REST 120, soft 130, seven 150, 200");
}

TEST_CASE("states: what is before and after the window of the probes is PAUSE, a scope cuts")
{
	History history;
	history.switches(0, 10, 0, running, 7); // not all probes were attached
	history.switches(0, 100, 7, sleeping, 0);
	history.switches(0, 200, 0, running, 7);
	const std::string tree = "of cpu\nidle: state == \"idle\"\n";
	CHECK(Evaluated(history, tree, 50, 300, {10, 400}).runs(0) ==
	      "PAUSE 10, unknown 50, idle 100, REST 200, PAUSE 300, 400");
	CHECK(Evaluated(history, tree, 50, 300, {10, 400}, {{120, 249}, {}, {}}).runs(0) == "idle 120, REST 200, 250");
	CHECK(Evaluated(history, tree, 50, 300, {10, 400}, {{120, 180}, {}, {}}).runs(0) == "idle 120, 181");
	// a killed recording lacks what followed the last token
	history.switches(1, 280, 0, running, 8);
	history.cpu(1).header().timestamp_end = 290;
	const Evaluated killed(history, tree, 50, 300, {50, 290}, {}, false);
	CHECK(killed.runs(0) == "unknown 50, idle 100, REST 200, unknown 200, 290");
	CHECK(killed.runs(1) == "idle 50, REST 280, unknown 280, 290");
}

TEST_CASE("states: CPUs and threads that the scope leaves out are no subjects")
{
	History history;
	history.switches(0, 100, 0, running, 7);
	history.switches(1, 120, 0, running, 8);
	analyze::Scope scope;
	scope.cpus = {1};
	const Evaluated one(history, of_cpu, 100, 200, {100, 200}, scope);
	REQUIRE(one.evaluator.subjects().size() == 1);
	CHECK(one.evaluator.subjects()[0].cpu == 1);
	scope.cpus.clear();
	std::vector<bool> threads(8);
	const Evaluated all(history, of_thread, 100, 200);
	for (std::size_t place = 0; place < 8; ++place) {
		scope.threads.emplace(8);
		(*scope.threads)[place] = true;
		const Evaluated some(history, of_thread, 100, 200, {100, 200}, scope);
		CHECK(some.evaluator.subjects().size() <= 1);
		for (const states::Who &who : some.evaluator.subjects())
			threads[static_cast<std::size_t>(who.thread->tid - 7)] = true;
	}
	CHECK(threads[0]);
	CHECK(threads[1]);
}

TEST_CASE("states: a condition is refused with its line, its column and what to do")
{
	CHECK(refused("of cpu\n\nidle: state == \"idel\"\n") ==
	      "my.tree, line 3: filter, column 10: no label of state is \"idel\". Did you mean idle?\n"
	      "  state == \"idel\"\n           ^");
	CHECK(refused("of cpu\na: stat == 1\n").find("Did you mean prev_state, state?") != std::string::npos);
	CHECK(refused("of cpu\na: state == \"blocked\"\n").find("no label of state is \"blocked\"") !=
	      std::string::npos);
	CHECK(refused("of cpu\na: blocked_on == 1\n")
		  .find("blocked_on is not known in a tree of a cpu: it is in trees of a thread") != std::string::npos);
	CHECK(refused("of machine\na: mode == \"kernel\"\n")
		  .find("mode is not known in a tree of a machine: it is in trees of a cpu or a thread") !=
	      std::string::npos);
	CHECK(refused("of thread\na: activity == \"request\"\n").find("needs events NAME_begin and NAME_end") !=
	      std::string::npos);
	CHECK(refused("of cpu\na: mode == 1 and cpu > \"x\"\n").find("cpu is a number without labels") !=
	      std::string::npos);
	CHECK(refused("of cpu\na: event.state == 1\n") == "accepted"); // a field of thread_state
	CHECK(refused("of cpu\na: thread ~ \"make*\" or tid == 7 or process in {7, 8}\n") == "accepted");
}

namespace {

struct Sums {
	std::map<std::string, std::uint64_t> ticks;
	std::uint64_t runs = 0;
};

// Also checks what holds for the runs of every subject.
Sums sums(const Evaluated &evaluated)
{
	Sums made;
	const std::uint64_t begin = evaluated.evaluator.window_begin(), end = evaluated.evaluator.window_end();
	CHECK(evaluated.list.runs().size() <= evaluated.evaluator.subjects().size());
	for (const auto &runs : evaluated.list.runs()) {
		std::uint64_t at = begin;
		const Run *before = nullptr;
		for (const Run &run : runs) {
			REQUIRE(run.from == at); // no gap
			REQUIRE(run.to >= run.from);
			REQUIRE((!before || before->state != run.state));
			at = run.to;
			before = &run;
			made.ticks[evaluated.tree.path(run.state)] += run.ticks();
			++made.runs;
		}
		REQUIRE(at == end);
	}
	return made;
}

} // namespace

TEST_CASE("states: of any history, the run lengths have no gap and add up, in every part of it")
{
	const std::string trees[] = {of_cpu,
				     of_thread,
				     "of machine\nfull: idle == 0\n",
				     "of cpu\na: has(ret)\n",
				     "of thread\na: name == \"sys_enter\"\n\tb: state == \"running\"\n",
				     "of machine\na: cpu == 0\n\tb: has(vec)\nc: has(ret)\n"};
	std::mt19937 random(20260730);
	std::uint64_t all_runs = 0;
	for (int i = 0; i < 300; ++i) {
		std::uint64_t end = 100;
		History history = random_history(random, end);
		const std::string &tree = trees[random() % std::size(trees)];
		const bool complete = random() % 4;
		const trace::TimeRange whole{50, end + random() % 100};
		const std::uint64_t first = 50 + random() % 100, last = std::max(first, whole.to - random() % 50);
		const auto part = [&](std::uint64_t from, std::uint64_t to) {
			return sums(Evaluated(history, tree, first, last, whole, {{from, to}, {}, {}}, complete));
		};
		const Sums all = part(0, ~0ull);
		all_runs += all.runs;
		const std::uint64_t middle = whole.from + random() % (whole.to - whole.from);
		Sums parts = part(0, middle);
		for (const auto &[state, ticks] : part(middle + 1, ~0ull).ticks)
			parts.ticks[state] += ticks;
		for (const auto &[state, ticks] : all.ticks)
			CHECK(parts.ticks[state] == ticks);
	}
	CHECK(all_runs > 5000);
}

TEST_CASE("states: of any history, the times of a CPU are those that the fold finds")
{
	const std::string tree = "of cpu\nirq: mode == \"irq\"\nsoftirq: mode == \"softirq\"\nidle: mode == \"idle\"\n"
				 "other: mode in {\"user\", \"kernel\", \"unattributed\"}\n";
	std::mt19937 random(7);
	std::uint64_t idle = 0;
	for (int i = 0; i < 300; ++i) {
		std::uint64_t end = 100;
		// a thread that seems to run on two CPUs at a time is in two modes
		const unsigned cpus = 1 + i % 2;
		History history = random_history(random, end, cpus);
		const Evaluated evaluated(history, tree, 50, end);
		Sums found = sums(evaluated);
		analyze::ThreadFold fold(evaluated.trace, evaluated.info);
		trace::Trace again = samples::trace(history.all(), events);
		feed(again, fold);
		analyze::Usage usage;
		std::uint64_t machine_idle = 0;
		for (const analyze::Cpu &cpu : fold.cpus()) {
			usage += cpu.usage;
			machine_idle += cpu.idle;
		}
		CHECK(found.ticks["irq"] == usage[Mode::irq]);
		CHECK(found.ticks["softirq"] == usage[Mode::softirq]);
		CHECK(found.ticks["idle"] == machine_idle);
		const std::uint64_t other = usage[Mode::user] + usage[Mode::kernel] + usage[Mode::unattributed];
		if (cpus == 1)
			CHECK(found.ticks["other"] == other);
		CHECK(found.ticks["other"] + found.ticks["unknown"] == other + usage[Mode::unknown]);
		CHECK(found.ticks["REST"] == 0);
		idle += machine_idle;
	}
	CHECK(idle > 1000);
}

TEST_CASE("states: what a short form lacks follows from earlier events, or the state is unknown")
{
	auto streams = short_forms::writers();
	trace::Trace trace = samples::trace(streams, short_forms::events);
	const analyze::RecordingInfo info = make_info(1000, 1300, true, false);
	const states::Tree tree = states::parse_tree("of machine\n"
						     "failed: name == \"sys_exit\" and id == \"openat\" and ret == -2\n"
						     "kid: name == \"sched_process_exit\" and comm == \"kid\"\n",
						     "my.tree");
	run_lengths::RunList list;
	states::Evaluator evaluator(tree, analyze::input_of(trace, info), info, 0, {1000, 1300}, {}, list);
	evaluate(trace, evaluator);
	std::string text;
	for (const Run &run : list.runs().at(0))
		text += tree.path(run.state) + ' ' + std::to_string(run.from) + ", ";
	// Lost before 1100: what the exit at 1110 ends; not known: what the process that ends at 1200 is called.
	CHECK(text ==
	      "REST 1000, failed 1020, REST 1030, unknown 1090, REST 1120, kid 1190, unknown 1200, REST 1210, ");
}

TEST_CASE("states: totals: a node with children lasts as long as its subject is in any of them")
{
	const states::Tree tree =
	    states::parse_tree("of cpu\na: cpu == 1\n\tb: cpu == 1\n\tc: cpu == 1\nd: cpu == 1\n", "my.tree");
	const states::State rest = 0, b = 1, c = 2, d = 4;
	for (const bool each : {false, true}) {
		run_lengths::Totals totals(tree, each);
		for (const Run &run : {Run{0, b, 10, 20}, Run{1, c, 10, 12}, Run{0, c, 20, 25}, Run{0, d, 25, 40},
				       Run{1, tree.pause(), 12, 40}, Run{0, b, 40, 41}, Run{0, rest, 41, 41}})
			totals.run(run);
		totals.finish();
		REQUIRE(totals.groups() == (each ? 2 : 1));
		const auto &first = totals.of_group(0);
		const std::size_t node_a = 0;
		CHECK(first[node_a].count() == (each ? 2 : 3));
		CHECK(first[node_a].ticks() == (each ? 16 : 18));
		CHECK(first[node_a].max() == 15);
		CHECK(first[tree.leaf(c)].count() == (each ? 1 : 2));
		CHECK(first[tree.leaf(d)].ticks() == 15);
		CHECK(first[tree.leaf(rest)].count() == 1);
		CHECK(totals.of_group(each ? 1 : 0)[totals.pause()].ticks() == 28);
		CHECK(totals.of_group(0)[totals.unknown()].count() == 0);
	}
}

} // namespace test_states
