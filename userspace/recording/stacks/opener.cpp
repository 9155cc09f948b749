// SPDX-License-Identifier: MIT
#include "opener.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/passed_fd.h"

namespace monitor::stacks {

struct Opener::Request {
	enum class Kind : std::uint32_t { maps, mapped_file, file } kind;
	std::uint32_t sequence = 0;
	std::int32_t process;
	std::uint64_t start, end;
	char path[4096];
};

// Exchanged between processes of this recorder only.
struct Opener::Answer : FileStatus {
	std::uint32_t sequence = 0;
};

namespace {

constexpr const char *cannot_start = "cannot start the process that opens files";
constexpr int requests_fd = 3, control_fd = 4;
constexpr unsigned max_ended = 16; // replaced processes: hung in a file system, or killed

// Whether the file system is on a local disk or in memory; others may hang.
bool is_local(int fd)
{
	constexpr std::uint32_t xfs = 0x58465342, zfs = 0x2fc12fc1, bcachefs = 0xca451a4e;
	constexpr std::uint32_t types[] = {EXT4_SUPER_MAGIC,
					   xfs,
					   BTRFS_SUPER_MAGIC,
					   TMPFS_MAGIC,
					   RAMFS_MAGIC,
					   OVERLAYFS_SUPER_MAGIC,
					   SQUASHFS_MAGIC,
					   F2FS_SUPER_MAGIC,
					   EROFS_SUPER_MAGIC_V1,
					   ISOFS_SUPER_MAGIC,
					   MSDOS_SUPER_MAGIC,
					   HUGETLBFS_MAGIC,
					   zfs,
					   bcachefs};
	struct statfs status;
	return ::fstatfs(fd, &status) == 0 &&
	       std::ranges::find(types, static_cast<std::uint32_t>(status.f_type)) != std::end(types);
}

Fd copy_of(int from, std::uint64_t max_bytes)
{
	static std::byte part[1 << 16];
	Fd copy(::memfd_create("monitor", MFD_CLOEXEC));
	ssize_t n;
	for (std::uint64_t left = max_bytes; copy && left > 0; left -= static_cast<std::uint64_t>(n)) {
		n = ::read(from, part, std::min<std::uint64_t>(left, sizeof part));
		if (n <= 0 || ::write(copy.get(), part, static_cast<std::size_t>(n)) != n)
			break;
	}
	::lseek(copy.get(), 0, SEEK_SET);
	return copy;
}

} // namespace

Opener::Opener(const record::User &user)
{
	auto [requests, their_requests] = make_socket_pair(SOCK_SEQPACKET, cannot_start);
	auto [control, their_control] = make_socket_pair(SOCK_STREAM, cannot_start);
	requests_ = std::move(requests);
	control_ = std::move(control);
	pid_ = start_helper(
	    {their_requests.get(), their_control.get()},
	    [&] { record::drop_privileges(user, record::capabilities_to_read_processes()); },
	    [] { supervise(requests_fd, control_fd); });
	if (pid_ < 0)
		throw Error(errno, cannot_start);
}

Opener::~Opener()
{
	control_.reset(); // makes the supervisor exit, even where it may not be killed
	requests_.reset();
	end_process(pid_);
}

// A byte from the recorder means that the serving process hangs: it is killed, possibly with delay, and not waited for.
// A serving process that died otherwise has lost a request, of which a byte notifies the recorder.
void Opener::supervise(int requests, int control)
{
	for (unsigned ended = 0; ended < max_ended; ++ended) {
		const pid_t supervisor = ::getpid(), child = ::fork();
		if (child < 0)
			break;
		if (child == 0) {
			become_helper(supervisor);
			serve(requests);
		}
		const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
		pollfd fds[] = {{control, POLLIN, 0}, {process.get(), POLLIN, 0}};
		while (::poll(fds, std::size(fds), -1) < 0 && errno == EINTR)
			;
		char byte = 0;
		const ssize_t n =
		    fds[0].revents ? ::recv(control, &byte, 1, 0) : ::send(control, &byte, 1, MSG_NOSIGNAL);
		if (n != 1)
			break;
		::kill(child, SIGKILL);
		while (::waitpid(-1, nullptr, WNOHANG) > 0)
			;
	}
	::_exit(0);
}

void Opener::open_regular(const char *path, Answer &answer, Fd &fd)
{
	const Fd path_fd(::open(path, O_PATH | O_CLOEXEC));
	struct stat status;
	if (!path_fd || ::fstat(path_fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
		return;
	answer.inode = status.st_ino;
	answer.size = static_cast<std::uint64_t>(status.st_size);
	answer.modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
	answer.is_local = is_local(path_fd.get());
	fd = Fd(::open(fmt::format("/proc/self/fd/{}", path_fd.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (fd && !answer.is_local)
		fd = copy_of(fd.get(), max_copied);
}

void Opener::serve(int requests)
{
	Request request;
	while (::recv(requests, &request, sizeof request, 0) == sizeof request) {
		request.path[sizeof request.path - 1] = '\0';
		Answer answer{{}, request.sequence};
		Fd fd;
		if (request.kind == Request::Kind::maps) {
			fd = Fd(::open(fmt::format("/proc/{}/maps", request.process).c_str(), O_RDONLY | O_CLOEXEC));
			if (fd) // reading maps waits for mmap_lock
				fd = copy_of(fd.get(), max_maps_bytes);
		} else if (request.kind == Request::Kind::mapped_file)
			open_regular(
			    fmt::format("/proc/{}/map_files/{:x}-{:x}", request.process, request.start, request.end)
				.c_str(),
			    answer, fd);
		else if (request.process != 0)
			open_regular(fmt::format("/proc/{}/root{}", request.process, request.path).c_str(), answer, fd);
		else
			open_regular(request.path, answer, fd);
		send_with_fd(requests, answer, fd.get());
	}
	::_exit(0);
}

bool Opener::send(const Request &request)
{
	if (::send(requests_.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
		is_lost_ = true;
	return !is_lost_;
}

// A hung process may still answer an earlier request, so each attempt has its own number.
OpenedFile Opener::ask(Request request)
{
	using Clock = std::chrono::steady_clock;
	request.sequence = ++sequence_;
	if (is_lost_ || !send(request))
		return {};
	const auto end = Clock::now() + max_time;
	for (bool is_sent_again = false;;) {
		const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
		pollfd from[] = {{requests_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}};
		const int ready = left.count() > 0 ? ::poll(from, std::size(from), static_cast<int>(left.count())) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		OpenedFile opened;
		char byte = 0;
		if (ready <= 0) {
			is_lost_ = ::send(control_.get(), &byte, 1, MSG_NOSIGNAL) != 1;
			opened.took_too_long = true;
			return opened;
		}
		if (from[1].revents) { // a new process serves
			is_lost_ = ::recv(control_.get(), &byte, 1, 0) != 1;
			if (is_lost_ || std::exchange(is_sent_again, true) || !send(request))
				return {};
			continue;
		}
		Answer answer;
		if (!take_with_fd(requests_.get(), answer, opened.fd)) {
			is_lost_ = true;
			return {};
		}
		if (answer.sequence != request.sequence)
			continue;
		static_cast<FileStatus &>(opened) = answer;
		return opened;
	}
}

Fd Opener::maps(std::int32_t process)
{
	return ask({Request::Kind::maps, 0, process, 0, 0, {}}).fd;
}

OpenedFile Opener::mapped_file(std::int32_t process, std::uint64_t start, std::uint64_t end)
{
	return ask({Request::Kind::mapped_file, 0, process, start, end, {}});
}

OpenedFile Opener::file(std::int32_t process, const std::string &path)
{
	Request request{Request::Kind::file, 0, process, 0, 0, {}};
	if (path.size() >= sizeof request.path)
		return {};
	path.copy(request.path, path.size());
	return ask(request);
}

} // namespace monitor::stacks
