// SPDX-License-Identifier: MIT
// Opens perf events for CPUs that come online after the recorder has dropped its privileges: a child process, forked
// before, keeps only the capability for it, and opens only the events that it was started with.
#pragma once

#include <cstddef>
#include <vector>

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::card {

class EventOpener {
public:
	// On behalf of this user. Before other threads exist. Throws Error.
	EventOpener(std::vector<perf_event_attr> events, const record::User &user);
	~EventOpener(); // ends it
	EventOpener(const EventOpener &) = delete;
	EventOpener &operator=(const EventOpener &) = delete;

	// Opens the event with this number on a CPU, for all threads; empty on error. One thread.
	Fd open(std::size_t event, unsigned cpu);

private:
	struct Request;
	[[noreturn]] static void serve(int requests, const std::vector<perf_event_attr> &events);

	Fd requests_;
	pid_t pid_ = 0;
};

} // namespace monitor::card
