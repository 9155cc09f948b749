// SPDX-License-Identifier: MIT
#include "event_opener.h"

#include <cerrno>

#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/passed_fd.h"

namespace monitor::card {
namespace {

constexpr int requests_fd = 3;
constexpr int max_ms = 1000; // for an answer

} // namespace

struct EventOpener::Request {
	std::size_t event;
	unsigned cpu;
};

EventOpener::EventOpener(std::vector<perf_event_attr> events, const record::User &user)
{
	constexpr const char *what = "cannot start the process that opens events of CPUs that come online";
	int ends[2];
	if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		throw Error(errno, what);
	requests_ = Fd(ends[0]);
	const Fd theirs(ends[1]);
	const int capability = ::prctl(PR_CAPBSET_READ, CAP_PERFMON) >= 0 ? CAP_PERFMON : CAP_SYS_ADMIN;
	pid_ = start_helper(
	    {theirs.get()}, [&] { record::drop_privileges(user, {capability}); }, [&] { serve(requests_fd, events); });
	if (pid_ < 0)
		throw Error(errno, what);
}

EventOpener::~EventOpener()
{
	requests_.reset();
	end_process(pid_);
}

void EventOpener::serve(int requests, const std::vector<perf_event_attr> &events)
{
	Request request;
	while (::recv(requests, &request, sizeof request, 0) == sizeof request) {
		Fd fd;
		if (request.event < events.size())
			fd = Fd(static_cast<int>(::syscall(SYS_perf_event_open, &events[request.event], -1,
							   static_cast<int>(request.cpu), -1, PERF_FLAG_FD_CLOEXEC)));
		send_with_fd(requests, request, fd.get());
	}
	::_exit(0);
}

// If the process does not answer in time it is not asked again: the recorder would wait for each event of each CPU.
Fd EventOpener::open(std::size_t event, unsigned cpu)
{
	const Request request{event, cpu};
	if (::send(requests_.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
		return {};
	for (;;) {
		pollfd answered{requests_.get(), POLLIN, 0};
		const int ready = ::poll(&answered, 1, max_ms);
		if (ready < 0 && errno == EINTR)
			continue;
		Request taken{};
		Fd opened;
		if (ready > 0 && take_with_fd(requests_.get(), taken, opened))
			return opened;
		requests_.reset();
		return {};
	}
}

} // namespace monitor::card
