// SPDX-License-Identifier: MIT
// What the probes only counted (record --count-only) against the kernel's own figures.
#include <map>

#include <catch2/catch.hpp>

#include "answers/check/counted_periods.h"

namespace test_counted_check {

using namespace monitor::check;

namespace {

RecordingInfo counted_info()
{
	RecordingInfo info;
	info.present = true;
	info.state = "complete";
	info.cpus = 2;
	info.statistics.emplace();
	info.statistics->counts_only = true;
	info.statistics->hidden_threads = 0;
	info.programs = {"sched_switch",      "sched_wakeup_new", "softirq_entry", "irq_handler_entry",
			 "local_timer_entry", "sys_enter",        "minor_fault"};
	KernelCounts &start = info.kernel_counts.start.emplace(), &end = info.kernel_counts.end.emplace();
	start.context_switches = 1000;
	start.interrupts = 500;
	start.softirqs = 100;
	start.thread_creations = 10;
	start.interrupt_rows = {{"LOC", 400}, {"NMI", 100}};
	start.counted_before = {{"sched_switch", 50}, {"softirq_entry", 4}, {"irq_handler_entry", 1}};
	start.counted_after = {{"sched_switch", 60}, {"softirq_entry", 6}, {"irq_handler_entry", 2}};
	end.context_switches = 1200;
	end.interrupts = 560;
	end.softirqs = 130;
	end.thread_creations = 15;
	end.interrupt_rows = {{"LOC", 440}, {"NMI", 110}};
	end.counted_before = {{"sched_switch", 250},
			      {"softirq_entry", 33},
			      {"irq_handler_entry", 11},
			      {"local_timer_entry", 39},
			      {"sched_wakeup_new", 5}};
	end.counted_after = {{"sched_switch", 255},
			     {"softirq_entry", 36},
			     {"irq_handler_entry", 12},
			     {"local_timer_entry", 40},
			     {"sched_wakeup_new", 5}};
	info.fault_counts = {{"minor_fault", 77}};
	ClassCounts &faults = info.classes.emplace_back();
	faults.name = "minor_fault";
	faults.seen = 77;
	info.witness.start = info.witness.end = {{0, 1000, 1000, 0, true}};
	return info;
}

std::map<std::string, Verdict> judged(const RecordingInfo &info)
{
	Statements statements;
	judge_counted(info, statements);
	std::map<std::string, Verdict> verdicts;
	for (const Statement &statement : statements)
		verdicts[statement.id] = statement.verdict;
	return verdicts;
}

} // namespace

TEST_CASE("counted check: what the probes counted is what the kernel counted")
{
	for (const auto &[id, verdict] : judged(counted_info())) {
		INFO(id);
		CHECK(verdict == Verdict::holds);
	}
	CHECK(judged(counted_info()).size() == 6);
}

TEST_CASE("counted check: more or fewer than the kernel counted")
{
	// 200 by the kernel, 190 to 205 by the probes, and one on each of two CPUs may be on its way.
	for (const auto &[kernel, verdict] :
	     {std::pair(187, Verdict::fails), {188, Verdict::holds}, {207, Verdict::holds}, {208, Verdict::fails}}) {
		RecordingInfo info = counted_info();
		info.kernel_counts.end->context_switches =
		    info.kernel_counts.start->context_switches + static_cast<unsigned>(kernel);
		INFO(kernel);
		CHECK(judged(info)["context_switches"] == verdict);
	}
	RecordingInfo info = counted_info();
	info.kernel_counts.end->interrupts += 100;
	CHECK(judged(info)["interrupts"] == Verdict::fails);
	info.kernel_counts.end->interrupt_rows["NMI"] += 100; // no probe sees these
	CHECK(judged(info)["interrupts"] == Verdict::holds);
	info.kernel_counts.end->softirqs = 150;
	CHECK(judged(info)["softirqs"] == Verdict::fails);
	info.kernel_counts.end->thread_creations = 20;
	CHECK(judged(info)["thread_creations"] == Verdict::fails);
	info.classes.front().seen = 76;
	CHECK(judged(info)["fired_minor_fault"] == Verdict::fails);
	info.witness.end.front().entries = 999;
	CHECK(judged(info)["calls_witnessed"] == Verdict::fails);
}

TEST_CASE("counted check: a count of the kernel goes back only where a 32-bit one may have started again")
{
	RecordingInfo info = counted_info();
	info.kernel_counts.start->interrupts = info.kernel_counts.end->interrupts + 1;
	CHECK(judged(info)["interrupts"] == Verdict::fails);
	info.kernel_counts.start->interrupts = info.kernel_counts.end->interrupts + (1ull << 32) - 60;
	CHECK(judged(info)["interrupts"] == Verdict::not_checked);
	info.kernel_counts.start->context_switches = info.kernel_counts.end->context_switches + (1ull << 32);
	CHECK(judged(info)["context_switches"] == Verdict::fails);
}

TEST_CASE("counted check: in days so much is counted that a 32-bit count may have started again unseen")
{
	const auto verdict = [](std::int64_t by_probes, std::int64_t by_kernel) {
		RecordingInfo info = counted_info();
		KernelCounts &start = *info.kernel_counts.start, &end = *info.kernel_counts.end;
		start.softirqs = 1ull << 40;
		end.softirqs = (1ull << 40) + static_cast<std::uint64_t>(by_kernel);
		start.counted_before["softirq_entry"] = start.counted_after["softirq_entry"] = 0;
		end.counted_before["softirq_entry"] = end.counted_after["softirq_entry"] =
		    static_cast<std::uint64_t>(by_probes);
		return judged(info)["softirqs"];
	};
	constexpr std::int64_t restart = 1ll << 32, days = 6'000'000'000, hours = 3'000'000'000, minutes = 30'000'000;
	CHECK(verdict(days, days) == Verdict::holds);
	CHECK(verdict(days, days - restart) == Verdict::not_checked);
	CHECK(verdict(days, days + restart) == Verdict::fails);
	CHECK(verdict(hours, hours - restart) == Verdict::not_checked);
	CHECK(verdict(minutes, minutes - 1000) == Verdict::fails);
	CHECK(verdict(minutes, -1000) == Verdict::fails);
}

TEST_CASE("counted check: what cannot be compared is not")
{
	RecordingInfo hiding = counted_info();
	hiding.statistics->hidden_threads = 3;
	hiding.kernel_counts.end->context_switches += 1000;
	CHECK(judged(hiding)["context_switches"] == Verdict::not_checked);
	hiding.kernel_counts.end->context_switches -= 1200;
	CHECK(judged(hiding)["context_switches"] == Verdict::fails);

	RecordingInfo lossy = counted_info();
	lossy.misses.end = {{"sched_switch", 1}};
	CHECK(judged(lossy)["kernel_figures"] == Verdict::not_checked);
	CHECK(!judged(lossy).contains("context_switches"));

	RecordingInfo chosen = counted_info();
	chosen.filter.command = true;
	CHECK(judged(chosen)["context_switches"] == Verdict::holds); // of all, with -p, too
	CHECK(!judged(chosen).contains("softirqs"));

	RecordingInfo families = counted_info();
	families.programs = {"sys_enter"};
	CHECK(!judged(families).contains("context_switches"));
	CHECK(!judged(families).contains("interrupts"));
}

} // namespace test_counted_check
