// SPDX-License-Identifier: MIT
#include "preflight.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recording/card/preemption.h"
#include "recording/card/trial.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

constexpr unsigned pinned_tasks = 4;
constexpr auto pinned_time = 12ms; // CPU time of each: several time slices
// A virtual CPU that its host stops for most of this time sees few preemptions: then the trial is extended.
constexpr unsigned min_wakeups = 200;
constexpr auto max_time = 300ms;

std::uint64_t enters_seen(const BpfCard &card, int cpu)
{
	std::uint64_t seen = 0;
	for (const edc_level &level : card.area(static_cast<unsigned>(cpu)).level)
		seen += level.seen[EDC_ID_SYS_ENTER - EDC_ID_KERNEL_FIRST] +
			level.seen[EDC_ID_SYS_ENTER_COMPAT - EDC_ID_KERNEL_FIRST];
	return seen;
}

std::uint64_t misses_of_calls(const BpfCard &card)
{
	std::uint64_t misses = 0;
	for (const auto &[program, of_program] : card.misses())
		if (program.ends_with("sys_enter"))
			misses += of_program;
	return misses;
}

// A SCHED_FIFO task that wakes often and makes calls, to preempt a probe if that is possible at all. Without it, a
// kernel with lazy preemption switches at system call exits only, and misses would show only later.
std::uint64_t call_in_between(int cpu, const std::stop_token &stop, std::atomic<unsigned> &wakeups)
{
	pin_to(cpu);
	sched_param highest{};
	highest.sched_priority = 1;
	::sched_setscheduler(0, SCHED_FIFO, &highest); // may fail: then only the other tasks preempt
	std::uint64_t calls = 0;
	while (!stop.stop_requested()) {
		const timespec pause{0, 50'000};
		::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
		for (int i = 0; i < 5; ++i, ++calls)
			::syscall(SYS_getppid);
		wakeups.fetch_add(1, std::memory_order_relaxed);
	}
	return calls;
}

// Several tasks of one CPU make calls in turn. Returns how many of the calls the probes did not see.
std::uint64_t missing_calls(const BpfCard &card, int cpu, std::uint64_t &calls_made)
{
	const std::uint64_t seen_before = enters_seen(card, cpu), misses_before = misses_of_calls(card);
	std::atomic<std::uint64_t> calls{0};
	std::atomic<unsigned> wakeups{0};
	const auto deadline = std::chrono::steady_clock::now() + max_time;
	std::jthread in_between([&](const std::stop_token &stop) { calls += call_in_between(cpu, stop, wakeups); });
	{
		std::vector<std::jthread> tasks;
		for (unsigned i = 0; i < pinned_tasks; ++i)
			tasks.emplace_back([&calls, &wakeups, deadline, cpu] {
				pin_to(cpu);
				std::uint64_t mine = 0;
				const auto end = cpu_time() + pinned_time;
				do
					for (int n = 0; n < 100; ++n, ++mine)
						::syscall(SYS_getppid);
				while (cpu_time() < end || (wakeups.load(std::memory_order_relaxed) < min_wakeups &&
							    std::chrono::steady_clock::now() < deadline));
				calls += mine;
			});
	}
	in_between.request_stop();
	in_between.join();
	calls_made = calls;
	const std::uint64_t seen = enters_seen(card, cpu) - seen_before;
	const std::uint64_t unseen = seen < calls_made ? calls_made - seen : 0;
	return std::max(unseen, misses_of_calls(card) - misses_before);
}

void test_calls(BpfCard &card, int cpu, Preflight &result)
{
	card.attach_only(result.tp, {"sys_enter", "sys_exit"});
	if (!card.attached().empty())
		result.missing = missing_calls(card, cpu, result.calls);
	card.detach();
	card.reset();
}

} // namespace

Preflight preflight(BpfCard &card)
{
	Preflight result;
	const std::optional<bool> preempted = probes_can_be_preempted();
	result.tp = preempted.value_or(false);
	const int cpu = std::max(::sched_getcpu(), 0);
	run_trial(cpu, [&] {
		test_calls(card, cpu, result);
		// Without probed calls there is no evidence: if preemption is unknown, attach the safe, more expensive
		// way.
		const bool unknown = !preempted && !result.calls;
		if (result.tp || (!result.missing && !unknown))
			return;
		result.tp = true;
		if (result.calls)
			test_calls(card, cpu, result);
	});
	return result;
}

} // namespace monitor::card
