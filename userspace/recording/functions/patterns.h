// SPDX-License-Identifier: MIT
// The patterns of `record --functions`, each with the file that it chooses functions of.
#pragma once

#include <string>
#include <vector>

namespace monitor::functions {

struct Pattern {
	std::string text; // as given
	std::string path;
	std::string real; // for a link /proc/PID/exe, its target
	std::string file; // its name without directories
	std::string glob; // matches names of functions
};

// NAME (in the command's program, or else in the processes' programs) or FILE:NAME. Throws Error if there is no such
// file.
std::vector<Pattern> parse_patterns(const std::vector<std::string> &texts, const std::vector<std::string> &command,
				    const std::vector<int> &pids);

} // namespace monitor::functions
