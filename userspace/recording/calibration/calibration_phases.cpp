// SPDX-License-Identifier: MIT
#include "calibration_phases.h"

#include <algorithm>
#include <future>

#include <sched.h>

#include "base/clock_ns.h"
#include "base/error.h"

namespace monitor::record {
namespace {

using namespace std::chrono_literals;

constexpr int min_length_us = 8'000, max_length_us = 32'000;
constexpr double min_apart = 24,
		 max_apart = 72;           // interval between phases, as a multiple of their length: 2 % of the time
constexpr auto settling = 2ms;             // after probes were detached or attached, code is cold
constexpr int readings = 6;                // of the progress, in a phase
constexpr int max_share_of_readings = 200; // they take at most this part of a CPU
constexpr std::size_t max_phases = 1000;   // a longer recording makes no more phases

double ms_since(std::chrono::steady_clock::time_point since)
{
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

} // namespace

CalibrationPhases::CalibrationPhases(card::BpfCard &card, bool invariant_tsc, pid_t command, Failure &failure,
				     std::function<void()> after_phase)
    : card_(card), invariant_tsc_(invariant_tsc), command_(command), failure_(failure),
      after_phase_(std::move(after_phase))
{
	std::unordered_set<std::int32_t> threads;
	if (!read_progress(card_, command_, threads).is_known)
		throw Error("--calibrate needs to list threads without privileges, which this kernel refuses (Linux "
			    "5.19 and later do not): leave it out");
	const std::uint64_t since = now();
	card_.suspend();
	card_.wait_for_probes();
	try {
		resume(since);
	} catch (const Error &error) {
		throw Error("--calibrate needs to attach probes without privileges, which this kernel refuses: leave "
			    "it out ({})",
			    error.what());
	}
	account_.number = account_.ticks = 0; // discard what precedes the recording
}

void CalibrationPhases::stop()
{
	if (!thread_.joinable())
		return;
	{
		const std::lock_guard guard(lock_);
		stopping_ = true;
	}
	stops_.notify_all();
	thread_.join();
}

bool CalibrationPhases::wait_until(Clock::time_point time)
{
	std::unique_lock guard(lock_);
	return !stops_.wait_until(guard, time, [this] { return stopping_; });
}

void CalibrationPhases::run()
{
	std::uniform_int_distribution<int> length_us(min_length_us, max_length_us);
	std::uniform_real_distribution<double> apart(min_apart, max_apart);
	Clock::duration last = std::chrono::microseconds((min_length_us + max_length_us) / 2);
	while (account_.number < max_phases) {
		const auto pause = std::chrono::duration_cast<Clock::duration>(last * apart(random_));
		const Clock::duration min_pause = cpu_of_reading_ * readings * max_share_of_readings;
		if (!wait_until(Clock::now() + std::max(pause, min_pause)))
			return;
		last = make_phase(std::chrono::microseconds(length_us(random_)));
	}
}

CalibrationPhases::Part CalibrationPhases::measure(Clock::time_point until, bool with_probes,
						   std::unordered_set<std::int32_t> &threads)
{
	Part part;
	const std::uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	part.begin = read_progress(card_, command_, threads);
	cpu_of_reading_ = std::chrono::nanoseconds(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	if (with_probes)
		part.number = events_.begin(now());
	part.is_whole = wait_until(until);
	part.end = read_progress(card_, command_, threads);
	if (with_probes)
		events_.end(now());
	return part;
}

void CalibrationPhases::resume(std::uint64_t since)
{
	const auto before = Clock::now();
	account_.marks += card_.resume(since);
	account_.attach_ms = std::max(account_.attach_ms, ms_since(before));
	account_.ticks += now() - since;
	++account_.number;
}

// Runs briefly on each CPU without events since then: its current thread is unknown until the next event, which on an
// idle CPU may take seconds.
void CalibrationPhases::show_quiet_cpus(std::uint64_t since) const
{
	cpu_set_t allowed;
	if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	bool has_moved = false;
	for (unsigned cpu = 0; cpu < std::min<unsigned>(card_.cpus(), CPU_SETSIZE); ++cpu) {
		const edc_ring &ring = card_.area(cpu).level[0].ring;
		if (!__atomic_load_n(&ring.opened, __ATOMIC_RELAXED) ||
		    __atomic_load_n(&ring.last_time, __ATOMIC_RELAXED) > since)
			continue;
		cpu_set_t target;
		CPU_ZERO(&target);
		CPU_SET(cpu, &target);
		has_moved |= ::sched_setaffinity(0, sizeof target, &target) == 0; // fails if the CPU is offline
	}
	if (has_moved)
		::sched_setaffinity(0, sizeof allowed, &allowed);
}

CalibrationPhases::Clock::duration CalibrationPhases::make_phase(Clock::duration length)
{
	Parts parts;
	parts.before = measure(Clock::now() + length, true, parts.threads);
	if (!parts.before.is_whole)
		return {};
	const std::uint64_t since = now();
	const auto start = Clock::now();
	card_.suspend();
	account_.detach_ms = std::max(account_.detach_ms, ms_since(start));
	auto last_probe = std::async(std::launch::async, [this] { card_.wait_for_probes(); });
	bool continues = wait_until(Clock::now() + settling);
	if (continues)
		parts.without = measure(start + length, false, parts.threads);
	last_probe.get();
	resume(since);
	const Clock::duration without_probes = Clock::now() - start;
	continues = continues && parts.without.is_whole && wait_until(Clock::now() + settling);
	show_quiet_cpus(since);
	if (continues)
		parts.after = measure(Clock::now() + length, true, parts.threads);
	after_phase_();
	if (continues && parts.after.is_whole)
		phases_.push_back(std::move(parts));
	return without_probes;
}

PhasePart CalibrationPhases::part_of(const Part &part, const std::unordered_set<std::int32_t> &threads,
				     PhaseCost *sums) const
{
	PhasePart result;
	// Children that nobody waited for are no longer in the sum.
	const auto difference = [](std::uint64_t begin, std::uint64_t end) {
		return static_cast<double>(end - std::min(begin, end));
	};
	if (!part.begin.is_known || !part.end.is_known)
		return result;
	result.cpu_ns = difference(part.begin.cpu_ns, part.end.cpu_ns);
	for (std::size_t i = 0; i < result.progress.size(); ++i)
		result.progress[i] = difference(part.begin.count[i], part.end.count[i]);
	if (!sums)
		return result;
	for (const auto &[id, number] : events_.events_of(part.number, threads)) {
		result.events += static_cast<double>(number);
		for (const card::ClassRow &row : card::kernel_classes())
			if (row.id == id)
				sums->events[row.family] += number;
	}
	return result;
}

PhaseCost CalibrationPhases::finish(std::uint64_t lost) const
{
	constexpr const char *counters[EDC_PROGRESS_COUNTERS] = {"calls that read or wrote", "voluntary switches",
								 "page faults", "time in user mode"};
	PhaseCost cost = account_;
	std::vector<Phase> phases;
	for (const Parts &parts : phases_)
		phases.push_back({part_of(parts.before, parts.threads, &cost),
				  part_of(parts.without, parts.threads, nullptr),
				  part_of(parts.after, parts.threads, &cost)});
	const PhaseEstimate estimate = estimate_phases(phases);
	cost.low = estimate.low;
	cost.median = estimate.median;
	cost.high = estimate.high;
	cost.used = estimate.phases;
	cost.progress = counters[estimate.counter];
	cost.why_unknown = estimate.why_unknown;
	if (lost && cost.is_known())
		cost.why_unknown = "events were lost, so it is not known how many there were";
	return cost;
}

} // namespace monitor::record
