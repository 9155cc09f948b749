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

// The families of a recording without those that its expressions need besides: needed_families().
std::vector<std::string> chosen_families(const Options &options);

// Families of the events that a filter or a count is about, if none of those that are recorded has any of its events: a
// count of 0 would not be true. Throws Error if -e leaves them out, or another option records them; where only programs
// may have such events, `doubt` is told a sentence.
std::vector<std::string> needed_families(const Options &options, const EventMatcher &matcher,
					 const std::function<void(const std::string &)> &doubt);

// `needed`: by needed_families(). `matcher`: nullptr: all events are kept.
card::CardOptions card_options(const Options &options, unsigned cpus, const Uuid &uuid,
			       const std::vector<std::string> &needed = {}, const EventMatcher *matcher = nullptr);

} // namespace monitor::record
