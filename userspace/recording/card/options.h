// SPDX-License-Identifier: MIT
// What a card is to record, and how.
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
	bool counts_only = false;          // nothing is posted, only counted by class; but no exits from calls
	bool matching = false;             // set_matcher() decides what is kept, from attach() to detach()
	// By class, from EDC_ID_KERNEL_FIRST: edc_match_class.in_probe of that matcher.
	std::array<std::uint16_t, EDC_CARD_CLASSES> decisions{};
	unsigned times = 0;            // how many times it has
	unsigned triggers = 0;         // and triggers
	bool pausing = false;          // of which some stop storing
	bool sampling = false;         // and some sample all CPUs
	unsigned start_triggers = 0;   // and these start it again: bits
	unsigned stack_triggers = 0;   // and these take a stack: bits
	unsigned reading_triggers = 0; // and these read the counters: bits
	bool keeps_tokens = true;      // else only classes of which set_matcher() counts events are attached
	unsigned cpus = 1;             // possible CPUs
	std::uint64_t blocks_per_cpu = 0;
	std::array<std::uint8_t, 16> uuid{};
	std::vector<unsigned> counters_in_set; // record -m
	RatioPairs ratios;
	std::uint64_t sample_every_ns = 0;   // of all CPUs
	std::uint64_t counters_every_ns = 0; // also read them at an interrupt if no switch occurred for this long
	std::vector<ResetEvent> resets;
	StackOptions stacks;
	std::vector<Function> functions;
	bool tp_programs = true;           // load them, too: attach(true) may be called
	bool suspending = false;           // record --calibrate: suspend() and resume() will be called
	bool leaves_functions_out = false; // any of them may be detached during the recording; their hits are counted

	// Processes: -p, or the command's because it is sampled.
	bool traces() const { return filtering || stacks.of_command; }
	bool has_probed_functions() const { return std::ranges::any_of(functions, &Function::is_probed); }

	// Counters are not only read where it is the turn of a switch, a timer or a sample (bpf/reset.bpf.c).
	bool reads_apart() const { return !resets.empty() || reading_triggers; }
	bool resets_at_function() const { return !resets.empty() && resets.back().tracepoint.empty(); }
	// Rings of each CPU: the levels, and with probes that may be preempted or that read apart the slots.
	unsigned rings() const { return reads_apart() || has_probed_functions() ? EDC_CARD_RINGS : EDC_CARD_LEVELS; }
};

} // namespace monitor::card
