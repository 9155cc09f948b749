// SPDX-License-Identifier: MIT
// Translates the user's request into options of the BPF card, except its number of blocks. Used by Recording, which
// sets that number.
#pragma once

#include <cstdint>
#include <functional>

#include "base/encoding.h"
#include "recording.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

std::vector<std::string> chosen_families(const Options &options);

// Why the samples that nobody asked for (StackOptions::of_command) cannot be taken; "": they can, or
// there are none.
std::string why_no_samples(const Options &options);

// Throws Error if no family that is recorded has any of the events that a filter or a count is about: a count of 0
// would not be true. Where programs may have such events, `doubt` is told a sentence instead.
void expect_families(const Options &options, const EventMatcher &matcher,
		     const std::function<void(const std::string &)> &doubt);

// `matcher`: nullptr: all events are kept.
card::CardOptions card_options(const Options &options, unsigned cpus, const Uuid &uuid,
			       const EventMatcher *matcher = nullptr);

} // namespace monitor::record
