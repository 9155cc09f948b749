// SPDX-License-Identifier: MIT
#include "debug_info.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>
#include <iterator>
#include <span>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child_process.h"
#include "inlined_functions.h"

namespace monitor::symbols {
namespace {

constexpr std::uint32_t max_answer_bytes = 1 << 20;
constexpr int max_wait_ms = 20'000;             // for one answer; the first ones read tables
constexpr rlim_t max_memory_bytes = 4ull << 30; // more than this process has
constexpr rlim_t max_cpu_s = 300;

bool send_all(int fd, std::span<const std::byte> bytes)
{
	while (!bytes.empty()) {
		const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes = bytes.subspan(static_cast<std::size_t>(sent));
	}
	return true;
}

bool receive_all(int fd, std::span<std::byte> bytes, int wait_ms, int stop_fd = -1)
{
	while (!bytes.empty()) {
		pollfd ready[] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
		const int polled = ::poll(ready, std::size(ready), wait_ms);
		if (polled < 0 && errno == EINTR)
			continue;
		if (polled <= 0 || ready[1].revents)
			return false;
		const ssize_t received = ::recv(fd, bytes.data(), bytes.size(), 0);
		if (received < 0 && errno == EINTR)
			continue;
		if (received <= 0)
			return false;
		bytes = bytes.subspan(static_cast<std::size_t>(received));
	}
	return true;
}

void limit_this_process()
{
	::prctl(PR_SET_PDEATHSIG, SIGKILL);
	std::uint64_t pages = 0;
	std::ifstream("/proc/self/statm") >> pages;
	const rlim_t memory = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + max_memory_bytes;
	for (const auto &[resource, value] :
	     {std::pair{RLIMIT_AS, memory}, std::pair{RLIMIT_CPU, max_cpu_s}, std::pair{RLIMIT_CORE, rlim_t{0}}}) {
		const rlimit limit{value, value};
		::setrlimit(resource, &limit);
	}
}

// Of what is open: a recorder has what its probes write to.
void keep_only(int a, int b)
{
	const auto close = [](int from, int to) {
		if (from <= to)
			::syscall(SYS_close_range, from, to, 0);
	};
	close(STDERR_FILENO + 1, std::min(a, b) - 1);
	close(std::min(a, b) + 1, std::max(a, b) - 1);
	close(std::max(a, b) + 1, INT_MAX);
}

// An address comes in, a length and the texts of its frames, each ended by a NUL, go out.
[[noreturn]] void serve(int file, int socket)
{
	keep_only(file, socket);
	limit_this_process();
	InlinedFunctions functions(file);
	std::uint64_t address;
	while (receive_all(socket, std::as_writable_bytes(std::span(&address, 1)), -1)) {
		std::string answer(sizeof(std::uint32_t), '\0');
		for (const SourceFrame &frame : functions.find(address)) {
			const std::string text = frame.function + '\0' + frame.line + '\0';
			if (answer.size() + text.size() > max_answer_bytes)
				break;
			answer += text;
		}
		const auto size = static_cast<std::uint32_t>(answer.size() - sizeof(std::uint32_t));
		std::ranges::copy(std::as_bytes(std::span(&size, 1)), reinterpret_cast<std::byte *>(answer.data()));
		if (!send_all(socket, std::as_bytes(std::span(answer))))
			break;
	}
	::_exit(0);
}

} // namespace

bool DebugInfo::is_available()
{
	return InlinedFunctions::is_available;
}

DebugInfo::DebugInfo(DebugInfo &&other) noexcept
    : file_(std::move(other.file_)), asked_(std::move(other.asked_)), stop_fd_(other.stop_fd_),
      process_(std::exchange(other.process_, 0)), has_failed_(other.has_failed_)
{
}

DebugInfo::~DebugInfo()
{
	stop();
}

void DebugInfo::stop()
{
	asked_.reset();
	file_.reset();
	if (process_ > 0)
		end_process(process_);
	process_ = 0;
}

bool DebugInfo::start()
{
	if (process_)
		return true;
	int ends[2];
	if (!file_ || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	Fd ours(ends[0]), its(ends[1]);
	process_ = ::fork();
	if (process_ == 0) {
		ours.reset();
		serve(file_.get(), its.get());
	}
	asked_ = std::move(ours);
	return process_ > 0;
}

std::vector<SourceFrame> DebugInfo::find(std::uint64_t address)
{
	if (has_failed_)
		return {};
	std::uint32_t size = 0;
	if (start() && send_all(asked_.get(), std::as_bytes(std::span(&address, 1))) &&
	    receive_all(asked_.get(), std::as_writable_bytes(std::span(&size, 1)), max_wait_ms, stop_fd_) &&
	    size <= max_answer_bytes) {
		std::string answer(size, '\0');
		if (receive_all(asked_.get(), std::as_writable_bytes(std::span(answer)), max_wait_ms, stop_fd_)) {
			std::vector<std::string> texts;
			for (std::size_t at = 0, end; (end = answer.find('\0', at)) != std::string::npos; at = end + 1)
				texts.push_back(answer.substr(at, end - at));
			std::vector<SourceFrame> frames;
			for (std::size_t i = 0; i + 1 < texts.size(); i += 2)
				frames.push_back({texts[i], texts[i + 1]});
			return frames;
		}
	}
	has_failed_ = true;
	stop();
	return {};
}

} // namespace monitor::symbols
