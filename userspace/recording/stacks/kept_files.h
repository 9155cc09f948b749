// SPDX-License-Identifier: MIT
// Files that processes ran and that nobody finds by their path any more when the trace is read: unlinked, replaced, in
// another mount namespace, or in memory only. They are kept open while the recording runs and copied into the trace at
// its end if then something else is at their path. Only what the recording user may read.
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
