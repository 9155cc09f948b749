// SPDX-License-Identifier: MIT
// The stacks of a window as they are shown: named, largest first. Made by stack_naming.cpp.
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

// Which kinds are shown, and their names: those of --by in `monitor report DIR stacks`.
using StackKinds = std::vector<std::pair<std::string, report::StackBy>>;

struct NamedWindow {
	struct Stack {
		std::uint64_t value = 0;         // number of samples, or ns
		std::vector<std::string> frames; // outermost first, without the process
		std::vector<bool> in_kernel;     // per frame
	};
	struct StackTotals {
		std::string by;
		bool is_time = false;
		std::uint64_t total = 0;
		std::vector<Stack> stacks;                      // the largest
		std::uint64_t other = 0;                        // part of the total: in none of `stacks`
		std::uint64_t truncated = 0, without_stack = 0; // of the total
	};
	std::int32_t process = 0, thread = 0;
	std::vector<StackTotals> kinds;
	bool is_pending = false;    // the names are still being looked up: nothing else is set, but process and thread
	std::uint64_t unnamed = 0;  // frames without a name so far: shown as file+0xaddress
	std::uint64_t left_out = 0; // stacks whose frames were not kept, as there are too many, since the start
	// UIDs with incomplete stacks: what their programs map exceeds the recorder's limits
	std::vector<std::uint32_t> users_without_room;
	// the process that opens code files ended: the stacks of code loaded from then on may be incomplete
	bool opener_lost = false;
	std::vector<std::string> missing;    // files that are gone or have changed: no names
	std::vector<std::string> incomplete; // files whose debug information is damaged or incomplete
};

constexpr std::size_t max_shown_stacks = 1000;

NamedWindow named_window(const StackWindow &window, symbols::Symbolizer &symbolizer, const trace::Clock &clock,
			 const StackKinds &kinds);

} // namespace monitor::live
