// SPDX-License-Identifier: MIT
// Functions inlined at an address and their lines, from libdw in a separate process: debug information is untrusted,
// and the library is large. If it crashes, hangs or exceeds its limits, only inlined functions are lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::symbols {

// A function at an address and its current line: of its own code, or of the inlined call.
struct SourceFrame {
	std::string function; // as in the source; empty: unknown
	std::string line;     // "slow.c:42"; empty: unknown
};

// Files with parts of a file's debug information that were not found.
struct MissingFiles {
	std::size_t count = 0;
	std::vector<std::string> paths; // where the first one was looked for

	void add(std::vector<std::string> tried_paths)
	{
		if (!tried_paths.empty() && count++ == 0)
			paths = std::move(tried_paths);
	}
};

class DebugInfo {
public:
	static bool is_available(); // whether this program was built with libdw

	// `file` has a section .debug_info; `common`, if any, is the file that its .gnu_debugaltlink names. Stops
	// waiting when `stop_fd` is readable.
	explicit DebugInfo(Fd file, Fd common = {}, int stop_fd = -1)
	    : file_(std::move(file)), common_(std::move(common)), stop_fd_(stop_fd)
	{
	}
	DebugInfo(DebugInfo &&other) noexcept;
	DebugInfo &operator=(DebugInfo &&) = delete;
	~DebugInfo();

	// The compiled function, then the functions inlined into it. `address` is a file address. Empty: unknown.
	std::vector<SourceFrame> find(std::uint64_t address);
	// The helper process has died; nothing more is found.
	bool has_failed() const { return has_failed_; }
	// Files that were missing for the addresses so far.
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
