// SPDX-License-Identifier: MIT
// Finds the instructions to probe: the first one at which the kernel accepts a uprobe, and all exits (returns and tail
// calls). A uprobe amid an instruction would corrupt the program, so only reached instructions count (control_flow.h),
// and a function is refused if its control flow cannot be followed completely.
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

// A contiguous part of a function's code.
struct CodePart {
	std::uint64_t address = 0;
	std::vector<std::byte> bytes;

	bool contains(std::uint64_t other) const { return other >= address && other - address < bytes.size(); }
};

// Exits::why_not
inline constexpr const char *not_followed = "its code cannot be followed";

struct FunctionCode {
	// The first starts with the entry, the others were split off by the compiler (NAME.cold).
	std::vector<CodePart> parts;
	std::vector<std::uint64_t> landing_pads; // addresses
	// Reads constant data at an address; false: not mapped, or writable.
	std::function<bool(std::uint64_t address, std::span<std::byte> into)> read;
};

struct Exits {
	std::uint64_t entry = 0;                  // an address
	std::vector<card::FunctionExit> exits;    // by address
	std::string why_not;                      // not empty: the function cannot be probed
	std::unordered_set<std::uint64_t> starts; // addresses of all reached instructions
	std::vector<std::uint64_t> refers_to; // addresses of code and data, and numbers that may be addresses; sorted
};

Exits find_exits(const FunctionCode &code);
// Whether the bytes are padding (no-op instructions).
bool is_padding(std::uint64_t address, std::span<const std::byte> bytes);

// For arm64; find_exits() is for this machine's architecture.
Exits find_exits_arm64(const FunctionCode &code);

} // namespace monitor::functions
