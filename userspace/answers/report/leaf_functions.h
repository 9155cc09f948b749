// SPDX-License-Identifier: MIT
// Which functions of their programs threads ran, from the samples at the timer: the innermost function of each, its
// share of these samples, and the share's confidence interval.
// Samples in the kernel are counted separately, as their addresses are in no function of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "idle_table.h"
#include "reading/analyze/stacks.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::report {

struct LeafFunction {
	symbols::FrameName name;
	bool is_named = false; // false: shown as file+0xaddress
	std::uint64_t samples = 0;
	double share = 0;       // of LeafFunctions::in_programs
	ShareInterval interval; // 95 % confidence, for the share of the time
};

struct LeafFunctions {
	static constexpr std::uint64_t min_samples = 30; // with fewer, the interval would be too wide to be useful

	std::uint64_t in_programs = 0, in_kernel = 0; // number of samples
	// By descending number of samples; empty if there are fewer than min_samples in programs.
	std::vector<LeafFunction> functions;
};

// Selects samples by their thread and the time of the first one with the same stack.
using IncludesSample = std::function<bool(const analyze::Thread &thread, std::uint64_t time)>;

// `fold` after the last event, `symbolizer` with its mappings; for the samples that `includes` selects, or for all.
LeafFunctions leaf_functions(const analyze::StackFold &fold, symbols::Symbolizer &symbolizer,
			     const IncludesSample &includes = {});

} // namespace monitor::report
