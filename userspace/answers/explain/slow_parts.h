// SPDX-License-Identifier: MIT
// What the slowest activities of a name did that ordinary ones did not: the parts of their bounded paths, compared.
//
// A part is claimed if it is outside the range of the ordinary ones in at least six of ten slow ones, and its share of
// the difference reaches a threshold: what differs by chance is not.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "evidence.h"

namespace monitor::explain {

// The time of an activity, by what it was.
struct Profile {
	std::uint64_t ns = 0;
	std::vector<PathPart> parts; // equal ones are one; shares are of `ns`
};

struct SlowPart {
	std::string key, what;
	double share = 0;   // of the difference between the slow ones and the median; all may sum to more than 1
	std::size_t in = 0; // number of slow ones that it was found in
};

struct SlowActivities {
	enum class Of : std::uint8_t { calls, activities, requests } of = Of::activities;
	std::string activity; // its name; of requests the key
	std::size_t count = 0, slow = 0;
	std::uint64_t median_ns = 0, slow_low_ns = 0, slow_high_ns = 0;
	std::vector<SlowPart> parts;        // the largest first
	std::vector<std::string> options{}; // that select the same, for the command that shows more
};

// "call", and "work in fsync of postgres"
std::pair<std::string, std::string> key_and_text(const PathPart &part);

std::vector<SlowPart> compare(const std::vector<Profile> &slow, const std::vector<Profile> &ordinary,
			      std::uint64_t median_ns, double threshold);

std::string to_text(const SlowActivities &found, const std::string &directory);
std::string to_json(const SlowActivities &found);

} // namespace monitor::explain
