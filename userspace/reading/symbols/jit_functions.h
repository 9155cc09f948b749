// SPDX-License-Identifier: MIT
// Functions generated at run time, as their program lists them: /tmp/perf-PID.map (lines "START SIZE NAME", in
// hexadecimal) or a jitdump (linux/tools/perf/Documentation/jitdump-specification.txt).
// Both are untrusted. Code moves, and addresses are reused: the last function loaded at an address before a time is the
// one that was there. A map has no times, so its last line for an address counts.
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
	std::uint64_t since = 0;             // ticks; 0: since the start
	std::string name;
};

class JitFunctions {
public:
	static constexpr std::uint64_t max_size = 16 << 20;
	static constexpr std::size_t max_functions = 4 << 20;

	void add(JitFunction function); // in order of `since`; drops what is too large
	void add_map(std::string_view text);
	// `ticks_of`: of a CLOCK_MONOTONIC time in ns.
	void add_dump(std::span<const std::byte> bytes, const std::function<std::uint64_t(std::uint64_t)> &ticks_of);

	// Some were dropped because they, or other files of programs, take too much memory.
	bool is_cut() const { return is_cut_; }

	// nullptr: none is known.
	const JitFunction *find(std::uint64_t time, std::uint64_t address) const;

private:
	std::vector<JitFunction> functions_;
	std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_page_; // by 4 KiB page: indices
	MemoryShare share_;
	bool is_cut_ = false;
};

} // namespace monitor::symbols
