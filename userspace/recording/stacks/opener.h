// SPDX-License-Identifier: MIT
// Opens files of other processes after the recorder has given up its privileges: a process of its own, forked before,
// that keeps only the capabilities for it, parses nothing and does nothing but open what it is asked for, for reading.
// Used by stack_recorder.cpp.
//
// A file system that does not answer costs max_seconds and the process that asked it; another one takes its place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::stacks {

class Opener {
public:
	static constexpr unsigned max_seconds = 1;

	// `drop` is called in the new process: it drops all but capabilities(). Before other threads exist. Throws
	// Error.
	explicit Opener(const std::function<void()> &drop);
	~Opener(); // ends it
	Opener(const Opener &) = delete;
	Opener &operator=(const Opener &) = delete;

	static std::vector<int> capabilities();

	// Closed if there is no such file, or it may not be opened. One thread.
	Fd maps(std::int32_t process);                                                // its list of mappings
	Fd mapped_file(std::int32_t process, std::uint64_t start, std::uint64_t end); // what it has mapped there
	Fd file(std::int32_t process, const std::string &path);                       // as the process sees it

private:
	struct Request;
	[[noreturn]] static void supervise(int socket);
	[[noreturn]] static void serve(int socket);
	Fd ask(const Request &request);

	Fd socket_;
	pid_t pid_ = 0;
};

} // namespace monitor::stacks
