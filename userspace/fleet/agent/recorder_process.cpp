// SPDX-License-Identifier: MIT
#include "recorder_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::agent {
namespace {

constexpr int ready_fd_of_child = 3; // number in the child, for --notify-fd
constexpr std::string_view own_prefix = "monitor: ";
constexpr std::size_t max_line_bytes = 1024, max_lines = 64;
constexpr unsigned max_chunks = 16; // per call, as a process may print endless empty lines

std::pair<Fd, Fd> pipe_pair()
{
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) < 0)
		throw Error(errno, "cannot create a pipe");
	::fcntl(ends[0], F_SETFL, O_NONBLOCK); // the privileged process's end only
	return {Fd(ends[0]), Fd(ends[1])};
}

void set_environment(const ChildIdentity &identity)
{
	::clearenv();
	::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	if (identity.run_as)
		record::set_environment_of(*identity.run_as);
	if (identity.on_behalf_of) { // recorder/user.h reads it
		::setenv("SUDO_UID", std::to_string(identity.on_behalf_of->uid).c_str(), 1);
		::setenv("SUDO_GID", std::to_string(identity.on_behalf_of->gid).c_str(), 1);
	}
}

[[noreturn]] void run_child(const std::vector<std::string> &argv, const ChildIdentity &identity, int ready, int output)
{
	std::vector<char *> words;
	words.reserve(argv.size() + 1);
	for (const std::string &word : argv)
		words.push_back(const_cast<char *>(word.c_str()));
	words.push_back(nullptr);
	sigset_t none;
	sigemptyset(&none);
	::sigprocmask(SIG_SETMASK, &none, nullptr);
	for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP})
		::signal(number, SIG_DFL);
	const int high_ready = ::fcntl(ready, F_DUPFD_CLOEXEC, ready_fd_of_child + 1);
	const int high_output = ::fcntl(output, F_DUPFD_CLOEXEC, ready_fd_of_child + 1);
	const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
	::dup2(null, STDIN_FILENO);
	::dup2(high_output, STDOUT_FILENO);
	::dup2(high_output, STDERR_FILENO);
	::dup2(high_ready, ready_fd_of_child);
	::syscall(SYS_close_range, ready_fd_of_child + 1, ~0u, 0);
	::setsid();
	set_environment(identity);
	if (identity.run_as) {
		::close(ready_fd_of_child);
		record::drop_privileges(*identity.run_as);
		::prctl(PR_SET_PDEATHSIG, SIGTERM); // so that it does not outlive the privileged process
		if (::chdir(identity.run_as->home.c_str()) < 0 && ::chdir("/") < 0)
			::_exit(126);
	}
	::execvp(words[0], words.data());
	const int error = errno;
	const std::string why = fmt::format("monitor: cannot run {}: {}\n", words[0], std::strerror(error));
	if (::write(STDERR_FILENO, why.data(), why.size()) < 0)
		::_exit(126);
	::_exit(error == ENOENT ? 127 : 126);
}

} // namespace

RecorderProcess::RecorderProcess(const std::vector<std::string> &argv, const ChildIdentity &identity)
{
	auto [ready, their_ready] = pipe_pair();
	auto [output, their_output] = pipe_pair();
	pid_ = ::fork();
	if (pid_ < 0)
		throw Error(errno, "cannot start a process");
	if (pid_ == 0) {
		try {
			run_child(argv, identity, their_ready.get(), their_output.get());
		} catch (const std::exception &error) {
			fmt::print(stderr, "monitor: {}\n", error.what());
		}
		::_exit(126);
	}
	ready_ = std::move(ready);
	output_ = std::move(output);
}

bool RecorderProcess::poll_ready()
{
	char byte;
	const ssize_t n = ::read(ready_.get(), &byte, 1);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	is_ready_known_ = true; // left open, as the recorder ends when it is closed
	return n == 1;
}

void RecorderProcess::split_lines(std::vector<std::string> &lines)
{
	for (;;) {
		const std::size_t end = partial_line_.find_first_of("\n\r");
		const bool is_cut = std::min(end, partial_line_.size()) > max_line_bytes;
		if (end == std::string::npos && !is_cut)
			return;
		const std::size_t size = is_cut ? max_line_bytes : end;
		if (size > 0)
			lines.push_back(printable(partial_line_.substr(0, size)));
		partial_line_.erase(0, is_cut ? size : size + 1);
	}
}

std::vector<std::string> RecorderProcess::take_lines()
{
	std::vector<std::string> lines;
	char chunk[4096];
	ssize_t n = -1;
	for (unsigned i = 0;
	     i < max_chunks && lines.size() < max_lines && (n = ::read(output_.get(), chunk, sizeof chunk)) > 0; ++i) {
		partial_line_.append(chunk, static_cast<std::size_t>(n));
		split_lines(lines);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		output_.reset();
		partial_line_ += '\n';
		split_lines(lines);
	}
	for (const std::string &line : lines)
		if (line.starts_with(own_prefix)) // other programs' lines explain it better
			last_message_ = line.substr(own_prefix.size());
	return lines;
}

void RecorderProcess::end() const
{
	::kill(pid_, SIGTERM);
}

void RecorderProcess::end_session() const
{
	if (::kill(-pid_, SIGTERM) < 0) // before setsid() the group does not exist
		::kill(pid_, SIGTERM);
}

} // namespace monitor::agent
