// SPDX-License-Identifier: MIT
// Validates a block that a user process wrote, word by word, and rebuilds its header from the recorder's own data.
// Works on a copy of the block. One thread. Invariant: the result has known classes only, times that never decrease and
// are not in the future, and content that ends with a whole record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/block_words.h"
#include "base/encoding.h"
#include "monitor/ring.h"
#include "monitor/token.h"
#include "monitor/user_ring.h"

namespace monitor::card {

// Payload words by class id, for the classes that may occur in a user ring; `unknown_class` for all others.
inline constexpr std::uint8_t unknown_class = 0xff;
inline constexpr std::uint8_t refused_class = 0x80; // flag beside the number of words: the class is not recorded
using WordsById = std::array<std::uint8_t, 1 << EDC_ID_BITS>;

// Payload words of a known class.
inline std::uint32_t words_of(const WordsById &words, std::uint32_t id)
{
	return words[id] & ~refused_class;
}

inline constexpr std::uint64_t max_clock_skew_ticks = 100'000;       // between two CPUs
inline constexpr std::uint64_t max_events_of_a_program = 1ull << 48; // no program produces more events in a recording

// The recorder's state of the ring that a block comes from.
struct UserRingInfo {
	Uuid uuid{};
	std::uint64_t stream = 0; // number of its stream
	std::uint32_t cpu = 0;
	std::uint32_t process = 0;
	// Translates a TID from the program's pid namespace; empty: no translation.
	std::function<std::uint32_t(std::uint32_t untrusted_tid)> translate_tid{};
	std::uint64_t sequence = 0;                            // packets so far
	std::uint64_t last_time = 0;                           // of the newest token so far
	std::uint64_t discarded = 0;                           // as reported so far
	std::uint64_t max_discarded = max_events_of_a_program; // possible by now
	std::uint64_t tokens = 0;                              // so far, without `thread` tokens
};

// Returns nullptr if the whole block is valid. Else returns what is wrong: the block then ends before the invalid
// record, or is empty (content_size is that of the header). `content_bytes`: how much of the block the writer has
// filled; `now`: no token is newer. `learn` is called for an unknown class, and may add it to `words`. Updates
// last_time, discarded and tokens.
const char *validate_user_block(std::byte *block, std::uint64_t content_bytes, std::uint64_t now,
				const WordsById &words, UserRingInfo &info, const std::function<void()> &learn = {});

} // namespace monitor::card
