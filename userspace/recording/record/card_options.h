// SPDX-License-Identifier: MIT
// Translates the user's request into options of the BPF card, except its number of blocks. Used by recording.cpp, which
// sets that number.
#pragma once

#include <array>
#include <cstdint>

#include "recording.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

card::CardOptions card_options(const Options &options, unsigned cpus, const std::array<std::uint8_t, 16> &uuid);

} // namespace monitor::record
