// SPDX-License-Identifier: MIT
// Blocks SIGINT and SIGTERM and waits for them, so that a command ends in order. Construct before other threads, which
// inherit the mask.
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

	// Whether a signal arrives within this time.
	bool wait(std::chrono::milliseconds time)
	{
		const timespec timeout{static_cast<time_t>(time.count() / 1000),
				       static_cast<long>(time.count() % 1000) * 1'000'000};
		is_signalled_ = is_signalled_ || ::sigtimedwait(&signals_, nullptr, &timeout) > 0;
		return is_signalled_;
	}

private:
	sigset_t signals_;
	bool is_signalled_ = false;
};

} // namespace monitor
