// SPDX-License-Identifier: MIT
#include "workloads.h"

#include <algorithm>
#include <cerrno>
#include <latch>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/error.h"
#include "recording/card/trial.h"

namespace monitor::card {
namespace {

constexpr const char *cannot_create = "cannot create a pipe for the calibration";
constexpr int mapped_pages = 144, pages_before = 16;

double ns(std::chrono::nanoseconds time)
{
	return static_cast<double>(time.count());
}

void call(int count)
{
	for (int i = 0; i < count; ++i)
		::syscall(SYS_getppid);
}

} // namespace

// Enough units that reading the clock takes a small part.
template <class Work> int Units::count(const Work &work)
{
	constexpr int first = 10, min_units = 20;
	constexpr double enough_ns = 100'000;
	if (count_ == 0) {
		work(first); // warm up
		const auto start = cpu_time();
		work(first);
		const double fitting = enough_ns * first / std::max(ns(cpu_time() - start), 1.0);
		count_ = fitting < max_ ? std::max(min_units, static_cast<int>(fitting)) : max_;
	}
	return count_;
}

double Calls::time()
{
	const int calls = units_.count(call);
	call(2 * calls);
	return time(calls);
}

double Calls::time(int calls)
{
	const auto start = cpu_time();
	call(calls);
	return ns(cpu_time() - start) / (calls + 1); // + 1: reading the clock is a call, too
}

RoundTrips::RoundTrips(int cpu) : to_partner_(make_pipe(cannot_create)), from_partner_(make_pipe(cannot_create))
{
	std::latch ready(1);
	partner_ = std::jthread([this, cpu, &ready] {
		pin_to(cpu);
		::pthread_getcpuclockid(::pthread_self(), &partner_clock_);
		ready.count_down();
		char byte;
		while (::read(to_partner_.first.get(), &byte, 1) == 1)
			if (::write(from_partner_.second.get(), &byte, 1) != 1)
				return;
	});
	ready.wait();
}

RoundTrips::~RoundTrips()
{
	to_partner_.second.reset(); // ends the partner's read
}

void RoundTrips::trips(int count)
{
	char byte = 1;
	for (int i = 0; i < count; ++i)
		if (::write(to_partner_.second.get(), &byte, 1) != 1 ||
		    ::read(from_partner_.first.get(), &byte, 1) != 1)
			throw Error(errno, "the pipe for the calibration broke");
}

double RoundTrips::time()
{
	const int round_trips = units_.count([this](int count) { trips(count); });
	trips(round_trips / 2);
	const auto start = cpu_time() + cpu_time(partner_clock_);
	trips(round_trips);
	return ns(cpu_time() + cpu_time(partner_clock_) - start) / round_trips;
}

Faults::Faults() : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)))
{
	const std::size_t size = page_ * mapped_pages;
	void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		throw Error(errno, "no memory for the calibration");
	::madvise(memory, size, MADV_NOHUGEPAGE);
	memory_ = Mapping(memory, size);
}

void Faults::touch(int from, int to)
{
	for (int page = from; page < to; ++page)
		static_cast<void>(*static_cast<volatile std::byte *>(memory_.data() + page * page_));
}

double Faults::time()
{
	const auto forget = [this] { ::madvise(memory_.data(), memory_.size(), MADV_DONTNEED); };
	const int pages = units_.count([&](int count) {
		forget();
		touch(0, count);
	});
	forget();
	touch(0, pages_before);
	const auto start = cpu_time();
	touch(pages_before, pages_before + pages);
	return ns(cpu_time() - start) / pages;
}

} // namespace monitor::card
