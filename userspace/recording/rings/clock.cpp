// SPDX-License-Identifier: MIT
#include "clock.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <thread>

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/fd.h"
#include "base/tsc.h"
#include "recording/card/trial.h"

namespace monitor::record {
namespace {

constexpr std::uint64_t ahead_ns = 3'000'000;     // a set is published this long before it takes effect
constexpr std::uint64_t horizon_ns = 200'000'000; // the new line meets the predicted time this long after
constexpr std::uint64_t history_ns = 1'000'000'000;
constexpr std::uint64_t sync_tries = 20;
constexpr std::uint64_t real_time_tries = 5;         // a read of a clock takes microseconds on some machines
constexpr std::uint64_t real_time_width_ns = 10'000; // acceptable duration of a read of several clocks
constexpr std::size_t max_steps = 1000;
constexpr long double two_32 = 4294967296.0L;

edc_clock_set line(std::uint64_t from_ns, std::uint64_t base, long double ticks_per_ns)
{
	const long double whole = std::floor(ticks_per_ns);
	return {from_ns, base, static_cast<__u32>(whole), static_cast<__u32>((ticks_per_ns - whole) * two_32)};
}

// A line that takes effect ahead_ns from now, and meets the predicted time horizon_ns later.
edc_clock_set next_line(const edc_clock_set &current, const Sync &sync, long double rate)
{
	const std::uint64_t from_ns = clock_ns(CLOCK_MONOTONIC) + ahead_ns;
	const std::uint64_t base = edc_clock_at(&current, from_ns);
	const long double ns_to_target = static_cast<long double>(from_ns + horizon_ns - sync.monotonic_ns);
	const long double target = static_cast<long double>(sync.time) + rate * ns_to_target;
	const long double steered = (target - static_cast<long double>(base)) / horizon_ns;
	return line(from_ns, base, std::clamp(steered, rate * 0.999L, rate * 1.001L));
}

// Real and TAI time differ from monotonic time by an offset that only steps: read them relative to it.
void read_real_time(Sync &sync)
{
	std::uint64_t narrowest = ~0ull;
	for (std::uint64_t i = 0; i < real_time_tries && narrowest > real_time_width_ns; ++i) {
		const std::uint64_t before = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME),
				    tai = clock_ns(CLOCK_TAI), width = clock_ns(CLOCK_MONOTONIC) - before;
		if (width >= narrowest)
			continue;
		narrowest = width;
		sync.realtime_ns = real - before + sync.monotonic_ns;
		sync.tai_ns = tai - before + sync.monotonic_ns;
	}
}

} // namespace

ReadTime ClockSteering::read_time() const
{
	return invariant_tsc_ ? [] { return read_tsc(); } : [] { return clock_ns(CLOCK_MONOTONIC); };
}

Sync read_sync(bool invariant_tsc)
{
	Sync best;
	best.width_ticks = ~0ull;
	for (std::uint64_t i = 0; i < sync_tries; ++i) {
		const std::uint64_t before = read_tsc(), monotonic_ns = clock_ns(CLOCK_MONOTONIC),
				    width = read_tsc() - before;
		if (width >= best.width_ticks)
			continue;
		best.width_ticks = width;
		best.time = before + width / 2;
		best.monotonic_ns = monotonic_ns;
	}
	read_real_time(best);
	best.cpu = static_cast<unsigned>(std::max(::sched_getcpu(), 0));
	if (!invariant_tsc) {
		best.time = best.monotonic_ns;
		best.width_ticks = 0;
	}
	return best;
}

ClockSteering::ClockSteering(edc_clock &clock, bool invariant_tsc) : clock_(clock), invariant_tsc_(invariant_tsc) {}

void ClockSteering::start(const Sync &first, unsigned duration_ms)
{
	first_ = first;
	history_.push_back(first_);
	const std::uint64_t end_ns = first_.monotonic_ns + std::uint64_t{duration_ms} * 1'000'000;
	const timespec end{static_cast<time_t>(end_ns / 1'000'000'000), static_cast<long>(end_ns % 1'000'000'000)};
	::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr);
	const Sync second = read_sync(invariant_tsc_);
	find_real_time_step(second);
	history_.push_back(second);
	clock_.set[0] = line(second.monotonic_ns, second.time, slope());
	__atomic_store_n(&clock_.newest, 0, __ATOMIC_RELEASE);
	published_.push_back(clock_.set[0]);
}

long double ClockSteering::slope() const
{
	if (!invariant_tsc_)
		return 1;
	const Sync &from = history_.front();
	const Sync &to = history_.back();
	return static_cast<long double>(to.time - from.time) /
	       static_cast<long double>(to.monotonic_ns - from.monotonic_ns);
}

double ClockSteering::frequency_hz() const
{
	const Sync &to = history_.back();
	if (!invariant_tsc_ || to.monotonic_ns == first_.monotonic_ns)
		return 1e9;
	return static_cast<double>(static_cast<long double>(to.time - first_.time) * 1e9L /
				   static_cast<long double>(to.monotonic_ns - first_.monotonic_ns));
}

void ClockSteering::find_real_time_step(const Sync &sync)
{
	const Sync &before = history_.back();
	const auto step_ns = static_cast<std::int64_t>((sync.realtime_ns - sync.monotonic_ns) -
						       (before.realtime_ns - before.monotonic_ns));
	if (std::abs(step_ns) >= RealTimeStep::smallest_ns && real_time_steps_.size() < max_steps)
		real_time_steps_.push_back({sync.time, step_ns});
}

void ClockSteering::update(const Sync &sync)
{
	find_real_time_step(sync);
	history_.push_back(sync);
	while (history_.size() > 2 && sync.monotonic_ns - history_[1].monotonic_ns >= history_ns)
		history_.pop_front();
	if (!invariant_tsc_ || sync.monotonic_ns < newest().from_ns)
		return;
	const edc_clock_set current = newest();
	const long double rate = slope();
	edc_clock_set next;
	do {
		next = next_line(current, sync, rate);
		clock_.set[(clock_.newest + 1) % EDC_CLOCK_SETS] = next;
	} while (clock_ns(CLOCK_MONOTONIC) + ahead_ns / 2 > next.from_ns);
	__atomic_store_n(&clock_.newest, clock_.newest + 1, __ATOMIC_RELEASE);
	published_.push_back(next);
}

void ClockSteering::renew()
{
	if (clock_ns(CLOCK_MONOTONIC) - newest().from_ns > history_ns)
		update(read_sync(invariant_tsc_));
}

namespace {

// A request and its answer (the other CPU's TSC) in one cache line, for the shortest round trip.
struct alignas(64) Exchange {
	std::atomic<std::uint64_t> value{0};
	static constexpr std::uint64_t request = 1, stop = 2; // 0: nothing yet; else: an answer
};

constexpr int rounds = 500;
constexpr std::uint64_t max_round_ticks = 1'000'000;
constexpr auto max_comparison_time = std::chrono::milliseconds(40); // of two CPUs, in case one of them is busy

// Real-time priority, if permitted.
void request_real_time_priority()
{
	sched_param highest{};
	highest.sched_priority = 1;
	::sched_setscheduler(0, SCHED_FIFO, &highest);
}

void answer_requests(Exchange &exchange, unsigned cpu, std::latch &ready)
{
	request_real_time_priority();
	const bool is_pinned = card::pin_to(cpu);
	ready.count_down();
	if (!is_pinned)
		return;
	for (std::uint64_t value; (value = exchange.value.load(std::memory_order_acquire)) != Exchange::stop;)
		if (value == Exchange::request)
			exchange.value.compare_exchange_strong(value, read_tsc());
}

// Runs on `home`. The other thread inherits the creator's affinity, so `allowed` lets it start elsewhere. The creator
// sleeps until that thread has reached its CPU: it may have been placed on this one.
void compare_with(unsigned cpu, unsigned home, const cpu_set_t &allowed, recording_file::TscSkew &skew)
{
	Exchange exchange;
	::sched_setaffinity(0, sizeof allowed, &allowed);
	std::latch ready(1);
	std::jthread other([&] { answer_requests(exchange, cpu, ready); });
	card::pin_to(home);
	ready.wait();
	const auto deadline = std::chrono::steady_clock::now() + max_comparison_time;
	std::uint64_t shortest = ~0ull;
	std::int64_t offset = 0;
	for (int round = 0; round < rounds && std::chrono::steady_clock::now() < deadline; ++round) {
		const std::uint64_t before = read_tsc();
		exchange.value.store(Exchange::request, std::memory_order_release);
		std::uint64_t theirs = Exchange::request, after = before;
		while (theirs == Exchange::request && after - before < max_round_ticks) {
			theirs = exchange.value.load(std::memory_order_acquire);
			after = read_tsc();
		}
		if (theirs == Exchange::request || after - before >= shortest)
			continue;
		shortest = after - before;
		offset = static_cast<std::int64_t>(theirs - (before + shortest / 2));
	}
	exchange.value.store(Exchange::stop, std::memory_order_release);
	if (shortest == ~0ull)
		return; // timeout
	++skew.cpus_compared;
	const auto size = static_cast<std::uint64_t>(std::abs(offset));
	if (size + shortest / 2 > skew.ticks + skew.uncertainty) {
		skew.ticks = size;
		skew.uncertainty = shortest / 2;
	}
}

// From the first CPU that this thread may run on.
void compare_cpus(recording_file::TscSkew &skew)
{
	cpu_set_t allowed;
	std::memset(&allowed, 0xff, sizeof allowed);
	::sched_setaffinity(0, sizeof allowed, &allowed);
	if (::sched_getaffinity(0, sizeof allowed, &allowed) < 0)
		return;
	request_real_time_priority();
	unsigned home = 0;
	while (home < CPU_SETSIZE && !CPU_ISSET(home, &allowed))
		++home;
	if (!card::pin_to(home))
		return;
	try {
		for (unsigned cpu = home + 1; cpu < CPU_SETSIZE; ++cpu)
			if (CPU_ISSET(cpu, &allowed))
				compare_with(cpu, home, allowed, skew);
	} catch (const std::exception &) { // out of threads: this and later CPUs are not compared
	}
}

} // namespace

ClockDescription describe_clock(const ClockSteering &steering)
{
	ClockDescription clock;
	clock.name = steering.invariant_tsc() ? "tsc" : "monotonic";
	clock.frequency_hz = static_cast<std::uint64_t>(std::llround(steering.frequency_hz()));
	// Real time of trace time 0, from the newest snapshot.
	const Sync &sync = steering.last();
	const long double ticks_in_s = static_cast<long double>(clock.frequency_hz);
	const long double zero =
	    static_cast<long double>(sync.realtime_ns) / 1e9L - static_cast<long double>(sync.time) / ticks_in_s;
	clock.offset_s = static_cast<std::int64_t>(zero);
	clock.offset = static_cast<std::uint64_t>((zero - static_cast<long double>(clock.offset_s)) * ticks_in_s);
	clock.steps = steering.real_time_steps();
	return clock;
}

recording_file::TscSkew measure_tsc_skew()
{
	recording_file::TscSkew skew;
	skew.cpus_online = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
	std::jthread([&] { compare_cpus(skew); }).join();
	return skew;
}

} // namespace monitor::record
