// SPDX-License-Identifier: MIT
// What the BPF card is to do, from what the user asked for. Used by recording.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "card/bpf_card.h"
#include "recording.h"

namespace monitor::record {

card::CardOptions card_options(const Options &options, std::uint64_t blocks_per_cpu, unsigned cpus,
			       const std::array<std::uint8_t, 16> &uuid);

} // namespace monitor::record
