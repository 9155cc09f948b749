// SPDX-License-Identifier: MIT
// Where a function is probed: its first instruction, or the first that the kernel accepts a probe at, and those that
// leave it: each return, and each jump to another function (a tail call). A probe at a place that is not an instruction
// would change the program, so only what the function reaches is taken (control_flow.h), and a function is left out if
// not all of its ways can be followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

struct FunctionCode {
	// The first starts with the function's entry, the others are what the compiler moved away (NAME.cold).
	std::vector<CodePart> parts;
	std::vector<std::uint64_t> landing_pads; // where it continues after an exception
	// Constants of the program at an address; false: there are none, or they may change.
	std::function<bool(std::uint64_t address, std::span<std::byte> into)> read;
};

struct Exits {
	std::uint64_t entry = 0;                  // an address
	std::vector<card::FunctionExit> exits;    // by address
	std::string why_not;                      // not empty: the function cannot be probed
	std::unordered_set<std::uint64_t> starts; // of all instructions that are reached
	std::vector<std::uint64_t> refers_to;     // addresses of code and data, and numbers that may be some, in order
};

Exits find_exits(const FunctionCode &code);
// Whether these are instructions that do nothing.
bool is_padding(std::uint64_t address, std::span<const std::byte> bytes);

// Of each architecture; find_exits() is that of this machine.
Exits find_exits_arm64(const FunctionCode &code);

} // namespace monitor::functions
