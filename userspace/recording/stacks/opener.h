// SPDX-License-Identifier: MIT
// Opens files of other processes after the recorder has dropped its privileges: a child process, forked before, keeps
// only the capabilities for it, parses nothing, and only opens requested files for reading.
//
// Only regular files are opened, because opening a FIFO or a device has side effects. A file system that may hang
// (network, FUSE) must not block the recorder, so the child copies its files. A hang costs max_time and the child,
// which cannot be killed while it waits; another child replaces it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::stacks {

struct FileStatus {
	std::uint64_t inode = 0, size = 0;
	std::int64_t modified_ns = 0;
	bool is_local = false; // on a file system that cannot hang
};

// An opened file; `fd` is empty on failure, on a timeout, and if it is not a regular file.
struct OpenedFile : FileStatus {
	Fd fd;
	bool took_too_long = false;
};

class Opener {
public:
	static constexpr auto max_time = std::chrono::seconds(1);
	static constexpr std::uint64_t max_copied = 256 << 20; // bytes of a file; further ones are missing
	static constexpr std::uint64_t max_maps_bytes = 4 << 20;

	// On behalf of this user. Before other threads exist. Throws Error.
	explicit Opener(const record::User &user);
	~Opener(); // ends it
	Opener(const Opener &) = delete;
	Opener &operator=(const Opener &) = delete;

	// All child processes are gone: no request will be answered any more.
	bool is_lost() const { return is_lost_; }

	// One thread.
	Fd maps(std::int32_t process); // a copy of /proc/PID/maps
	OpenedFile mapped_file(std::int32_t process, std::uint64_t start,
			       std::uint64_t end);                      // the file mapped there
	OpenedFile file(std::int32_t process, const std::string &path); // path as seen by the process; 0: by us

private:
	struct Request;
	struct Answer;
	[[noreturn]] static void supervise(int requests, int control);
	[[noreturn]] static void serve(int requests);
	static void open_regular(const char *path, Answer &answer, Fd &fd);
	bool send(const Request &request);
	OpenedFile ask(Request request);

	Fd requests_, control_;
	bool is_lost_ = false;
	std::uint32_t sequence_ = 0;
	pid_t pid_ = 0;
};

} // namespace monitor::stacks
