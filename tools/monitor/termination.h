// SPDX-License-Identifier: MIT
// SIGINT and SIGTERM end a command in its own time. To be made before the first thread, which then leaves them to the
// one that waits here.
#pragma once

#include <chrono>
#include <csignal>

namespace monitor {

class Termination {
public:
	Termination()
	{
		::sigemptyset(&signals_);
		::sigaddset(&signals_, SIGINT);
		::sigaddset(&signals_, SIGTERM);
		::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
	}

	// Whether one came within this time.
	bool wait(std::chrono::milliseconds time)
	{
		const timespec timeout{static_cast<time_t>(time.count() / 1000),
				       static_cast<long>(time.count() % 1000) * 1'000'000};
		came_ = came_ || ::sigtimedwait(&signals_, nullptr, &timeout) > 0;
		return came_;
	}

private:
	sigset_t signals_;
	bool came_ = false;
};

} // namespace monitor
