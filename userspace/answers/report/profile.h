// SPDX-License-Identifier: MIT
// Stacks with an amount each, frame by frame: the source of folded stacks, of the files of answers/export/, and of
// comparisons (answers/diff/). Made from a call tree, or from similar paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call_tree.h"
#include "reading/ctf/clock.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::report {

struct Profile {
	struct Stack {
		std::vector<std::uint32_t> frames; // outermost first
		std::uint64_t value = 0;
	};

	std::string name;     // cpu, offcpu, ...
	bool is_time = false; // values are in ns, else counts
	std::vector<symbols::FrameName> frames;
	std::vector<Stack> stacks;

	std::uint64_t total() const;
};

// The first frame of each stack is the process. Invariant: the sums are the tree's, except for times rounded to ns.
Profile profile_of(const CallTree &tree, const trace::Clock &clock, StackBy by, const std::string &name);

// Removes the separators of frames and lines in folded stacks.
std::string folded_frame(std::string text);
// A line per stack, in the format of flamegraph.pl: FRAME;FRAME;FRAME VALUE, times in us, rounded.
std::string folded_text(const Profile &profile);

} // namespace monitor::report
