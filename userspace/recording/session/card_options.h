// SPDX-License-Identifier: MIT
// Translates the user's options into options of the BPF card, except the number of blocks, which Recording sets.
#pragma once

#include <functional>

#include "base/encoding.h"
#include "recording.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

std::vector<std::string> chosen_families(const Options &options);

// Why the default samples (StackOptions::of_command) cannot be taken; "": they can, or are off.
std::string why_no_samples(const Options &options);

// Throws Error if a filter or count matches no class of the recorded families: a count of 0 would be wrong. If programs
// may have such events, calls `warn` with a message instead.
void expect_families(const Options &options, const EventMatcher &matcher,
		     const std::function<void(const std::string &)> &warn);

// `matcher`: nullptr: all events are kept.
card::CardOptions card_options(const Options &options, unsigned cpus, const Uuid &uuid,
			       const EventMatcher *matcher = nullptr);

} // namespace monitor::record
