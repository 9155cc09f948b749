// SPDX-License-Identifier: MIT
#include "opener.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/error.h"

namespace monitor::stacks {

struct Opener::Request {
	enum class What : std::uint32_t { maps, mapped_file, file } what;
	std::int32_t process;
	std::uint64_t start, end;
	char path[4096];
};

namespace {

// One byte, with a descriptor if the file could be opened.
void answer(int socket, int fd)
{
	char byte = 0, space[CMSG_SPACE(sizeof fd)] = {};
	iovec content{&byte, 1};
	msghdr message{};
	message.msg_iov = &content;
	message.msg_iovlen = 1;
	if (fd >= 0) {
		message.msg_control = space;
		message.msg_controllen = sizeof space;
		cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof fd);
		std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
	}
	::sendmsg(socket, &message, MSG_NOSIGNAL);
}

Fd take_answer(int socket)
{
	char byte, space[CMSG_SPACE(sizeof(int))];
	iovec content{&byte, 1};
	msghdr message{};
	message.msg_iov = &content;
	message.msg_iovlen = 1;
	message.msg_control = space;
	message.msg_controllen = sizeof space;
	if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return {};
	const cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return {};
	int fd;
	std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
	return Fd(fd);
}

} // namespace

Opener::Opener(const std::function<void()> &drop)
{
	int ends[2];
	if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		throw Error(errno, "cannot start the process that opens files");
	socket_ = Fd(ends[0]);
	Fd theirs(ends[1]);
	const pid_t recorder = ::getpid();
	pid_ = ::fork();
	if (pid_ < 0)
		throw Error(errno, "cannot start the process that opens files");
	if (pid_ != 0)
		return;
	::dup2(theirs.get(), 3);
	::syscall(SYS_close_range, 4, ~0u, 0);
	try {
		drop();
		::prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (::getppid() == recorder)
			supervise(3);
	} catch (...) {
	}
	::_exit(1);
}

Opener::~Opener()
{
	::kill(pid_, SIGKILL);
	while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR)
		;
}

// Whoever serves may hang at a file and is ended by its alarm then; the request gets its answer from here.
void Opener::supervise(int socket)
{
	sigset_t none;
	sigemptyset(&none);
	::sigprocmask(SIG_SETMASK, &none, nullptr);
	for (;;) {
		const pid_t supervisor = ::getpid(), child = ::fork();
		if (child == 0) {
			::prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (::getppid() == supervisor)
				serve(socket);
			::_exit(0);
		}
		int status = 0;
		if (child < 0 || ::waitpid(child, &status, 0) < 0 || WIFEXITED(status))
			::_exit(0);
		answer(socket, -1);
	}
}

void Opener::serve(int socket)
{
	Request request;
	while (::recv(socket, &request, sizeof request, 0) == sizeof request) {
		::alarm(max_seconds);
		request.path[sizeof request.path - 1] = '\0';
		const std::string path =
		    request.what == Request::What::maps ? fmt::format("/proc/{}/maps", request.process)
		    : request.what == Request::What::mapped_file
			? fmt::format("/proc/{}/map_files/{:x}-{:x}", request.process, request.start, request.end)
			: fmt::format("/proc/{}/root{}", request.process, request.path);
		const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
		::alarm(0);
		answer(socket, fd.get());
	}
	::_exit(0);
}

std::vector<int> Opener::capabilities()
{
	const bool restore = ::prctl(PR_CAPBSET_READ, CAP_CHECKPOINT_RESTORE) >= 0;
	return {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, restore ? CAP_CHECKPOINT_RESTORE : CAP_SYS_ADMIN};
}

Fd Opener::ask(const Request &request)
{
	if (!socket_ || ::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
		return {};
	pollfd reply{socket_.get(), POLLIN, 0};
	if (::poll(&reply, 1, 5 * 1000 * static_cast<int>(max_seconds)) != 1) {
		socket_.reset(); // its late answer would be taken for the next one
		return {};
	}
	return take_answer(socket_.get());
}

Fd Opener::maps(std::int32_t process)
{
	return ask({Request::What::maps, process, 0, 0, {}});
}

Fd Opener::mapped_file(std::int32_t process, std::uint64_t start, std::uint64_t end)
{
	return ask({Request::What::mapped_file, process, start, end, {}});
}

Fd Opener::file(std::int32_t process, const std::string &path)
{
	Request request{Request::What::file, process, 0, 0, {}};
	if (path.size() >= sizeof request.path)
		return {};
	path.copy(request.path, path.size());
	return ask(request);
}

} // namespace monitor::stacks
