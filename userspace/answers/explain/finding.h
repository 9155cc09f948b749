// SPDX-License-Identifier: MIT
// What `monitor explain` answers: claims with their shares, and what it looked for in vain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace monitor::explain {

enum class Confidence : std::uint8_t { high, medium, low };

struct Finding {
	std::string key;
	double share = 0, bound = 0; // of the elapsed time
	Confidence confidence = Confidence::high;
	nlohmann::ordered_json evidence;
	std::string text;
	std::vector<std::string> command; // that shows more
	bool is_caveat = false;           // says how far the other findings can be trusted
};

struct LookedFor {
	std::string key, name; // for people
	bool is_recorded = true;
};

struct Explanation {
	std::string head; // the first line
	std::uint64_t elapsed_ns = 0;
	double bound = 0;
	std::vector<Finding> findings; // in the order in which they are to be read
	std::vector<LookedFor> looked_for;
	std::string rest; // about the parts of the path in no finding; "": they are small
};

// For a shell.
std::string command_text(const std::vector<std::string> &command);
std::string to_text(const Explanation &explanation, std::size_t width);
std::string to_json(const Explanation &explanation);

} // namespace monitor::explain
