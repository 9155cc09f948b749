// SPDX-License-Identifier: MIT
// The stacks of a window of a running recording as they are shown: named, the largest first. Made by stack_naming.cpp
// of what LiveStacks gave out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "answers/report/call_tree.h"
#include "live_stacks.h"
#include "reading/ctf/clock.h"

namespace monitor::live {

// Which are shown, and what they are called: as by --by of `monitor report DIR stacks`.
using StackKinds = std::vector<std::pair<std::string, report::StackBy>>;

struct NamedWindow {
	struct Stack {
		std::uint64_t value = 0;         // how often it was taken, or ns
		std::vector<std::string> frames; // the outermost first, without the process
		std::vector<bool> in_kernel;     // of each frame
	};
	struct StackTotals {
		std::string by;
		bool is_time = false;
		std::uint64_t total = 0;
		std::vector<Stack> stacks;                      // the largest
		std::uint64_t other = 0, others = 0;            // of the total: in these other stacks, or without room
		std::uint64_t truncated = 0, without_stack = 0; // of the total
	};
	std::int32_t process = 0, thread = 0;
	std::vector<StackTotals> kinds;
	bool is_late = false;       // the names are still sought, and there is nothing else here
	std::uint64_t unnamed = 0;  // frames whose name is still sought: they are called by their places
	std::uint64_t left_out = 0; // descriptions of stacks that found no room, since the start
	std::vector<std::uint32_t> users_without_room; // some of their stacks end early
	bool opener_lost = false;                      // so do those of what is started or loaded now
	std::vector<std::string> missing;              // files that cannot be read, or are others now: no names
	std::vector<std::string> incomplete;           // whose debug information is damaged, or not found in part
};

constexpr std::size_t max_shown_stacks = 1000;

NamedWindow named_window(const StackWindow &window, symbols::Symbolizer &symbolizer, const trace::Clock &clock,
			 const StackKinds &kinds);

} // namespace monitor::live
