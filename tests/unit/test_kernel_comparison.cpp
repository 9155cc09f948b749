// SPDX-License-Identifier: MIT
// The tokens against the kernel's own figures: what lies at the edges of reading these, and whose figures are whose.
#include <catch2/catch.hpp>

#include "answers/check/kernel_comparison.h"
#include "answers/check/kernel_totals.h"
#include "monitor/card.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace test_kernel_comparison {

using namespace monitor;
using check::Verdict;

namespace {

const std::string events =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new",
			 "u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];") +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXEC, "sched_process_exec",
			 "u16_t compat; s32_t pid; s32_t old_pid; text_t comm[16];") +
    samples::event_block(
	EDC_ID_THREAD_STATE, "thread_state",
	"u16_t state; s32_t pid; s32_t tgid; s32_t ppid; u16_t cpu; u16_t syscall; text_t comm[16]; u64_t cgroup; "
	"u32_t flags; s32_t prio;") +
    samples::event_block(EDC_ID_EXIT_COUNTS, "thread_counts",
			 "u16_t when; s32_t pid; s32_t tgid; u64_t nvcsw; u64_t nivcsw; u64_t sum_exec_runtime; u64_t "
			 "min_flt; u64_t maj_flt;") +
    samples::event_block(EDC_ID_SYS_ENTER, "sys_enter", "u12_t id; abi_t abi;");

std::uint64_t pair(std::uint32_t first, std::uint32_t second)
{
	return first | static_cast<std::uint64_t>(second) << 32;
}

check::Statement judged(std::vector<samples::StreamWriter> &cpus, std::uint64_t kernel_switches, const char *id)
{
	analyze::RecordingInfo info;
	info.present = true;
	info.state = "complete";
	info.start.time = 120;
	info.end.time = 990'000;
	info.kernel_counts.start = analyze::KernelCounts{100, 110, 5, 0, {}, {}};
	info.kernel_counts.end = analyze::KernelCounts{1000, 1010, 5 + kernel_switches, 0, {}, {}};
	trace::Trace trace = samples::trace(cpus, events);
	analyze::ThreadFold fold(trace, info);
	check::KernelComparison kernel(fold.kinds(), trace.description().clock, info);
	fold.add(kernel);
	check::KernelTotals totals(trace.description(), fold.kinds(), info);
	trace::merge(trace, {}, [&](const trace::Event &event) {
		fold.event(event);
		kernel.event(event);
		totals.event(event);
	});
	check::Statements statements;
	totals.judge(kernel.any_hidden(), statements);
	kernel.judge(statements);
	for (const check::Statement &statement : statements)
		if (std::string_view(statement.id) == id)
			return statement;
	throw std::runtime_error("nothing is said of it");
}

} // namespace

TEST_CASE("kernel comparison: a CPU's first token after a reading may be of a switch that was counted in it")
{
	std::vector<samples::StreamWriter> cpus{{0, 0}, {1, 0}};
	for (samples::StreamWriter &cpu : cpus)
		cpu.open(50);
	for (const std::uint64_t time : {200u, 300u})
		cpus[0].post(time, EDC_ID_SCHED_SWITCH, 1, {pair(time == 200 ? 0 : 7, time == 200 ? 7 : 0)});
	cpus[1].post(150, EDC_ID_SYS_ENTER, 39);
	cpus[1].post(900, EDC_ID_SYS_ENTER, 39);
	const bool between = GENERATE(false, true);
	if (between)
		cpus[1].post(2000, EDC_ID_SYS_ENTER, 39);
	cpus[1].post(900'000, EDC_ID_SCHED_SWITCH, 1, {pair(9, 0)}); // a virtual CPU stood still
	CHECK(judged(cpus, 2, "context_switches").verdict == Verdict::holds);
	CHECK(judged(cpus, 3, "context_switches").verdict == (between ? Verdict::fails : Verdict::holds));
	CHECK(judged(cpus, 4, "context_switches").verdict == Verdict::fails);
	CHECK(judged(cpus, 0, "context_switches").verdict == Verdict::fails);
}

// Threads 7 and 8 of process 7: 8 runs a program and takes over the number. 7, the old leader, ends as 8.
TEST_CASE("kernel comparison: the kernel's figures stay those of the thread that takes over a number")
{
	std::vector<samples::StreamWriter> cpus{{0, 0}, {1, 0}};
	for (samples::StreamWriter &cpu : cpus)
		cpu.open(150);
	cpus[0].post(160, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(7, 7), pair(1, 120), 0x61, 0});
	cpus[0].post(161, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(8, 7), pair(7, 120), 0x61, 0});
	cpus[0].post(170, EDC_ID_SCHED_SWITCH, 0, {pair(0, 8)});
	cpus[1].post(171, EDC_ID_SCHED_SWITCH, 0, {pair(0, 7)});
	for (const std::uint64_t time : {200u, 220u, 240u, 260u})
		cpus[1].post(time, EDC_ID_SCHED_SWITCH, 1, {time % 40 ? pair(0, 7) : pair(7, 0)});
	const std::uint64_t end_of_leader = GENERATE(300u, 500u);
	cpus[1].post(end_of_leader, EDC_ID_SCHED_SWITCH, 16, {pair(8, 0)});
	cpus[1].post(end_of_leader + 1, EDC_ID_EXIT_COUNTS, 2, {pair(8, 7), 3, 0, 100, 0, 0});
	cpus[0].post(400, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), 0x62, 0});
	cpus[0].post(600, EDC_ID_SCHED_SWITCH, 16, {pair(7, 0)});
	cpus[0].post(601, EDC_ID_EXIT_COUNTS, 2, {pair(7, 7), 1, 0, 430, 0, 0});
	const check::Statement said = judged(cpus, 9, "thread_switches");
	INFO(said.text);
	CHECK(said.verdict == Verdict::holds);
}

// Thread 9 is hidden: the switch from it to 7 has no token, and 7 runs on to the end of the recording.
TEST_CASE("kernel comparison: the time of a thread that still runs after a hidden one is not judged")
{
	constexpr std::uint64_t at_end = 900'000'000;
	std::vector<samples::StreamWriter> cpus{{0, 0}, {EDC_CPU_UNKNOWN, 0}};
	for (samples::StreamWriter &cpu : cpus)
		cpu.open(50);
	const bool hides = GENERATE(true, false);
	const auto list = [&](std::uint64_t time, int tid, std::uint32_t flags) {
		cpus[1].post(time, EDC_ID_THREAD_STATE, 0, {pair(tid, tid), pair(1, 0), 0x61, 0, 0, pair(flags, 120)});
	};
	const auto counts = [&](std::uint64_t time, unsigned when, std::uint64_t ns) {
		cpus[1].post(time, EDC_ID_EXIT_COUNTS, when, {pair(7, 7), 0, 0, ns, 0, 0});
	};
	list(101, 9, hides ? EDC_THREAD_HIDDEN : 0);
	list(103, 7, 0);
	counts(104, EDC_WHEN_START, 0);
	cpus[0].post(200, EDC_ID_SCHED_SWITCH, 1, {pair(0, 9)});
	list(at_end, 7, EDC_THREAD_RUNNING);
	counts(at_end + 1, EDC_WHEN_END, at_end / 2);
	const check::Statement said = judged(cpus, 1, hides ? "cpu_time_beside_hidden" : "thread_cpu_time");
	INFO(said.text);
	CHECK(said.verdict == (hides ? Verdict::not_checked : Verdict::fails));
}

// Thread 5 has 50 ms that the kernel counts for 7, its neighbour, which once came after the hidden thread 9. A stall
// may have moved another 50 ms of 7 to idle.
TEST_CASE("kernel comparison: time that moved to a thread beside a hidden one is missing from no sum")
{
	constexpr std::uint64_t ms = 1'000'000, at_end = 500 * ms;
	std::vector<samples::StreamWriter> cpus{{0, 0}, {EDC_CPU_UNKNOWN, 0}};
	for (samples::StreamWriter &cpu : cpus)
		cpu.open(50);
	const std::uint64_t kernel_ms = GENERATE(50, 0, 100); // of 7
	const auto list = [&](std::uint64_t time, int tid, std::uint32_t flags) {
		cpus[1].post(time, EDC_ID_THREAD_STATE, 0, {pair(tid, tid), pair(1, 0), 0x61, 0, 0, pair(flags, 120)});
	};
	const auto counts = [&](std::uint64_t time, int tid, unsigned when, std::uint64_t switches, std::uint64_t ns) {
		cpus[1].post(time, EDC_ID_EXIT_COUNTS, when, {pair(tid, tid), switches, 0, ns, 0, 0});
	};
	for (const auto &[time, tid] : {std::pair(101u, 9), {102u, 7}, {104u, 5}}) {
		list(time, tid, tid == 9 ? EDC_THREAD_HIDDEN : 0);
		if (tid != 9)
			counts(time + 1, tid, EDC_WHEN_START, 0, 0);
	}
	cpus[0].post(200, EDC_ID_SCHED_SWITCH, 1, {pair(0, 9)});
	cpus[0].post(300, EDC_ID_SCHED_SWITCH, 1, {pair(7, 5)}); // from 9 to 7 unseen
	cpus[0].post(200 * ms, EDC_ID_SCHED_SWITCH, 1, {pair(5, 7)});
	cpus[0].post(300 * ms, EDC_ID_SCHED_SWITCH, 1, {pair(7, 0)});
	counts(at_end, 5, EDC_WHEN_END, 1, 250 * ms);
	counts(at_end + 1, 7, EDC_WHEN_END, 2, kernel_ms * ms);
	const check::Statement said = judged(cpus, 4, "total_cpu_time");
	INFO(said.text);
	CHECK(said.verdict == (kernel_ms <= 50 ? Verdict::not_checked : Verdict::fails));
}

} // namespace test_kernel_comparison
