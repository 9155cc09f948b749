// SPDX-License-Identifier: MIT
#include "trigger_runner.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/signals.h"

namespace monitor::record {

// Runs a command, or sends a signal; the answer is 0 or errno.
struct TriggerRunner::Request {
	enum class What : std::uint32_t { run, signal } what = What::run;
	std::uint32_t command = 0;
	std::int32_t process = 0, number = 0;
	std::array<char, 4000> environment{}; // NAME=VALUE, each ended by a NUL
};

namespace {

constexpr const char *cannot_start = "cannot start the process that runs the commands of triggers";
constexpr int first_fd = 3; // of the process, besides the usual ones: requests, then answers

pid_t start(const std::string &command, const std::array<char, 4000> &environment)
{
	const pid_t child = ::fork();
	if (child != 0)
		return child;
	restore_signals();
	for (const char *at = environment.data(); *at; at += std::strlen(at) + 1)
		::putenv(const_cast<char *>(at));
	const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
	::dup2(null, STDIN_FILENO);
	::dup2(STDERR_FILENO, STDOUT_FILENO); // standard output belongs to the recorded command
	::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
	::_exit(127);
}

} // namespace

TriggerRunner::TriggerRunner(std::vector<std::string> commands, const User &user)
{
	auto [requests, their_requests] = make_socket_pair(SOCK_SEQPACKET, cannot_start);
	auto [answers, their_answers] = make_socket_pair(SOCK_SEQPACKET, cannot_start);
	pid_ = ::fork();
	if (pid_ < 0)
		throw Error(errno, cannot_start);
	if (pid_ != 0) {
		requests_ = std::move(requests);
		answers_ = std::move(answers);
		::fcntl(answers_.get(), F_SETFL, O_NONBLOCK);
		// Others may stop this process (SIGSTOP); the recorder must not block then.
		const timeval timeout{0, 200'000};
		::setsockopt(requests_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
		::setsockopt(requests_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
		return;
	}
	const int high[] = {::fcntl(their_requests.get(), F_DUPFD_CLOEXEC, first_fd + 2),
			    ::fcntl(their_answers.get(), F_DUPFD_CLOEXEC, first_fd + 2)};
	::dup3(high[0], first_fd, O_CLOEXEC);
	::dup3(high[1], first_fd + 1, O_CLOEXEC);
	::syscall(SYS_close_range, first_fd + 2, ~0u, 0);
	if (become(user)) {
		set_environment_of(user);
		::setsid(); // Ctrl-C is for the recorder, also while a command runs
		serve(commands, first_fd, first_fd + 1);
	}
	::_exit(1);
}

TriggerRunner::~TriggerRunner()
{
	requests_ = {}; // makes the process exit, unless stopped
	if (!wait_for_end(pid_, std::chrono::milliseconds(100)))
		end_process(pid_);
}

// Drops pending requests, and the answers' descriptor, which poll() would report forever.
void TriggerRunner::give_up()
{
	is_lost_ = true;
	const Fd silent(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	::dup3(silent.get(), answers_.get(), O_CLOEXEC);
}

void TriggerRunner::serve(const std::vector<std::string> &commands, int requests, int answers)
{
	sigset_t children, all;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigfillset(&all); // signals to all processes of a service are for the recorder
	::sigprocmask(SIG_SETMASK, &all, nullptr);
	const int ended = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	Ended running{};
	pid_t child = -1;
	for (;;) {
		pollfd fds[] = {{requests, POLLIN, 0}, {ended, POLLIN, 0}};
		::poll(fds, std::size(fds), -1);
		signalfd_siginfo info;
		while (::read(ended, &info, sizeof info) == sizeof info)
			;
		int status;
		if (child > 0 && ::waitpid(child, &status, WNOHANG) == child) {
			child = -1;
			running.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			::send(answers, &running, sizeof running, MSG_NOSIGNAL);
		}
		if (!fds[0].revents)
			continue;
		Request request;
		if (::recv(requests, &request, sizeof request, 0) != sizeof request)
			::_exit(0);
		request.environment.back() = 0;
		if (request.what == Request::What::signal) {
			const std::int32_t error = ::kill(request.process, request.number) < 0 ? errno : 0;
			::send(requests, &error, sizeof error, MSG_NOSIGNAL);
		} else if (request.command < commands.size() && child < 0) {
			running.command = request.command;
			child = start(commands[request.command], request.environment);
			if (child < 0) {
				running.status = 127;
				::send(answers, &running, sizeof running, MSG_NOSIGNAL);
			}
		}
	}
}

bool TriggerRunner::run(std::uint32_t command, const std::vector<std::string> &environment)
{
	if (is_running_ || is_lost_)
		return false;
	Request request;
	request.command = running_ = command;
	std::size_t used = 0;
	for (const std::string &entry : environment) {
		if (used + entry.size() + 2 > request.environment.size())
			continue;
		std::memcpy(request.environment.data() + used, entry.c_str(), entry.size() + 1);
		used += entry.size() + 1;
	}
	is_running_ = ::send(requests_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request;
	return is_running_;
}

bool TriggerRunner::signal(pid_t process, int number)
{
	Request request;
	request.what = Request::What::signal;
	request.process = process;
	request.number = number;
	std::int32_t error = ESRCH;
	if (is_lost_ || process <= 0 || process == pid_)
		return false;
	if (::send(requests_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request &&
	    ::recv(requests_.get(), &error, sizeof error, 0) == sizeof error)
		return error == 0;
	give_up();
	return false;
}

std::vector<TriggerRunner::Ended> TriggerRunner::take_ended()
{
	std::vector<Ended> all;
	Ended ended;
	ssize_t n = 0;
	while (!is_lost_ && (n = ::recv(answers_.get(), &ended, sizeof ended, 0)) == sizeof ended) {
		all.push_back(ended);
		is_running_ = false;
	}
	if (!is_lost_ && n == 0) { // it was killed
		if (is_running_)
			all.push_back({running_, 128 + SIGKILL});
		is_running_ = false;
		give_up();
	}
	return all;
}

} // namespace monitor::record
