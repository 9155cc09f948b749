// SPDX-License-Identifier: MIT
#include "command.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/signals.h"

namespace monitor::record {
namespace {

// Resolves PATH before the recording, which would otherwise contain execvp()'s failing system calls. Only if the
// command runs as this user: another may have access to other directories.
std::string found_in_path(const std::string &name)
{
	const char *path = std::getenv("PATH");
	if (!path || name.find('/') != std::string::npos)
		return "";
	std::istringstream directories(path);
	for (std::string directory; std::getline(directories, directory, ':');) {
		const std::string file = (directory.empty() ? "." : directory) + '/' + name;
		struct stat found;
		if (::access(file.c_str(), X_OK) == 0 && ::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode))
			return file;
	}
	return "";
}

[[noreturn]] void run_child(const std::vector<std::string> &arguments, const User &user, int start, int status)
{
	std::vector<char *> argv;
	argv.reserve(arguments.size() + 1);
	for (const std::string &argument : arguments)
		argv.push_back(const_cast<char *>(argument.c_str()));
	argv.push_back(nullptr);
	restore_signals();
	const std::string file = user.differs ? "" : found_in_path(arguments[0]);
	char byte;
	if (::read(start, &byte, 1) != 1)
		::_exit(0); // the recorder failed before the start
	int error = 0;
	if (!become(user)) {
		error = errno;
	} else {
		set_environment_of(user);
		if (!file.empty())
			::execv(file.c_str(), argv.data());
		::execvp(argv[0], argv.data()); // a script without #!, or not executable by this user
		error = errno;
	}
	if (::write(status, &error, sizeof error) < 0)
		::_exit(126);
	::_exit(error == ENOENT ? 127 : 126);
}

int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

Command::Command(const std::vector<std::string> &arguments, const User &user,
		 const std::vector<std::string> &environment)
{
	auto [start_read, start_write] = make_pipe("cannot create a pipe");
	auto [status_read, status_write] = make_pipe("cannot create a pipe");
	pid_ = ::fork();
	if (pid_ < 0)
		throw Error(errno, "cannot start the command");
	if (pid_ == 0) {
		start_write.reset();
		status_read.reset();
		for (const std::string &addition : environment)
			::putenv(const_cast<char *>(addition.c_str()));
		run_child(arguments, user, start_read.get(), status_write.get());
	}
	start_ = std::move(start_write);
	status_ = std::move(status_read);
	pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
	if (!pidfd_)
		throw Error(errno, "cannot watch the command");
}

Command::~Command()
{
	if (start_) { // never released
		start_.reset();
		wait();
	}
}

int Command::go()
{
	const char byte = 1;
	if (::write(start_.get(), &byte, 1) != 1) // killed by a signal before the start
		return errno == EPIPE ? EINTR : errno;
	start_.reset();
	int error = 0;
	ssize_t n;
	do
		n = ::read(status_.get(), &error, sizeof error);
	while (n < 0 && errno == EINTR);
	status_.reset();
	if (n == sizeof error)
		wait();
	return n == sizeof error ? error : 0;
}

void Command::signal(int number) const
{
	if (!exit_code_)
		::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::optional<int> Command::poll()
{
	int status;
	if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
		exit_code_ = exit_code_of(status);
	return exit_code_;
}

int Command::wait()
{
	int status;
	while (!exit_code_) {
		const pid_t reaped = ::waitpid(pid_, &status, 0);
		if (reaped == pid_)
			exit_code_ = exit_code_of(status);
		else if (errno != EINTR)
			exit_code_ = 126;
	}
	return *exit_code_;
}

} // namespace monitor::record
