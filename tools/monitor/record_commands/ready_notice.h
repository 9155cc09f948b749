// SPDX-License-Identifier: MIT
// `record --notify-fd`: notifies who started the recorder through a pipe that it records, and detects when that process
// is gone. That process is a fleet's agent (fleet/agent/recorder_process.cpp).
//
// send() is called while there is only one thread; watch() starts a thread, after privileges were dropped.
#pragma once

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

namespace monitor {

class ReadyNotice {
public:
	// Throws Error if `fd` is not a pipe. nullopt: no notification.
	explicit ReadyNotice(std::optional<int> fd)
	{
		if (!fd)
			return;
		struct stat status;
		if (::fstat(*fd, &status) < 0 || !S_ISFIFO(status.st_mode) ||
		    (::fcntl(*fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
			throw Error("--notify-fd: this descriptor is not a pipe that can be written");
		fd_ = Fd(*fd);
		::fcntl(*fd, F_SETFD, FD_CLOEXEC); // not inherited by the command
	}
	void send() const
	{
		const ssize_t ignored = fd_ ? ::write(fd_.get(), "\n", 1) : 0; // watch() detects a closed pipe
		static_cast<void>(ignored);
	}

	// During its lifetime, calls `on_gone` once when the pipe has no reader any more.
	class Watch {
	public:
		Watch(int fd, std::function<void()> on_gone) : ended_(::eventfd(0, EFD_CLOEXEC))
		{
			if (!ended_)
				throw Error(errno, "cannot watch --notify-fd");
			thread_ = std::thread([fd, ended = ended_.get(), on_gone = std::move(on_gone)] {
				pollfd fds[] = {{fd, 0, 0}, {ended, POLLIN, 0}};
				while (::poll(fds, 2, -1) < 0 && errno == EINTR)
					;
				if (!fds[1].revents)
					on_gone();
			});
		}
		~Watch()
		{
			::eventfd_write(ended_.get(), 1);
			thread_.join();
		}
		Watch(const Watch &) = delete;
		Watch &operator=(const Watch &) = delete;

	private:
		Fd ended_;
		std::thread thread_;
	};
	std::unique_ptr<Watch> watch(std::function<void()> on_gone) const
	{
		return fd_ ? std::make_unique<Watch>(fd_.get(), std::move(on_gone)) : nullptr;
	}

private:
	Fd fd_;
};

} // namespace monitor
