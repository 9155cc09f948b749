// SPDX-License-Identifier: MIT
// One thread wakes another through a POSIX semaphore, which sleeps in the kernel at once, until the given time. (The
// C++ library's semaphore spins and polls first, which would show on an idle machine.)
#pragma once

#include <cerrno>
#include <chrono>

#include <semaphore.h>
#include <time.h>

namespace monitor {

class Wakeup {
public:
	Wakeup() { ::sem_init(&semaphore_, 0, 0); }
	~Wakeup() { ::sem_destroy(&semaphore_); }
	Wakeup(const Wakeup &) = delete;
	Wakeup &operator=(const Wakeup &) = delete;

	void wake() { ::sem_post(&semaphore_); }
	void wait()
	{
		while (::sem_wait(&semaphore_) < 0 && errno == EINTR)
			;
	}
	// True if woken, false if the time was reached first.
	bool wait_until(std::chrono::steady_clock::time_point time)
	{
		const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
		const timespec when{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
		int result;
		do
			result = ::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &when);
		while (result < 0 && errno == EINTR);
		return result == 0;
	}

private:
	sem_t semaphore_;
};

} // namespace monitor
