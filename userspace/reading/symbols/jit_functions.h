// SPDX-License-Identifier: MIT
// Functions that a program made while it ran, by what it wrote of them: /tmp/perf-PID.map (lines "START SIZE NAME", in
// hexadecimal) or a jitdump (linux/tools/perf/Documentation/jitdump-specification.txt).
//
// Both are untrusted. Code is moved and its place used again; the last function that was put at an address up to a time
// is the one that was there. A map has no times, so there its last line counts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/memory_bound.h"

namespace monitor::symbols {

struct JitFunction {
	std::uint64_t address = 0, size = 0; // up to max_size bytes
	std::uint64_t since = 0;             // ticks; 0: from the first
	std::string name;
};

class JitFunctions {
public:
	static constexpr std::uint64_t max_size = 16 << 20;
	static constexpr std::size_t max_functions = 4 << 20;

	void
	add(JitFunction function); // in order of `since`; one that is too large or for which no memory is left is not
	void add_map(std::string_view text);
	// `ticks_of` a time in ns of CLOCK_MONOTONIC.
	void add_dump(std::span<const std::byte> bytes, const std::function<std::uint64_t(std::uint64_t)> &ticks_of);

	// Some were left out because they, or what other files of programs hold, take too much memory.
	bool is_cut() const { return is_cut_; }

	// nullptr: none is known there.
	const JitFunction *find(std::uint64_t time, std::uint64_t address) const;

private:
	std::vector<JitFunction> functions_;
	std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_page_; // of 4 KiB; places in functions_
	MemoryShare share_;
	bool is_cut_ = false;
};

} // namespace monitor::symbols
