// SPDX-License-Identifier: MIT
#include "ending.h"

#include <cstring>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "base/error.h"

namespace monitor::record {

Ending::Ending(std::optional<double> duration_s)
    : duration_s_(duration_s), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!timer_ || !stop_)
		throw Error(errno, "cannot watch the time");
}

void Ending::stop(const std::string &reason)
{
	{
		const std::lock_guard lock(mutex_);
		stop_reason_ = reason;
	}
	::eventfd_write(stop_.get(), 1);
}

void Ending::start_timer() const
{
	if (!duration_s_)
		return;
	itimerspec when{};
	when.it_value.tv_sec = static_cast<time_t>(*duration_s_);
	when.it_value.tv_nsec = static_cast<long>((*duration_s_ - static_cast<double>(when.it_value.tv_sec)) * 1e9);
	if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0)
		when.it_value.tv_nsec = 1;
	::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

// Returns true if the recording should end.
bool Ending::handle_signals(Command *command)
{
	bool end = false;
	for (signalfd_siginfo info; signals_.next(info);) {
		++signals_seen_;
		const int number = static_cast<int>(info.ssi_signo);
		signal_reason_ = fmt::format("interrupted by SIG{}", ::sigabbrev_np(number));
		// A signal from the terminal has already reached the command.
		if (command && info.ssi_code != SI_KERNEL)
			command->signal(number);
		end |= !command || signals_seen_ > 1;
	}
	return end;
}

std::string Ending::wait(Command *command, const Failure &failure, int check_ms,
			 const std::function<std::string()> &check, const std::vector<pollfd> &more)
{
	start_timer();
	for (;;) {
		std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0},
					   {timer_.get(), POLLIN, 0},
					   {command ? command->pidfd() : -1, POLLIN, 0},
					   {failure.fd(), POLLIN, 0},
					   {stop_.get(), POLLIN, 0}};
		fds.insert(fds.end(), more.begin(), more.end());
		::poll(fds.data(), fds.size(), check_ms);
		if (fds[0].revents && handle_signals(command))
			return signal_reason_;
		if (command && command->poll())
			return signal_reason_.empty() ? "the command ended" : signal_reason_;
		ends_command_ = fds[1].revents || fds[4].revents;
		if (fds[1].revents)
			return "the duration elapsed";
		if (fds[4].revents) {
			const std::lock_guard lock(mutex_);
			return stop_reason_;
		}
		if (std::string reason = check(); !reason.empty())
			return reason;
	}
}

void Ending::wait_for(Command &command)
{
	while (!command.poll()) {
		pollfd fds[] = {{signals_.fd(), POLLIN, 0}, {command.pidfd(), POLLIN, 0}};
		::poll(fds, std::size(fds), -1);
		handle_signals(&command);
		if (signals_seen_ > 2)
			command.signal(SIGKILL);
	}
}

} // namespace monitor::record
