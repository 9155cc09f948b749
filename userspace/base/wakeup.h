// SPDX-License-Identifier: MIT
// One thread wakes another through a POSIX semaphore, which sleeps in the kernel at once. (The C++ library's semaphore
// spins and polls first, which would show on an idle machine.)
#pragma once

#include <cerrno>

#include <semaphore.h>

namespace monitor {

class Wakeup {
public:
	Wakeup() { ::sem_init(&semaphore_, 0, 0); }
	~Wakeup() { ::sem_destroy(&semaphore_); }
	Wakeup(const Wakeup &) = delete;
	Wakeup &operator=(const Wakeup &) = delete;

	void wake() { ::sem_post(&semaphore_); }
	// Returns once for all wake() calls before it.
	void wait()
	{
		while (::sem_wait(&semaphore_) < 0 && errno == EINTR)
			;
		while (::sem_trywait(&semaphore_) == 0)
			;
	}

private:
	sem_t semaphore_;
};

} // namespace monitor
