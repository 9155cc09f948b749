// SPDX-License-Identifier: MIT
// Executable files that may not be found by path when the trace is read: unlinked, replaced, in another mount
// namespace, or in memory only. Kept open during the recording, and copied into the trace at its end if their path no
// longer leads to them. Only files that the recording's user may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace monitor::stacks {

class KeptFiles {
public:
	static constexpr std::size_t max_files = 256; // each is a descriptor
	static constexpr std::uint64_t max_file_bytes = 32 << 20, max_bytes = 128 << 20;

	// `number`: of .monitor/files.
	void add(std::uint32_t number, const std::string &path, Fd fd);
	// As DIRECTORY/NUMBER.
	void write_unreachable(const std::string &directory) const;

private:
	struct Kept {
		std::uint32_t number;
		std::string path;
		Fd fd;
	};
	std::vector<Kept> files_;
};

} // namespace monitor::stacks
