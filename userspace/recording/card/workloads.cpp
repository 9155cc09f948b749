// SPDX-License-Identifier: MIT
#include "workloads.h"

#include <cerrno>
#include <latch>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "trial.h"

namespace monitor::card {
namespace {

constexpr int calls = 500, calls_before = 1000;
constexpr int round_trips = 25, round_trips_before = 15;
constexpr std::size_t pages = 128, pages_before = 16;

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

double time_calls()
{
	call(calls_before);
	const auto start = cpu_time();
	call(calls);
	return ns(cpu_time() - start) / calls;
}

RoundTrips::RoundTrips(int cpu)
{
	int there[2], back[2];
	if (::pipe2(there, O_CLOEXEC) < 0)
		throw Error(errno, "cannot create a pipe for the calibration");
	there_[0] = Fd(there[0]), there_[1] = Fd(there[1]);
	if (::pipe2(back, O_CLOEXEC) < 0)
		throw Error(errno, "cannot create a pipe for the calibration");
	back_[0] = Fd(back[0]), back_[1] = Fd(back[1]);
	std::latch ready(1);
	partner_ = std::jthread([this, cpu, &ready] {
		pin_to(cpu);
		::pthread_getcpuclockid(::pthread_self(), &partner_clock_);
		ready.count_down();
		char byte;
		while (::read(there_[0].get(), &byte, 1) == 1)
			if (::write(back_[1].get(), &byte, 1) != 1)
				return;
	});
	ready.wait();
}

RoundTrips::~RoundTrips()
{
	there_[1].reset(); // ends the partner's read
}

bool RoundTrips::trips(int count)
{
	char byte = 1;
	for (int i = 0; i < count; ++i)
		if (::write(there_[1].get(), &byte, 1) != 1 || ::read(back_[0].get(), &byte, 1) != 1)
			return false;
	return true;
}

double RoundTrips::time()
{
	if (!trips(round_trips_before))
		throw Error(errno, "the pipe for the calibration broke");
	const auto start = cpu_time() + cpu_time(partner_clock_);
	if (!trips(round_trips))
		throw Error(errno, "the pipe for the calibration broke");
	return ns(cpu_time() + cpu_time(partner_clock_) - start) / round_trips;
}

Faults::Faults() : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)))
{
	const std::size_t size = page_ * (pages_before + pages);
	void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		throw Error(errno, "no memory for the calibration");
	::madvise(memory, size, MADV_NOHUGEPAGE);
	memory_ = Mapping(memory, size);
}

double Faults::time()
{
	const auto touch = [this](std::size_t from, std::size_t to) {
		for (std::size_t page = from; page < to; ++page)
			static_cast<void>(*static_cast<volatile std::byte *>(memory_.data() + page * page_));
	};
	::madvise(memory_.data(), memory_.size(), MADV_DONTNEED);
	touch(0, pages_before);
	const auto start = cpu_time();
	touch(pages_before, pages_before + pages);
	return ns(cpu_time() - start) / pages;
}

} // namespace monitor::card
