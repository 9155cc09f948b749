// SPDX-License-Identifier: MIT
#include "debug_info.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/memory_bound.h"
#include "inlined_functions.h"

namespace monitor::symbols {
namespace {

constexpr std::uint32_t max_answer_bytes = 1 << 20;
constexpr int max_wait_ms = 20'000; // per answer; the first ones take longer, as tables are parsed
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

// The running helper processes, which share one memory budget. Only the one that answers grows: it may use what the
// others leave.
class Helpers {
public:
	// RLIMIT_AS of a helper: its address space at its start; what the others leave of the budget, but no less than
	// it uses already; and twice the files that it maps.
	static rlim_t address_space_limit(pid_t process, std::initializer_list<int> files)
	{
		rlim_t mapped = 0;
		for (const int file : files) {
			struct stat status {};
			::fstat(file, &status);
			constexpr std::int64_t block_bytes = 512; // stat(2); a sparse file has few blocks
			mapped +=
			    static_cast<rlim_t>(std::min<std::int64_t>(status.st_size, status.st_blocks * block_bytes));
		}
		const std::uint64_t budget = memory_for_helpers();
		std::uint64_t others = 0;
		const std::lock_guard guard(lock_);
		for (const auto &[other, at_start] : at_start_)
			others += other == process ? 0 : grown_by(other, at_start);
		const std::uint64_t own = grown_by(process, at_start_[process]);
		return memory_of(process).mapped - own + std::max(budget, others + own) - others + 2 * mapped;
	}
	static void add(pid_t process)
	{
		const std::lock_guard guard(lock_);
		at_start_[process] = memory_of(process).anonymous;
	}
	static void remove(pid_t process)
	{
		const std::lock_guard guard(lock_);
		at_start_.erase(process);
	}

private:
	struct Memory {
		std::uint64_t mapped = 0, anonymous = 0; // anonymous: resident pages only
	};
	static Memory memory_of(pid_t process)
	{
		std::uint64_t mapped = 0, resident = 0, of_files = 0;
		std::ifstream("/proc/" + std::to_string(process) + "/statm") >> mapped >> resident >> of_files;
		const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
		return {mapped * page, (resident - of_files) * page};
	}
	static std::uint64_t grown_by(pid_t process, std::uint64_t at_start)
	{
		const std::uint64_t now = memory_of(process).anonymous;
		return now - std::min(now, at_start);
	}

	static inline std::mutex lock_;
	static inline std::map<pid_t, std::uint64_t> at_start_; // anonymous memory, inherited from the parent
};

void limit_this_process()
{
	::prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (const auto &[resource, value] : {std::pair{RLIMIT_CPU, max_cpu_s}, std::pair{RLIMIT_CORE, rlim_t{0}}}) {
		const rlimit limit{value, value};
		::setrlimit(resource, &limit);
	}
}

// Closes all descriptors except these and the standard ones: a recorder has its probes' rings open.
void close_all_but(std::array<int, 3> kept)
{
	std::ranges::sort(kept);
	int from = STDERR_FILENO + 1;
	for (const int fd : kept) {
		if (from < fd)
			::syscall(SYS_close_range, from, fd - 1, 0);
		from = std::max(from, fd + 1);
	}
	::syscall(SYS_close_range, from, INT_MAX, 0);
}

// Sent in memory representation: both ends run the same program.
struct AnswerHeader {
	std::uint32_t bytes = 0;  // of the texts that follow
	std::uint32_t frames = 0; // number of frames; their texts come first, two per frame
};

// The helper's loop. A request is an address. An answer is an AnswerHeader and NUL-terminated texts: function and line
// of each frame, then the paths at which a missing file was looked for. `common`: the file that .gnu_debugaltlink
// names.
[[noreturn]] void serve(int file, int common, int socket)
{
	close_all_but({file, common, socket});
	limit_this_process();
	set_memory_bound(0); // RLIMIT_AS bounds it instead
	std::optional<InlinedFunctions> functions;
	std::uint64_t address;
	while (receive_all(socket, std::as_writable_bytes(std::span(&address, 1)), -1)) {
		if (!functions) // only now, as the parent sets the limit before its first request
			functions.emplace(file, common);
		std::vector<std::string> tried_paths;
		const std::vector<SourceFrame> frames = functions->find(address, tried_paths);
		if (!functions->is_readable())
			::_exit(1);
		AnswerHeader header;
		std::string answer;
		for (const SourceFrame &frame : frames) {
			const std::string text = frame.function + '\0' + frame.line + '\0';
			if (answer.size() + text.size() > max_answer_bytes)
				break;
			answer += text;
			++header.frames;
		}
		for (const std::string &path : tried_paths)
			if (answer.size() + path.size() < max_answer_bytes)
				answer += path + '\0';
		header.bytes = static_cast<std::uint32_t>(answer.size());
		if (!send_all(socket, std::as_bytes(std::span(&header, 1))) ||
		    !send_all(socket, std::as_bytes(std::span(answer))))
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
    : file_(std::move(other.file_)), common_(std::move(other.common_)), socket_(std::move(other.socket_)),
      not_found_(std::move(other.not_found_)), stop_fd_(other.stop_fd_), process_(std::exchange(other.process_, 0)),
      has_failed_(other.has_failed_)
{
}

DebugInfo::~DebugInfo()
{
	stop();
}

void DebugInfo::stop()
{
	socket_.reset();
	file_.reset();
	common_.reset();
	if (process_ > 0) {
		end_process(process_);
		Helpers::remove(process_);
	}
	process_ = 0;
}

bool DebugInfo::start()
{
	if (process_)
		return true;
	int ends[2];
	if (!file_ || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	Fd own_end(ends[0]), child_end(ends[1]);
	process_ = ::fork();
	if (process_ == 0) {
		own_end.reset();
		serve(file_.get(), common_.get(), child_end.get());
	}
	socket_ = std::move(own_end);
	if (process_ > 0)
		Helpers::add(process_);
	return process_ > 0;
}

std::vector<SourceFrame> DebugInfo::find(std::uint64_t address)
{
	if (has_failed_)
		return {};
	AnswerHeader header;
	const auto limit = [this] {
		rlimit memory{};
		::prlimit(process_, RLIMIT_AS, nullptr, &memory);
		memory.rlim_cur =
		    std::min(Helpers::address_space_limit(process_, {file_.get(), common_.get()}), memory.rlim_max);
		return ::prlimit(process_, RLIMIT_AS, &memory, nullptr) == 0;
	};
	if (start() && limit() && send_all(socket_.get(), std::as_bytes(std::span(&address, 1))) &&
	    receive_all(socket_.get(), std::as_writable_bytes(std::span(&header, 1)), max_wait_ms, stop_fd_) &&
	    header.bytes <= max_answer_bytes) {
		std::string answer(header.bytes, '\0');
		if (receive_all(socket_.get(), std::as_writable_bytes(std::span(answer)), max_wait_ms, stop_fd_)) {
			std::vector<std::string> texts;
			for (std::size_t at = 0, end; (end = answer.find('\0', at)) != std::string::npos; at = end + 1)
				texts.push_back(answer.substr(at, end - at));
			std::vector<SourceFrame> frames;
			const std::size_t frame_texts =
			    std::min<std::size_t>(2 * std::size_t{header.frames}, texts.size());
			for (std::size_t i = 0; i + 1 < frame_texts; i += 2)
				frames.push_back({texts[i], texts[i + 1]});
			not_found_.add({texts.begin() + static_cast<std::ptrdiff_t>(frame_texts), texts.end()});
			return frames;
		}
	}
	has_failed_ = true;
	stop();
	return {};
}

} // namespace monitor::symbols
