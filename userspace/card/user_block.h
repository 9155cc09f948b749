// SPDX-License-Identifier: MIT
// A block that a user process wrote, made a packet that can be believed: tested word by word, its header written anew
// from what the recorder knows. Called by user_card.cpp for each block it takes, on a copy. One thread.
// Invariant: what leaves here has known classes only, times that rise and are not in the future, and a content that
// ends with a whole record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "monitor/ring.h"
#include "monitor/token.h"
#include "monitor/user_ring.h"

namespace monitor::card {

// Payload words by class id, for the classes that may stand in a user ring; `unknown_class` for all others.
inline constexpr std::uint8_t unknown_class = 0xff;
inline constexpr std::uint8_t refused_class = 0x80; // above its words: it has them, and nobody understands them
using WordsById = std::array<std::uint8_t, 1 << EDC_ID_BITS>;

inline constexpr std::uint64_t future_ticks = 100'000;    // by which another CPU's clock may be ahead
inline constexpr std::uint64_t most_refused = 1ull << 48; // no program makes more in a recording

inline std::uint64_t word_at(const std::byte *block, std::uint64_t at)
{
	std::uint64_t word;
	std::memcpy(&word, block + at, sizeof word);
	return word;
}

// What the recorder knows of the ring that a block comes from.
struct UserRingFacts {
	std::array<std::uint8_t, 16> uuid{};
	std::uint64_t stream = 0; // number of its stream
	std::uint32_t cpu = 0;
	std::uint32_t process = 0;
	bool one_thread = false;     // its threads' numbers are of another namespace: its own number stands for them
	std::uint64_t sequence = 0;  // packets so far
	std::uint64_t last_time = 0; // of the newest token so far
	std::uint64_t discarded = 0; // as told so far
	std::uint64_t most_discarded = most_refused; // that can be by now
	std::uint64_t tokens = 0;                    // so far, without `thread` tokens
};

// nullptr: all of it stands. Else what is wrong: the block ends before the wrong record, or is empty (content_size is
// that of the header). `content_bytes`: what of the block the writer has filled; `now`: no token
// is newer. `learn` is called where a class is unknown, and may make it known. Updates last_time, discarded and tokens.
const char *validate_user_block(std::byte *block, std::uint64_t content_bytes, std::uint64_t now,
				const WordsById &words, UserRingFacts &facts, const std::function<void()> &learn = {});

} // namespace monitor::card
