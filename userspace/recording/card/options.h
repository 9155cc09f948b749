// SPDX-License-Identifier: MIT
// Options of a card.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "function_probes.h"
#include "monitor/card.h"
#include "reset_events.h"
#include "stack_probes.h"

namespace monitor::card {

// Ratios that the card posts instead of counts (monitor/ratio.h): pairs of counters, each set * EDC_COUNTERS_IN_SET +
// index.
struct RatioPairs {
	unsigned bits = 0; // EDC_RATIO_BITS_*; 0: counts
	std::vector<std::pair<unsigned, unsigned>> pairs;
};

struct CardOptions {
	bool module = false;               // rings and most probes are the kernel module's (module_card.h)
	std::vector<std::string> families; // of card.h; the identity of threads is always recorded
	std::vector<std::string> left_out; // classes of these that are not recorded
	bool filtering = false;            // only processes that are traced
	bool overwriting = false;          // a flight recorder's rings (ring.h)
	bool counts_only = false;          // only count events by class; without sys_exit
	bool matching = false;             // events are evaluated by set_matcher()'s tables, from attach() to detach()
	bool matching_rows = true;         // some classes are judged by rows, not by edc_match_class.test alone
	// By class, from EDC_ID_KERNEL_FIRST: edc_match_class.in_probe of that matcher.
	std::array<std::uint16_t, EDC_CARD_CLASSES> decisions{};
	unsigned times = 0;            // number of --time in the matcher
	unsigned triggers = 0;         // number of --trigger
	bool pausing = false;          // some triggers stop storing
	bool sampling = false;         // some triggers sample all CPUs
	unsigned start_triggers = 0;   // bits of triggers that resume storing
	unsigned stack_triggers = 0;   // bits of triggers that take a stack
	unsigned reading_triggers = 0; // bits of triggers that read the counters
	bool keeps_tokens = true;      // false: attach only classes that the matcher counts
	unsigned cpus = 1;             // possible CPUs
	std::uint64_t blocks_per_cpu = 0;
	std::array<std::uint8_t, 16> uuid{};
	std::vector<unsigned> counters_in_set; // record -m
	RatioPairs ratios;
	std::uint64_t sample_every_ns = 0;   // of all CPUs
	std::uint64_t counters_every_ns = 0; // also read counters at an interrupt if no switch occurred for this long
	std::vector<ResetEvent> resets;
	StackOptions stacks;
	std::vector<Function> functions;
	bool tp_programs = true;           // also load tp_* programs: attach(true) may be called
	bool suspending = false;           // record --calibrate: suspend() and resume() will be called
	bool leaves_functions_out = false; // functions may be detached during the recording; their hits are counted

	// Whether a set of processes is traced: by -p, or the sampled command's.
	bool traces() const { return filtering || stacks.of_command; }
	bool has_probed_functions() const { return std::ranges::any_of(functions, &Function::is_probed); }

	// Whether counters are also read outside of switches, timers and samples (bpf/reset.bpf.c).
	bool reads_apart() const { return !resets.empty() || reading_triggers; }
	bool resets_at_function() const { return !resets.empty() && resets.back().tracepoint.empty(); }
	// Rings of each CPU: levels, and slots if preemptible probes or reads_apart() need them.
	unsigned rings() const { return reads_apart() || has_probed_functions() ? EDC_CARD_RINGS : EDC_CARD_LEVELS; }
};

} // namespace monitor::card
