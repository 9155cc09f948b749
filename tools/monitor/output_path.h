// SPDX-License-Identifier: MIT
// Refuses output files within the traces that are being read. For commands with -o.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/escape.h"

namespace monitor {

// Throws Error if `output`, a file or directory that need not exist, is one of these directories or is in it. "-" is
// standard output.
inline void expect_outside(const std::string &output, const std::vector<std::string> &directories)
{
	namespace fs = std::filesystem;
	if (output == "-")
		return;
	std::error_code error;
	const fs::path path = fs::weakly_canonical(output, error);
	for (const std::string &directory : directories) {
		const fs::path trace = fs::canonical(directory, error);
		if (!error && std::ranges::mismatch(trace, path).in1 == trace.end())
			throw Error(printable(output) + " is in the trace " + printable(directory) +
				    ", which is not changed: name another one with -o");
	}
}

} // namespace monitor
