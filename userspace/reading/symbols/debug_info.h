// SPDX-License-Identifier: MIT
// What was inlined at an address, and on which lines: asked of libdw, in a process of its own. A file of debug
// information is as untrusted as any other, and the library that reads it is large: if it crashes, hangs or takes too
// much, what is lost is what was inlined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::symbols {

// A function at an address and the line that it is on: of its own code, or of the call that was inlined.
struct SourceFrame {
	std::string function; // as it is written in the source; empty: unknown
	std::string line;     // "slow.c:42"; empty: unknown
};

// Files with parts of a file's debug information that were not found.
struct MissingFiles {
	std::size_t count = 0;
	std::vector<std::string> paths; // at which the first one was looked for

	void add(std::vector<std::string> tried_paths)
	{
		if (!tried_paths.empty() && count++ == 0)
			paths = std::move(tried_paths);
	}
};

class DebugInfo {
public:
	static bool is_available(); // whether this program was built with libdw

	// `file` has a section .debug_info; `common`, if any, is what its .gnu_debugaltlink names. When `stop_fd` is
	// readable, nothing is waited for any more.
	explicit DebugInfo(Fd file, Fd common = {}, int stop_fd = -1)
	    : file_(std::move(file)), common_(std::move(common)), stop_fd_(stop_fd)
	{
	}
	DebugInfo(DebugInfo &&other) noexcept;
	DebugInfo &operator=(DebugInfo &&) = delete;
	~DebugInfo();

	// The function that was compiled first, then what was inlined into it. `address` as the file counts them.
	// Empty: nothing is known.
	std::vector<SourceFrame> find(std::uint64_t address);
	// Its process ended before its time; nothing more is known.
	bool has_failed() const { return has_failed_; }
	// Of what was asked for.
	const MissingFiles &not_found() const { return not_found_; }

private:
	bool start();
	void stop();

	Fd file_, common_, socket_;
	MissingFiles not_found_;
	int stop_fd_ = -1;
	pid_t process_ = 0;
	bool has_failed_ = false;
};

} // namespace monitor::symbols
