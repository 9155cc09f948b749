// SPDX-License-Identifier: MIT
// Stacks with what was spent at each, frame by frame: what folded stacks are printed from, what the files of
// answers/export/ are made of, and what answers/diff/ compares. From a call tree, or from what else has such paths.
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
		std::vector<std::uint32_t> frames; // the outermost first
		std::uint64_t value = 0;
	};

	std::string name;     // cpu, offcpu, ...
	bool is_time = false; // values are ns, else counts
	std::vector<symbols::FrameName> frames;
	std::vector<Stack> stacks;

	std::uint64_t total() const;
};

// The first frame of each stack is the process. Invariant: the sums are those of the tree, but for times rounded to ns.
Profile profile_of(const CallTree &tree, const trace::Clock &clock, StackBy by, const std::string &name);

// Without what separates frames and lines of folded stacks.
std::string folded_frame(std::string text);
// A line for each stack, as flamegraph.pl reads them: FRAME;FRAME;FRAME VALUE, times in us, rounded.
std::string folded_text(const Profile &profile);

} // namespace monitor::report
