// SPDX-License-Identifier: MIT
// Which functions threads were in while they ran code of their programs, from the samples at the timer: the innermost
// function of each, its share of these samples, and what sampling leaves open of that share.
//
// Samples in the kernel are counted apart: they say nothing of which function of the program had the CPU.
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
	bool is_named = false; // else it is called by its place
	std::uint64_t samples = 0;
	double share = 0;       // of LeafFunctions::in_programs
	ShareInterval interval; // of the share of the time: 95 %
};

struct LeafFunctions {
	static constexpr std::uint64_t min_samples = 30; // with fewer the interval is wider than what it could tell

	std::uint64_t in_programs = 0, in_kernel = 0; // samples
	// By descending number of samples; empty if there are fewer than min_samples in programs.
	std::vector<LeafFunction> functions;
};

// `fold` after the last event, `symbolizer` with its mappings; of the threads that `includes` selects, or of all.
LeafFunctions leaf_functions(const analyze::StackFold &fold, symbols::Symbolizer &symbolizer,
			     const std::function<bool(const analyze::Thread &)> &includes = {});

} // namespace monitor::report
