// SPDX-License-Identifier: MIT
// The statements of check, by small hand-made recordings: what holds, and what each change must turn red.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "checked_history.h"
#include "monitor/card.h"
#include "reading/analyze/clock_bound.h"

namespace test_check {

using namespace monitor;
using samples::CheckedHistory;

namespace {

// A thread of a program runs twice, makes calls and posts; the CPU idles in between.
CheckedHistory some_history()
{
	CheckedHistory history;
	history.steady_clock();
	history.switches(2'000'000, 0, 7);
	history.call(2'010'000, 2'020'000);
	history.user_event(2'030'000, 1);
	history.switches(3'000'000, 7, 0);
	history.kernel(3'000'100, EDC_ID_CPU_IDLE, 1);
	history.kernel(4'000'000, EDC_ID_CPU_IDLE, 0xffff);
	history.kernel(4'000'200, EDC_ID_SOFTIRQ_ENTRY, 1);
	history.kernel(4'000'300, EDC_ID_SOFTIRQ_EXIT, 1);
	history.switches(4'000'400, 0, 7);
	history.user_event(4'050'000, 2);
	history.switches(5'000'000, 7, 0);
	return history;
}

} // namespace

TEST_CASE("check: the hand-made recording is true")
{
	CheckedHistory history = some_history();
	CHECK(history.failures() == "");
	for (const char *id :
	     {"conservation", "control_tokens", "losses_placed", "misses", "user_events", "clock", "clock_sets",
	      "clock_skew", "calls_witnessed", "probe_times", "user_times", "context_switches", "idle_states"})
		CHECK(history.said(id).substr(0, 3) == "ok ");
}

TEST_CASE("check: conservation, class by class")
{
	for (const int change : {-1, 1}) {
		CheckedHistory history = some_history();
		history.counts(EDC_ID_SOFTIRQ_ENTRY).seen += static_cast<std::uint64_t>(change);
		CHECK(history.failures().starts_with("conservation: softirq_entry (282): "));
	}
	CheckedHistory unknown = some_history(); // a class that no probe counted
	std::erase_if(unknown.info.classes,
		      [](const analyze::ClassCounts &counts) { return counts.id == EDC_ID_SOFTIRQ_ENTRY; });
	CHECK(unknown.said("conservation") == "FAILS class 282: 1 tokens in blocks that no probe counted");
	CheckedHistory filtered = some_history();
	filtered.counts(EDC_ID_SOFTIRQ_ENTRY).seen += 3;
	filtered.counts(EDC_ID_SOFTIRQ_ENTRY).filtered += 2;
	filtered.counts(EDC_ID_SOFTIRQ_ENTRY).too_deep += 1;
	CHECK(filtered.holds("conservation"));
}

TEST_CASE("check: what the rings discarded is what the streams tell of, neither more nor fewer")
{
	const auto lossy = [](std::uint64_t refused, std::uint64_t discarded) {
		CheckedHistory history = some_history();
		history.counts(EDC_ID_SOFTIRQ_ENTRY).seen += refused;
		history.counts(EDC_ID_SOFTIRQ_ENTRY).discarded = refused;
		history.streams[1].open(6'000'000, discarded);
		return history;
	};
	CHECK(lossy(5, 5).holds("losses_placed"));
	CHECK(lossy(5, 5).failures() == "");
	CHECK(lossy(5, 4).failures().starts_with("losses_placed: 5 tokens were discarded"));
	CHECK(lossy(5, 6).failures().starts_with("losses_placed: 5 tokens were discarded"));
}

TEST_CASE("check: start and end of the recording are in this order, and in the time of the tokens")
{
	const auto between = [](std::uint64_t start, std::uint64_t end) {
		CheckedHistory history = some_history();
		history.info.start.time = start;
		history.info.end.time = end;
		return history;
	};
	CHECK(between(CheckedHistory::begin, CheckedHistory::end).holds("complete"));
	CHECK(between(1ull << 62, CheckedHistory::end).fails("complete"));
	CHECK(between(1ull << 62, 1ull << 63).fails("complete"));
	CHECK(between(CheckedHistory::begin, 0).fails("complete"));
}

TEST_CASE("check: the recorder's CPU time is not more than its CPUs had")
{
	CheckedHistory history = some_history(); // 0.8 s of one CPU
	history.info.recorder.cpu_ns = 2'600'000'000;
	CHECK(history.failures() == "");
	history.info.recorder.cpu_ns = 2'600'000'001;
	CHECK(history.said("recorder_cpu") ==
	      "FAILS the recorder's CPU time, 2600000001 ns, is more than its CPUs had in 800000000 ns");
	history.info.recorder.cpu_ns = 1ull << 63;
	CHECK(history.fails("recorder_cpu"));
}

TEST_CASE("check: costs of an event of more than a second are not believed")
{
	const auto info = analyze::parse_recording(
	    R"({"cost_ns": {"sched": 1e300, "fault": 50.5}, "calibration": {"start": {"sched": {"low": 1, "median": )"
	    R"(1e10, "high": 1e11, "rounds": 21}, "fault": {"low": 1, "median": 2, "high": 3, "rounds": 21}}}})");
	CHECK(info.had_impossible_costs);
	CHECK(info.cost_ns.size() == 1);
	CHECK(info.cost_ns.contains("fault"));
	REQUIRE(info.calibration);
	CHECK(info.calibration->start.size() == 1);
	CHECK_FALSE(analyze::parse_recording(R"({"cost_ns": {"sched": 80}})").had_impossible_costs);
	CheckedHistory history = some_history();
	history.info.had_impossible_costs = true;
	CHECK(history.fails("costs"));
}

TEST_CASE("check: what was lost on each CPU is all that was lost")
{
	const auto lossy = [](std::vector<std::uint64_t> by_cpu) {
		CheckedHistory history = some_history();
		history.counts(EDC_ID_SOFTIRQ_ENTRY).seen += 5;
		history.counts(EDC_ID_SOFTIRQ_ENTRY).discarded = 5;
		history.streams[1].open(6'000'000, 5);
		history.info.lost_by_cpu = std::move(by_cpu);
		return history;
	};
	CHECK(lossy({}).failures() == ""); // an older recorder
	CHECK(lossy({2, 3}).failures() == "");
	CHECK(lossy({5, 7}).failures() == "losses_by_cpu: 5 events were lost, but recording.json's losses by CPU are "
					  "not as many: 5, 7\n");
	CHECK(lossy({2, 2}).fails("losses_by_cpu"));
	CHECK(lossy({1ull << 63, 1ull << 63, 5}).fails("losses_by_cpu")); // 5 in 64 bits
	CheckedHistory whole = some_history();
	whole.info.lost_by_cpu = {0, 0};
	CHECK(whole.failures() == "");
	whole.info.lost_by_cpu = {5, 7};
	CHECK(whole.fails("losses_by_cpu"));
}

TEST_CASE("check: a call may end unseen on a CPU whose events are lost, if its thread could run there")
{
	// CPU 1 loses events between 2 and 6 ms.
	const auto history = [](bool leaves, std::uint64_t time) {
		CheckedHistory history;
		history.steady_clock();
		history.streams.emplace_back(1, 0);
		history.streams.back().open(2'000'000);
		history.streams.back().post(2'000'000, EDC_ID_CPU_IDLE, 1);
		history.streams.back().open(6'000'000, 3);
		history.streams.back().post(6'000'000, EDC_ID_CPU_IDLE, 0xffff);
		history.counts(EDC_ID_CPU_IDLE).seen += 2 + 3;
		history.counts(EDC_ID_CPU_IDLE).discarded = 3;
		history.switches(1'500'000, 0, 7);
		history.call(1'600'000, 1'700'000);
		history.kernel(time, EDC_ID_SYS_ENTER, 202);
		if (leaves) {
			history.switches(time + 10'000, 7, 0);
			history.switches(time + 900'000, 0, 7);
		}
		history.call(time + 1'000'000, time + 1'100'000);
		history.switches(time + 1'200'000, 7, 0);
		return history;
	};
	CHECK(history(true, 3'000'000).said("syscall_entries") ==
	      "ok every system call's entry is followed by its exit");
	CHECK(history(true, 1'800'000).holds("syscall_entries")); // it leaves its CPU before the loss
	CHECK(history(true, 3'000'000).failures() == "");
	CHECK(history(false, 3'000'000).said("syscall_entries").starts_with("FAILS 1 system calls enter"));
	CHECK(history(true, 7'000'000).said("syscall_entries").starts_with("FAILS 1 system calls enter"));
}

TEST_CASE("check: blocks that were not written, refused probes, a full filter")
{
	CheckedHistory history = some_history();
	history.info.recorder.dropped_blocks = 1;
	history.info.traced_refused = 1;
	history.info.misses.end["sched_switch"] = 1;
	CHECK(history.fails("dropped_blocks"));
	CHECK(history.fails("filter_full"));
	CHECK(history.fails("misses"));
	CheckedHistory uncounted = some_history();
	uncounted.info.misses.end.clear();
	uncounted.info.misses.start.clear();
	CHECK(uncounted.fails("misses"));
}

TEST_CASE("check: of a thousand times one may be clamped")
{
	CheckedHistory history = some_history();
	for (std::uint64_t i = 0; i < 2000; ++i) {
		if (history.streams[1].room() < 32)
			history.streams[1].open(6'000'000 + i * 100);
		history.kernel(6'000'000 + i * 100, EDC_ID_SOFTIRQ_ENTRY + i % 2, 1);
	}
	history.info.clamped = 2;
	CHECK(history.failures() == "");
	history.info.clamped = 3;
	CHECK(history.failures().starts_with("clamped: 3 times"));
}

TEST_CASE("check: the recorder's own tokens are all there")
{
	for (const int missing : {-1, 1}) {
		CheckedHistory history = some_history();
		history.control_missing = missing;
		CHECK(history.failures().starts_with("control_tokens: "));
	}
}

TEST_CASE("check: what the recorder's passes copied is what is in the streams, or could not be written")
{
	const auto history_of = [](int copied, int written, unsigned dropped = 0) {
		CheckedHistory history = some_history(); // two packets, and one of the recorder's own
		history.recorder().post(CheckedHistory::end, EDC_ID_DRAIN_PASS, EDC_PASS_END,
					{5, 6000, samples::two(copied, 900), samples::two(12, 300), 70'000});
		history.recorder().post(CheckedHistory::end, EDC_ID_BLOCK_WRITE, 0,
					{5, 6, 7, samples::two(1, written)});
		history.info.recorder.dropped_blocks = dropped;
		return history;
	};
	CHECK(history_of(2, 1).said("passes") ==
	      "ok 13 passes of the recorder, 12 of them without blocks, copied 2 blocks, 2 packets are in the streams; "
	      "1 writes say that they took 1 of these and of the 1 of its own");
	CHECK(history_of(2, 3).holds("passes"));
	CHECK(history_of(2, 4).fails("passes"));
	CHECK(history_of(1, 1).fails("passes"));
	CHECK(history_of(3, 1).fails("passes"));
	CHECK(history_of(3, 1, 1).said("passes").starts_with("ok "));
	CHECK(history_of(4, 1, 1).fails("passes"));
	CHECK(some_history().said("passes") == "none"); // of an older recorder
}

TEST_CASE("check: user events, as the cards counted them and as they are in the streams")
{
	for (const int change : {-1, 1}) {
		CheckedHistory history = some_history();
		history.info.user_card->tokens += static_cast<std::uint64_t>(change);
		CHECK(history.failures().starts_with("user_events: "));
		CheckedHistory discarded = some_history();
		discarded.info.user_card->discarded = 3;
		auto &header = discarded.user().open(6'000'000, static_cast<std::uint64_t>(3 + change));
		header.tid = header.process = 7;
		CHECK(discarded.fails("user_events"));
	}
	CheckedHistory damaged = some_history();
	damaged.info.user_card->damaged = 1;
	damaged.info.user_card->damage = "a token of length 9";
	CHECK(damaged.said("user_damage") ==
	      "FAILS 1 blocks of instrumented processes were damaged: a token of length 9");
	CheckedHistory refused = some_history();
	refused.info.user_card->classes_refused = 1;
	CHECK(refused.fails("user_refused"));
}

TEST_CASE("check: a thread posts where it runs, and not within a system call")
{
	CheckedHistory in_call = some_history();
	in_call.call(7'000'000, 7'100'000); // nobody runs: no call
	CHECK(in_call.holds("user_times"));

	CheckedHistory history;
	history.steady_clock();
	history.switches(2'000'000, 0, 7);
	history.call(2'010'000, 2'030'000);
	history.user_event(2'020'000);
	history.switches(3'000'000, 7, 0);
	CHECK(history.said("user_times").starts_with("FAILS 1 user tokens: one is 10000 ns inside"));

	CheckedHistory early;
	early.steady_clock();
	early.switches(2'000'000, 9, 8);
	early.user_event(2'990'000); // 10 us before its thread comes
	early.switches(3'000'000, 8, 7);
	early.switches(4'000'000, 7, 0);
	CHECK(early.said("user_times").starts_with("FAILS 1 user tokens: one is 10000 ns inside"));

	CheckedHistory unseen; // a switch without a token: the kernel hides a thread
	unseen.steady_clock();
	unseen.switches(2'000'000, 9, 8);
	unseen.user_event(2'990'000);
	unseen.switches(3'000'000, 7, 0);
	CHECK(unseen.holds("user_times"));
}

TEST_CASE("check: idle states alternate")
{
	CheckedHistory history = some_history();
	history.kernel(5'000'100, EDC_ID_CPU_IDLE, 1);
	CHECK(history.holds("idle_states"));
	history.kernel(5'000'200, EDC_ID_CPU_IDLE, 2); // what ended the first is missing
	CHECK(history.said("idle_states").starts_with("FAILS"));
	CheckedHistory exits = some_history();
	exits.kernel(5'000'100, EDC_ID_CPU_IDLE, 0xffff); // what began the second is missing
	CHECK(exits.said("idle_states").starts_with("FAILS"));
	CheckedHistory none;
	none.steady_clock();
	CHECK(none.said("idle_states").starts_with("not witnessed"));
	CheckedHistory usage = some_history();
	CHECK(usage.said("idle_usage").starts_with("not witnessed"));
	for (auto *counts : {&usage.info.kernel_counts.start, &usage.info.kernel_counts.end}) {
		(*counts)->idle_before = (*counts)->before;
		(*counts)->idle_after = (*counts)->after;
		(*counts)->idle_ends = 100;
	}
	usage.info.kernel_counts.end->idle_ends = 102; // one, and one whose count was on its way
	CHECK(usage.holds("idle_usage"));
	usage.info.kernel_counts.end->idle_ends = 103;
	CHECK(usage.fails("idle_usage"));
	usage.info.kernel_counts.end->idle_ends = 99;
	CHECK(usage.said("idle_usage").starts_with("not witnessed"));
}

TEST_CASE("check: of a CPU that was offline at the start, completed faults are not seen")
{
	const auto history = [](unsigned begun, unsigned completed) {
		CheckedHistory history = some_history();
		history.info.programs.insert(history.info.programs.end(), {"page_fault_user", "minor_fault"});
		for (unsigned i = 0; i < begun; ++i)
			history.kernel(7'000'000 + i, EDC_ID_PAGE_FAULT_USER, 4, {0});
		for (unsigned i = 0; i < completed; ++i)
			history.kernel(8'000'000 + i, EDC_ID_MINOR_FAULT, 1);
		return history;
	};
	CHECK(some_history().said("completed_faults") == "none");
	CHECK(history(1000, 990).holds("completed_faults"));
	CHECK(history(10, 0).holds("completed_faults")); // of a program that may not do what it does
	CHECK(history(1000, 0).fails("completed_faults"));
}

TEST_CASE("check: totals of the kernel, and what a hidden thread leaves of them")
{
	CheckedHistory history = some_history();
	history.info.kernel_counts.end->context_switches += 1;
	CHECK(history.fails("context_switches"));
	history.info.kernel_counts.start->context_switches = 1ull << 33;
	CHECK(
	    history.said("context_switches").starts_with("FAILS context switches: the count of /proc/stat went back"));
	CheckedHistory softirqs = some_history();
	softirqs.info.kernel_counts.start->softirqs = 10;
	softirqs.info.kernel_counts.end->softirqs = 11;
	CHECK(softirqs.holds("softirqs"));
	softirqs.info.kernel_counts.end->softirqs = 12;
	CHECK(softirqs.fails("softirqs"));
	softirqs.info.kernel_counts.end->softirqs = 10;
	CHECK(softirqs.fails("softirqs"));
	softirqs.info.kernel_counts.end->softirqs = 4;
	CHECK(softirqs.said("softirqs") == "FAILS softirqs: the count of /proc/stat went back, from 10 to 4");
	softirqs.info.kernel_counts.start->softirqs = (1ull << 32) + 4; // one CPU's count started again
	CHECK(softirqs.said("softirqs").starts_with("not checked softirqs: the count of /proc/stat went back"));
	CheckedHistory thread_creations = some_history();
	thread_creations.info.kernel_counts.start->thread_creations = 10;
	thread_creations.info.kernel_counts.end->thread_creations = 12; // two on their way
	CHECK(thread_creations.holds("thread_creations"));
	thread_creations.info.kernel_counts.end->thread_creations = 13;
	CHECK(thread_creations.fails("thread_creations"));

	CheckedHistory hidden = some_history();
	hidden.recorder().post(801'000'001, EDC_ID_THREAD_STATE, 0,
			       {samples::two(20, 20), samples::two(1, 0xfff0000), 0, 0, 0, EDC_THREAD_HIDDEN});
	CHECK(hidden.said("context_switches").starts_with("not checked"));
	hidden.info.kernel_counts.end->context_switches += 5; // its own have no tokens
	CHECK(hidden.said("context_switches").starts_with("not checked"));
	hidden.info.kernel_counts.end->context_switches -= 7; // of the first one nobody knows whether it was counted
	CHECK(hidden.fails("context_switches"));
}

TEST_CASE("check: migrations by the threads' own counters")
{
	const auto migrating = [](std::uint64_t kernel, unsigned dest) {
		CheckedHistory history;
		history.set(0, 0, 0);
		history.sync(1'000'000, 1'000'000);
		history.figures(1'500'000, EDC_WHEN_START, 0, 0, 5);
		history.sync(101'000'000, 101'000'000);
		history.kernel(102'000'000, EDC_ID_SCHED_MIGRATE_TASK, dest, {samples::two(7, 120 << 16)});
		history.figures(103'000'000, EDC_WHEN_END, 0, 0, 5 + kernel);
		history.sync(201'000'000, 201'000'000);
		return history;
	};
	CHECK(migrating(1, 1).holds("thread_migrations"));
	CHECK(migrating(0, 1).fails("thread_migrations"));
	CHECK(migrating(2, 1).fails("thread_migrations"));
	CHECK(migrating(0, 0).holds("thread_migrations")); // to where it is: the kernel does not count it
	CHECK(migrating(0, 0).failures() == "");
}

namespace {

// Threads 11, 12 ... run for `each_ns` one after the other; the kernel counts as much, and `more` besides. Then there
// are some that sleep.
CheckedHistory turns(std::uint64_t each_ns, const std::vector<std::int64_t> &more, std::uint64_t switched = 1,
		     int asleep = 0)
{
	CheckedHistory history;
	history.set(0, 0, 0);
	history.sync(CheckedHistory::begin, CheckedHistory::begin);
	std::int32_t tid = 11;
	for (std::size_t i = 0; i < more.size(); ++i)
		history.figures(2'000'000, EDC_WHEN_START, 0, 0, 0, tid++);
	for (int i = 0; i < asleep; ++i)
		history.figures(2'000'000, EDC_WHEN_START, 0, 0, 0, tid + i);
	std::uint64_t time = 5'000'000;
	history.switches(time, 0, 11);
	for (std::int32_t running = 11; running < tid; ++running)
		history.switches(time += each_ns, running, running + 1 < tid ? running + 1 : 0);
	history.sync(time + 1'000'000, time + 1'000'000);
	tid = 11;
	for (const std::int64_t ns : more)
		history.figures(time + 2'000'000, EDC_WHEN_END, switched, each_ns + static_cast<std::uint64_t>(ns), 0,
				tid++);
	for (int i = 0; i < asleep; ++i)
		history.figures(time + 2'000'000, EDC_WHEN_END, 0, 0, 0, tid + i);
	return history;
}

} // namespace

TEST_CASE("check: a thread's context switches are the kernel's")
{
	CHECK(turns(20'000'000, {0, 0}).holds("thread_switches"));
	CHECK(turns(20'000'000, {0, 0}, 2).fails("thread_switches"));
	CHECK(turns(20'000'000, {0, 0}, 0).fails("thread_switches"));
}

TEST_CASE("check: two threads may be off by what a CPU that stands still moves, the sum may not")
{
	constexpr std::int64_t ms = 1'000'000;
	CHECK(turns(100'000'000, {0, 0, 0, 0}).failures() == "");
	CHECK(turns(100'000'000, {5 * ms, -5 * ms, 0, 0}).said("thread_cpu_time").find("disagree") ==
	      std::string::npos);
	const std::string stood = turns(100'000'000, {30 * ms, -30 * ms, 0, 0}).said("thread_cpu_time");
	CHECK(stood.starts_with("ok"));
	CHECK(stood.find("2 threads disagree") != std::string::npos);
	CHECK(stood.find("a CPU stalls") != std::string::npos);
	CHECK(turns(100'000'000, {30 * ms, -15 * ms, -15 * ms, 0}).fails("thread_cpu_time"));
	CHECK(turns(100'000'000, {60 * ms, -60 * ms, 0, 0}).fails("thread_cpu_time"));
	CHECK(turns(100'000'000, {30 * ms, 0, 0, 0}).fails("total_cpu_time"));
	CHECK(turns(100'000'000, {30 * ms, 0, 0, 0}).fails("thread_cpu_time"));
	// Idle is not in the sum.
	CheckedHistory to_idle = turns(100'000'000, {0, 0, 0, -40 * ms});
	CHECK(to_idle.said("total_cpu_time").starts_with("not checked"));
	CHECK(to_idle.failures() == "");
	CHECK(turns(100'000'000, {0, 0, 0, -60 * ms}).fails("thread_cpu_time"));
	CHECK(turns(100'000'000, {-49 * ms, -49 * ms, -49 * ms, 0}).fails("total_cpu_time"));
	const auto stolen = [](std::int64_t off) {
		CheckedHistory history = turns(100'000'000, {off, 0, 0, 0});
		history.info.kernel_counts.start->steal_ns = {0};
		history.info.kernel_counts.end->steal_ns = {10'000'000}; // in ticks, so it may have been 20 ms
		return history.fails("total_cpu_time");
	};
	CHECK_FALSE(stolen(18 * ms));
	CHECK(stolen(30 * ms));
}

TEST_CASE("check: a virtual machine that counts no steal time may move time between a quarter of the threads that ran")
{
	constexpr std::int64_t ms = 1'000'000;
	const auto said = [](std::vector<std::int64_t> more, bool is_virtual, std::uint64_t steal_ns, int ran = 12) {
		more.resize(static_cast<std::size_t>(ran));
		CheckedHistory history = turns(50 * ms, more, 1, 20);
		history.info.is_virtual = is_virtual;
		history.info.kernel_counts.start->steal_ns = history.info.kernel_counts.end->steal_ns = {0, steal_ns};
		return history.said("thread_cpu_time");
	};
	const std::vector<std::int64_t> three = {20 * ms, -10 * ms, -10 * ms};
	const std::string moved = said(three, true, 0);
	CHECK(moved.starts_with("not checked"));
	CHECK(moved.find("does not count steal time") != std::string::npos);
	CHECK(said(three, true, 10 * ms).starts_with("FAILS")); // this one does
	CHECK(said(three, false, 0).starts_with("FAILS"));
	CHECK(said(three, true, 0, 11).starts_with("FAILS"));
	CHECK(said({49 * ms, -25 * ms, -24 * ms}, true, 0).starts_with("not checked"));
	CHECK(said({56 * ms, -28 * ms, -28 * ms}, true, 0).starts_with("FAILS"));
	CHECK(said({20 * ms, -20 * ms}, true, 0).starts_with("ok"));
}

TEST_CASE("check: a new thread may be charged from its wake-up on if its CPU was idle")
{
	constexpr std::uint64_t ms = 1'000'000;
	const auto said = [](std::int32_t before, std::uint64_t charged_ns) {
		CheckedHistory history;
		history.set(0, 0, 0);
		history.sync(CheckedHistory::begin, CheckedHistory::begin);
		history.kernel(100 * ms, EDC_ID_SCHED_WAKEUP_NEW, 0,
			       {samples::two(20, 20), samples::two(1, 120), 0x61, 0});
		history.switches(400 * ms, before, 20); // the virtual CPU was stopped
		history.switches(500 * ms, 20, 0);
		history.figures(501 * ms, EDC_WHEN_END, 1, charged_ns, 0, 20);
		history.sync(CheckedHistory::end, CheckedHistory::end);
		return history.said("thread_cpu_time");
	};
	CHECK(said(0, 100 * ms).starts_with("ok"));
	CHECK(said(0, 400 * ms).starts_with("ok"));
	CHECK(said(0, 430 * ms).starts_with("FAILS"));
	CHECK(said(21, 400 * ms).starts_with("FAILS"));
}

TEST_CASE("check: what the tolerance covers is not checked")
{
	CHECK(turns(100'000'000, {0, 0}).holds("total_cpu_time"));
	CHECK(turns(1'000'000, {0}).said("total_cpu_time").starts_with("not checked"));
	CHECK(turns(1'000'000, {0}).said("thread_cpu_time").starts_with("not checked"));
	CHECK(turns(1'000'000, {300'000'000}).fails("total_cpu_time"));
	CHECK(turns(12'000'000, {0}).holds("thread_cpu_time"));
}

TEST_CASE("check: events that nothing else counts are said")
{
	CheckedHistory history = some_history();
	CHECK(history.said("unwitnessed") == "none");
	history.info.classes.push_back({EDC_ID_SCHED_WAKING, "sched_waking", "sched", 0, 0, 0, 0});
	CHECK(history.said("unwitnessed").starts_with("not witnessed 0 events that only the probes count"));
}

TEST_CASE("check: the recorder's own calls are seen, and their times lie between the reads of the TSC")
{
	CheckedHistory missing = some_history();
	missing.info.witness.end[0].entries = 985;
	CHECK(missing.said("calls_witnessed") ==
	      "FAILS system calls: at the end 1000 were made on CPU 0, the probes saw 985 entries and 1000 exits");
	missing.info.witness.end[0] = {0, 1000, 1000, 985, true, 1000, 400, 0, 100};
	CHECK(missing.fails("calls_witnessed"));
	CheckedHistory more = some_history();
	more.info.witness.start[0].entries = 1001;
	CHECK(more.fails("calls_witnessed"));
	more.info.witness.start[0].alone = false; // another thread's
	CHECK(more.said("calls_witnessed").starts_with("not witnessed"));
	more.info.witness.start[0].entries = 999;
	CHECK(more.fails("calls_witnessed"));

	CheckedHistory late = some_history();
	late.info.witness.start[0].outside = 101;
	CHECK(late.failures().starts_with(
	    "probe_times: probes' times: at the start, tokens on CPU 0 are up to 101 ns outside"));
	CheckedHistory other = some_history();
	other.info.witness.start.push_back({1, 1000, 1000, 1000, true, 0, 0, 0, 0});
	CHECK(other.said("probe_times").starts_with("not witnessed probes' times: none on 1 of 2 CPUs"));
	CheckedHistory none = some_history();
	none.info.witness.end.clear();
	CHECK(none.said("probe_times").starts_with("not witnessed probes' times: none at the end"));
	CHECK(none.said("calls_witnessed").starts_with("not witnessed"));
}

TEST_CASE("check: a clock that is off by more than 10 us in 100 ms fails")
{
	const auto said = [](std::uint64_t last, std::uint64_t off, const char *id) {
		CheckedHistory history;
		history.set(0, 0, 0);
		history.sync(1'000'000, 1'000'000);
		history.sync(101'000'000 + off, 101'000'000);
		history.sync(last + off, last);
		return history.said(id);
	};
	CHECK(said(201'000'000, 0, "clock").starts_with("ok 3 sync events; clock bound at most 72 ns"));
	CHECK(said(201'000'000, 9'900, "clock").starts_with("ok"));
	CHECK(said(201'000'000, 10'100, "clock").starts_with("FAILS"));
	CHECK(said(201'000'000, 0, "clock_gap") == "none");
	CHECK(said(1'101'000'000, 0, "clock_gap") == "none");
	CHECK(said(1'102'000'000, 10'100, "clock").starts_with("FAILS")); // the first interval is short
	CHECK(said(1'102'000'000, 0, "clock_gap") == "not witnessed the clock is not witnessed for 1.001 s, from 0.101 "
						     "s on, because the recorder did not run: its bound "
						     "there is 90 ns");
	CheckedHistory widths;
	widths.set(0, 0, 0);
	widths.sync(1'000'000, 1'000'000, 100);
	widths.sync(101'000'000, 101'000'000, 40);
	CHECK(widths.said("clock").find("clock bound at most 132 ns") != std::string::npos);
	CheckedHistory one;
	one.sync(1'000'000, 1'000'000);
	CHECK(one.fails("clock"));
	CheckedHistory asleep;
	asleep.set(0, 0, 0);
	asleep.sync(1'000'000, 1'000'000);
	asleep.sync(2'000'000'000, 1'900'000'000); // it is wide, and no failure
	CHECK(asleep.said("clock").starts_with("not witnessed"));
	CHECK(asleep.said("clock_gap").starts_with("not witnessed"));
	// What it went off in a time without a look is steered back within a second, and is that time's.
	const auto steered_back = [](std::uint64_t at, const char *id) {
		CheckedHistory history;
		history.info.end.time = 5'000'000'000;
		history.set(0, 0, 0);
		history.sync(1'000'000, 1'000'000);
		history.sync(101'000'000, 101'000'000);
		for (std::uint64_t time = 2'000'000'000; time <= 4'000'000'000; time += 400'000'000)
			history.sync(time < at ? time + 500'000 : time, time);
		return history.said(id);
	};
	CHECK(steered_back(2'400'000'000, "clock").starts_with("ok"));
	CHECK(steered_back(2'400'000'000, "clock_gap").find("its bound there is 500") != std::string::npos);
	CHECK(steered_back(3'200'000'000, "clock").starts_with("ok"));
	CHECK(steered_back(3'600'000'000, "clock").starts_with("FAILS"));
}

TEST_CASE("check: the system's clock was set")
{
	const auto said = [](std::initializer_list<std::int64_t> ahead_of_monotonic_ns, bool in_description) {
		CheckedHistory history;
		history.set(0, 0, 0);
		std::uint64_t time = 1'000'000;
		std::int64_t before = 0;
		std::string steps;
		for (const std::int64_t ahead_ns : ahead_of_monotonic_ns) {
			if (before && before != ahead_ns)
				steps += fmt::format("{}{}{:+}", steps.empty() ? "" : " ", time, ahead_ns - before);
			history.sync(time, time, 40, time + static_cast<std::uint64_t>(ahead_ns));
			before = ahead_ns;
			time += 100'000'000;
		}
		if (in_description)
			history.environment = "real_time_steps = \"" + steps + "\";";
		return history.said("real_time");
	};
	CHECK(said({1'000'000'000, 1'000'900'000}, true) == "none");
	CHECK(said({1'000'000'000, 8'201'000'000'000}, true) ==
	      "ok the system's clock was set by +8200.000 s at 0.1 s: times of day before and after are those that it "
	      "showed");
	CHECK(said({2'000'000'000, 1'500'000'000, 1'500'000'000, 3'500'000'000}, false) ==
	      "not witnessed the system's clock was set by -0.500 s at 0.1 s, by +2.000 s at 0.3 s: times of day are "
	      "true on one side of that only");
}

TEST_CASE("check: a snapshot may begin before the first clock set that it has")
{
	const auto said = [](std::uint64_t base) {
		CheckedHistory history;
		history.sync(1'000'000, 1'000'000); // the set that held here was forgotten
		history.set(7, 4'000'000, base, 2); // 2 / 2^32 too fast
		history.sync(101'000'000, 101'000'000);
		history.sync(201'000'000, 201'000'000);
		return history.said("clock");
	};
	CHECK(said(4'000'000).starts_with("ok 3 sync events; clock bound at most "));
	CHECK(said(4'000'000).find("of 2 intervals") != std::string::npos);
	CHECK(said(4'020'000).starts_with("FAILS"));
}

TEST_CASE("check: clock sets that step, or are missing")
{
	const auto said = [](unsigned number, std::uint64_t base) {
		CheckedHistory history;
		history.set(0, 0, 0);
		history.sync(1'000'000, 1'000'000);
		history.set(number, 50'000'000, base);
		history.sync(101'000'000, 101'000'000);
		return history.said("clock_sets");
	};
	CHECK(said(1, 50'000'000) == "ok 2 clock sets: each starts on the line of the one before it");
	CHECK(said(1, 50'000'030).starts_with("FAILS of 2 clock sets 1 do not start"));
	CHECK(said(1, 49'999'970).starts_with("FAILS"));
	CHECK(said(2, 50'000'000).starts_with("FAILS"));
}

TEST_CASE("check: the clock bound is largest where a set takes over")
{
	// The line is 10^-4 too fast from 2 ms to 50 ms, and then as the truth is from the first sync to the last on
	// average.
	constexpr std::uint32_t fast = 429'497; // 10^-4 of 2^32
	CheckedHistory whole;
	whole.set(0, 0, 0);
	whole.sync(1'000'000, 1'000'000);
	whole.set(1, 2'000'000, 2'000'000, fast);
	whole.set(2, 50'000'000, 50'004'800);
	whole.sync(101'004'800, 101'000'000);
	// At 50,000,000 ns the truth is 1,000,000 + 49/100 of 100,004,800 = 50,002,352; the line has 50,004,800 there.
	CHECK(whole.said("clock").find("clock bound at most 2520 ns") != std::string::npos);
}

TEST_CASE("check: the skew of the CPUs' clocks was measured")
{
	CheckedHistory history = some_history();
	CHECK(history.said("clock_skew") == "ok the clocks of 2 CPUs are at most 30 ns apart");
	history.info.tsc_skew = {};
	CHECK(history.said("clock_skew").starts_with("not witnessed"));
	history.info.tsc_skew.start = {10, 0, 1, 2};
	CHECK(history.fails("clock_skew"));
	history.info.tsc_skew.start = {10, 20, 1, 4};
	CHECK(history.said("clock_skew").starts_with("not checked the clocks of 2 CPUs"));
}

TEST_CASE("check: the process that opens files for stacks was lost")
{
	CheckedHistory history = some_history();
	CHECK(!history.fails("stacks_opener"));
	history.info.stacks.unwinding.opener_lost = true;
	CHECK(history.fails("stacks_opener"));
}

TEST_CASE("check: a bound that is wide only because the CPUs' clocks could not be compared closely is not witnessed")
{
	CheckedHistory history = some_history();
	history.info.tsc_skew.start = history.info.tsc_skew.end = {1'000'000, 20, 1, 2};
	CHECK(history.fails("clock"));
	history.info.tsc_skew.start = history.info.tsc_skew.end = {100'000, 900'000, 1, 2};
	CHECK(history.said("clock").starts_with("not witnessed"));
}

TEST_CASE("check: an incomplete recording says so and nothing of counts")
{
	CheckedHistory history = some_history();
	history.info.state = "incomplete";
	CHECK(history.fails("complete"));
	CHECK(history.said("conservation").starts_with("not checked"));
	history.info.present = false;
	CHECK(history.fails("complete"));
}

} // namespace test_check
