// SPDX-License-Identifier: MIT
#include "sample_timers.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <random>
#include <system_error>
#include <thread>

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "monitor/card.h" // before the skeleton, which uses its structs
#include "monitor/matcher.h"

#include "base/error.h"
#include "card.skel.h"
#include "kernel_features.h"
#include "trial.h"

namespace monitor::card {
namespace {

constexpr int start_tries = 10;
constexpr std::uint64_t max_start_difference_ns = 10'000;
constexpr std::uint64_t clock_difference_ns = 1000;
constexpr std::uint64_t start_ahead_ns = 500'000, spin_ns = 100'000;

std::uint64_t monotonic_ns()
{
	timespec now;
	::clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Sleeps until shortly before, then spins, because a wake-up takes long.
void wait_until(std::uint64_t ns)
{
	const std::uint64_t wake = ns - spin_ns;
	const timespec time = {static_cast<time_t>(wake / 1'000'000'000), static_cast<long>(wake % 1'000'000'000)};
	::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
	while (monotonic_ns() < ns)
		;
}

// Makes the timer expire one period from now, then periodically.
bool restart(const Fd &timer, std::uint64_t period_ns)
{
	return ::ioctl(timer.get(), PERF_EVENT_IOC_PERIOD, &period_ns) == 0;
}

// Runs this thread on that CPU, with real-time priority.
void pin_with_priority(unsigned cpu)
{
	pin_to(cpu);
	sched_param priority{};
	priority.sched_priority = 1;
	::sched_setscheduler(0, SCHED_FIFO, &priority);
}

void compute(unsigned steps)
{
	std::uint64_t value = steps;
	for (unsigned i = 0; i < steps; ++i) {
		value = value * 6364136223846793005 + 1442695040888963407;
		asm volatile("" : "+r"(value));
	}
}

// Elapsed time: many kernels exclude interrupts from a thread's CPU time.
double time_to_compute(unsigned steps)
{
	const std::uint64_t start = monotonic_ns();
	compute(steps);
	return static_cast<double>(monotonic_ns() - start);
}

} // namespace

SampleTimers::SampleTimers(::card *skeleton, std::uint64_t every_ns, unsigned cpus)
    : skeleton_(skeleton), every_ns_(every_ns), cpus_(cpus)
{
}

void SampleTimers::configure()
{
	shows_registers_ = kernel_shows_interrupted_registers();
	for (bpf_program *one : {skeleton_->progs.sample, skeleton_->progs.plain_sample})
		bpf_program__set_autoload(one, any() && one == program());
	std::random_device random;
	skeleton_->rodata->sample_every_ns = std::max<std::uint64_t>(every_ns_, 1);
	skeleton_->rodata->sample_cookie = std::uint64_t{random()} << 32 | random() | 1;
}

bpf_program *SampleTimers::program() const
{
	return shows_registers_ ? skeleton_->progs.sample : skeleton_->progs.plain_sample;
}

void SampleTimers::open()
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_CPU_CLOCK;
	attributes.sample_period = every_ns_;
	// An event that counts nothing still runs its timer. With something to count, perf's throttling would now and
	// then stop the timer on a tickless idle CPU.
	attributes.exclude_user = attributes.exclude_kernel = 1;
	attributes.config1 = skeleton_->rodata->sample_cookie;
	attributes.disabled = 1;
	timers_.open(attributes, cpus_, "the timers of the samples");
}

// If a thread was late, all try again, because the offsets of the timers persist.
void SampleTimers::start()
{
	open();
	timers_.enable();
	const std::vector<CpuEvents::Event> &timers = timers_.events();
	std::uint64_t start_ns = monotonic_ns() + start_ahead_ns;
	std::atomic<std::uint64_t> difference_ns = 0;
	bool done = false;
	int tries = 0;
	std::barrier all_there(static_cast<std::ptrdiff_t>(timers.size()),
			       [&]() noexcept { start_ns = monotonic_ns() + start_ahead_ns; });
	std::barrier all_started(static_cast<std::ptrdiff_t>(timers.size()), [&]() noexcept {
		done = difference_ns <= max_start_difference_ns || ++tries >= start_tries;
		difference_ns = 0;
	});
	std::atomic<bool> failed = false;
	const auto run = [&](std::size_t i) {
		pin_with_priority(timers[i].cpu);
		while (!done) {
			all_there.arrive_and_wait();
			wait_until(start_ns);
			if (!restart(timers[i].fd, every_ns_))
				failed = true;
			const std::uint64_t late_ns = monotonic_ns() - start_ns;
			std::uint64_t largest = difference_ns;
			while (largest < late_ns && !difference_ns.compare_exchange_weak(largest, late_ns))
				;
			all_started.arrive_and_wait();
		}
	};
	{
		std::vector<std::jthread> threads;
		threads.reserve(timers.size());
		for (std::size_t i = 0; i < timers.size(); ++i) {
			try {
				threads.emplace_back(run, i);
			} catch (const std::system_error &) {
				failed = true;
				all_there.arrive_and_drop();
				all_started.arrive_and_drop();
			}
		}
	}
	if (failed)
		throw Error("the timers of the samples could not be started on all CPUs");
	start_ns_ = start_ns;
	// Periods start shortly before the timers expire, because the CPUs' clocks may differ.
	__atomic_store_n(&skeleton_->bss->samples_from_ns, start_ns + every_ns_ - clock_difference_ns,
			 __ATOMIC_RELEASE);
}

void SampleTimers::start_late(unsigned cpu, Fd timer)
{
	timers_.add(cpu, std::move(timer));
	const Fd &added = timers_.events().back().fd;
	bool done = false;
	std::jthread([&] {
		pin_with_priority(cpu);
		::ioctl(added.get(), PERF_EVENT_IOC_ENABLE, 0);
		const std::uint64_t periods = (monotonic_ns() + start_ahead_ns - start_ns_) / every_ns_ + 1;
		wait_until(start_ns_ + periods * every_ns_);
		done = restart(added, every_ns_);
	}).join();
	if (!done)
		throw Error("the timer of the samples could not be started on a CPU that came online");
}

void SampleTimers::stop()
{
	timers_.disable();
	skeleton_->bss->samples_from_ns = 0;
}

// Alternates without and with the timer. A sample's cost is its period times the relative slowdown of the same work.
CalibratedCost SampleTimers::time_sample(const std::function<void()> &attach, const std::function<void()> &detach)
{
	constexpr std::uint64_t period_ns = 50'000;
	constexpr double work_ns = 1'000'000;
	constexpr std::size_t rounds = 21;
	open();
	std::vector<Round> measured;
	const CpuEvents::Event &event = timers_.events().front();
	run_trial(static_cast<int>(event.cpu), [&, &timer = event.fd] {
		constexpr unsigned steps_tried = 100'000;
		compute(steps_tried);
		const auto steps = static_cast<unsigned>(steps_tried * work_ns / time_to_compute(steps_tried));
		attach();
		skeleton_->bss->samples_from_ns = 1;
		for (std::size_t round = 0; round < rounds; ++round) {
			const double before = time_to_compute(steps);
			restart(timer, period_ns);
			::ioctl(timer.get(), PERF_EVENT_IOC_ENABLE, 0);
			const double with = time_to_compute(steps);
			::ioctl(timer.get(), PERF_EVENT_IOC_DISABLE, 0);
			const double after = time_to_compute(steps);
			const double in_period = static_cast<double>(period_ns) / with;
			measured.push_back({before * in_period, with * in_period, after * in_period});
		}
		detach();
	});
	stop();
	return estimate(measured, 1);
}

} // namespace monitor::card
