// SPDX-License-Identifier: MIT
// Where a function is probed: its first instruction, or the first that the kernel accepts a probe at, and those that
// leave it: each return, and each jump to another function (a tail call). A probe at a
// place that is not an instruction would change the program, so a function is taken only if all of its code can be
// followed. Called by function_search.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "recording/card/function_probes.h"

namespace monitor::functions {

// Code of one function that lies together.
struct CodePart {
	std::uint64_t address = 0;
	std::vector<std::byte> bytes;

	bool contains(std::uint64_t other) const { return other >= address && other - address < bytes.size(); }
};

// Exits::why_not
inline constexpr const char *not_followed = "its code cannot be followed";

struct Exits {
	std::uint64_t entry = 0;                  // an address
	std::vector<card::FunctionExit> exits;    // by address
	std::string why_not;                      // not empty: the function cannot be probed
	std::unordered_set<std::uint64_t> starts; // of all instructions
	std::vector<std::uint64_t> targets;       // of jumps within the function
};

// `parts`: the first starts with the function's entry, the others are what the compiler moved away (NAME.cold).
Exits find_exits(const std::vector<CodePart> &parts);

// Of each architecture; find_exits() is that of this machine.
Exits find_exits_arm64(const std::vector<CodePart> &parts);

} // namespace monitor::functions
