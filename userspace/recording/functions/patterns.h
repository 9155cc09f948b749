// SPDX-License-Identifier: MIT
// The patterns of `record --functions`, each with the file that it chooses functions of.
#pragma once

#include <string>
#include <vector>

namespace monitor::functions {

struct Pattern {
	std::string text; // as given
	std::string path;
	std::string real; // the same if it is a link: of a process, what that says
	std::string file; // its name without directories
	std::string glob; // of functions' names
};

// NAME, of the command's program or else of the processes' programs, or FILE:NAME. Throws Error if there is no such
// file.
std::vector<Pattern> parse_patterns(const std::vector<std::string> &texts, const std::vector<std::string> &command,
				    const std::vector<int> &pids);

} // namespace monitor::functions
