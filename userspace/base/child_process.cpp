// SPDX-License-Identifier: MIT
#include "child_process.h"

#include <algorithm>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"

namespace monitor {

std::pair<Fd, Fd> make_pipe(const char *refusal)
{
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) < 0)
		throw Error(errno, refusal);
	return {Fd(ends[0]), Fd(ends[1])};
}

std::pair<Fd, Fd> make_socket_pair(int type, const char *refusal)
{
	int ends[2];
	if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) < 0)
		throw Error(errno, refusal);
	return {Fd(ends[0]), Fd(ends[1])};
}

void become_helper(pid_t parent)
{
	sigset_t all;
	sigfillset(&all);
	::sigprocmask(SIG_SETMASK, &all, nullptr);
	::prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (::getppid() != parent)
		::_exit(0);
}

pid_t start_helper(const std::vector<int> &kept, const std::function<void()> &drop_privileges,
		   const std::function<void()> &serve)
{
	constexpr int first = 3;
	const auto end = first + static_cast<int>(kept.size());
	const pid_t parent = ::getpid(), child = ::fork();
	if (child != 0)
		return child;
	try {
		std::vector<int> moved; // beyond the final numbers, so that dup2() closes none of them
		for (const int fd : kept)
			moved.push_back(::fcntl(fd, F_DUPFD, end));
		for (std::size_t i = 0; i < moved.size(); ++i)
			::dup2(moved[i], first + static_cast<int>(i));
		::syscall(SYS_close_range, end, ~0u, 0);
		drop_privileges();
		become_helper(parent);
		serve();
	} catch (...) {
	}
	::_exit(1);
}

std::optional<int> wait_for_end(pid_t child, std::chrono::milliseconds timeout)
{
	using Clock = std::chrono::steady_clock;
	const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
	const auto end = Clock::now() + timeout;
	for (;;) {
		const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
		pollfd ended{process.get(), POLLIN, 0};
		::poll(&ended, 1, static_cast<int>(std::max<long>(left, 0)));
		int status = 0;
		if (const pid_t reaped = ::waitpid(child, &status, WNOHANG); reaped != 0)
			return reaped == child ? std::optional(status) : std::nullopt;
		if (left <= 0)
			return {};
	}
}

void end_process(pid_t child)
{
	constexpr std::chrono::milliseconds retry_interval(20);
	for (int tries = 0; tries < 50; ++tries) {
		::kill(child, SIGKILL);
		if (wait_for_end(child, retry_interval) || ::waitpid(child, nullptr, WNOHANG) < 0)
			return;
	}
}

} // namespace monitor
