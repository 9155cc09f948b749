// SPDX-License-Identifier: MIT
// The ring that the threads of a process without restartable sequences share (include/monitor/user_ring.h), read record
// by record. Called by user_card.cpp in the drain thread; what it yields goes into a merged stream (user_merge.h).
//
// Every word of the ring is untrusted: read once, then tested.
// Invariant: what it yields has a known class, all its words, and a time within the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "monitor/user_ring.h"
#include "user_block.h"

namespace monitor::card {

struct SharedRecord {
	std::uint64_t time; // ticks of the trace clock
	std::uint32_t tid;
	std::uint32_t words; // the token among them
	std::uint64_t word[1 + EDC_MAX_WORDS];
};

class SharedRing {
public:
	using IsAlive = std::function<bool(std::uint32_t tid)>;

	// `since`: no record is older. `is_alive`: whether a thread of the process may still store.
	SharedRing(edc_user_ring *shared, std::uint64_t blocks, std::uint64_t since, IsAlive is_alive)
	    : shared_(shared), words_(blocks * EDC_USER_BLOCK_WORDS), is_alive_(std::move(is_alive)),
	      complete_before_(since)
	{
	}

	// Yields the records that are there, and makes room. `now`: the clock. `last`: its writers have ended, so
	// nobody is waited for. `hole_ticks`: how long one is waited for that claimed and did not store. `learn`: as of
	// validate_user_block(). Returns nullptr, or what was wrong.
	const char *take(const std::function<std::uint64_t()> &now, bool last, std::uint64_t hole_ticks,
			 const WordsById &words, const std::function<void(const SharedRecord &)> &yield,
			 const std::function<void()> &learn = {});
	// Forgets what is there, and makes room for more: the ring of a process that had it before its recorder came.
	void begin_here();

	// All records with earlier times were yielded.
	std::uint64_t complete_before() const { return complete_before_; }
	// Events refused by the full ring, and those of holes.
	std::uint64_t discarded() const;
	// Events of refused classes since the last call.
	std::uint64_t take_refused() { return std::exchange(refused_, 0); }
	// Of the last take(), in thousandths rounded up.
	unsigned fill() const { return fill_; }

private:
	std::uint64_t word_at(std::uint64_t position) const;
	bool has_head(std::uint64_t position) const;
	void pass_hole(std::uint64_t claimed);
	void make_room();

	edc_user_ring *shared_;
	std::uint64_t words_;
	IsAlive is_alive_;
	std::uint64_t taken_ = 0, freed_ = 0; // words so far
	bool passed_ = false;                 // some that are taken and not freed may have been passed over
	std::uint64_t complete_before_;
	std::uint64_t hole_since_ = 0;   // when the first of the holes was seen that were claimed by then:
	std::uint64_t hole_claimed_ = 0; // those before this position
	std::uint64_t holes_ = 0, refused_ = 0;
	unsigned fill_ = 0;
};

} // namespace monitor::card
