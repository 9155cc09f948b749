// SPDX-License-Identifier: MIT
// What the BPF card is to do, from what the user asked for; how many blocks it has is for others to say. Used by
// recording.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "card/bpf_card.h"
#include "recording.h"

namespace monitor::record {

card::CardOptions card_options(const Options &options, unsigned cpus, const std::array<std::uint8_t, 16> &uuid);

} // namespace monitor::record
