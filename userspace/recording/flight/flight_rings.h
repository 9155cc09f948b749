// SPDX-License-Identifier: MIT
// The kernel's rings of a flight recorder: holds them, copies their blocks, and releases them (monitor/ring.h). hold()
// is called in the thread that requests a snapshot, all else in the thread that reads the rings. Invariant: a block
// that is passed on is intact: it is copied first, and dropped if the ring may have wrapped around to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "recording/card/card_memory.h"
#include "recording/rings/blocks.h"

namespace monitor::record {

// One ring's part of a snapshot.
struct RingPart {
	unsigned cpu = 0, level = 0;
	std::uint64_t first = 0;          // number of its first block
	std::uint64_t overwritten = 0;    // tokens before that block
	std::uint64_t begin_time = 0;     // of that block; 0: it has none
	std::uint64_t complete_since = 0; // older events were overwritten; 0: none of the requested ones
	std::uint64_t discarded = 0;      // events discarded between its first block and its end
	std::uint64_t torn = 0;           // blocks that were overwritten while they were copied
};

class FlightRings {
public:
	// False if there is no room for the block now.
	using Push = std::function<bool(StreamNumber stream, const std::byte *block)>;

	explicit FlightRings(card::CardMemory &card);

	// Stops overwriting, unless a trigger already has: the rings keep their blocks, and discard once they are full.
	void hold();
	// Holds the rings, and starts to take blocks that end at `from_time` or later.
	void begin(std::uint64_t from_time);
	// Passes on closed blocks. False: there was no room.
	bool take(const Push &push);
	// Waits until all earlier events are stored, and sets the end of the snapshot. False: a probe was in progress
	// for too long.
	bool mark_end();
	// Takes the rest up to that end, including open blocks. False: no room; call again. `now`: the time until which
	// a full ring has lost events.
	bool take_rest(std::uint64_t now, const Push &push);
	// Resumes overwriting. No trigger can hold the rings before arm().
	void release();
	void arm();
	// Whether a trigger holds them.
	bool is_held() const;

	const std::vector<RingPart> &parts() const { return parts_; }
	// From when on all events of the CPU are in its rings; 0: all requested ones.
	std::uint64_t complete_since(unsigned cpu) const;
	// The time of the oldest block that a hold keeps, or would keep.
	std::uint64_t oldest_time() const;

private:
	struct Progress {
		std::uint64_t next = 0, end = 0; // block numbers: the next one to take, and the one open at the end
		std::uint64_t first_sequence = 0, first_discarded = 0, last_discarded = 0, next_sequence = 0;
		bool has_first = false, has_open = false, is_done = false;
	};

	const edc_ring &ring(std::size_t i) const { return card_.area(parts_[i].cpu).level[parts_[i].level].ring; }
	const std::byte *block(std::size_t i, std::uint64_t number) const;
	bool is_whole(std::size_t i, std::uint64_t number) const;
	std::uint64_t oldest_kept(std::size_t i, std::uint64_t hold, std::uint64_t closed) const;
	bool take_until(std::size_t i, std::uint64_t end, const Push &push);
	bool take_open(std::size_t i, const Push &push);
	bool report_last_loss(std::size_t i, std::uint64_t now, const Push &push);
	bool pass_on(std::size_t i, std::byte *copy, const Push &push);
	void fence() const;

	card::CardMemory &card_;
	std::uint64_t holds_ = 0;
	std::vector<RingPart> parts_;    // by CPU, then by ring
	std::vector<Progress> progress_; // likewise
};

} // namespace monitor::record
