// SPDX-License-Identifier: MIT
// Reads, record by record, the ring that the threads of a process without restartable sequences share
// (include/monitor/user_ring.h). Drain thread only; the records go into a merged stream (user_merge.h).
//
// Every word of the ring is untrusted: read once, then checked.
// Invariant: each record it yields has a known class, all its words, and a time within the recording.
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
	std::uint32_t words; // including the token
	std::uint64_t word[1 + EDC_MAX_WORDS];
};

class SharedRing {
public:
	using IsAlive = std::function<bool(std::uint32_t tid)>;

	// `since`: no record is older. `is_alive`: whether a thread of the process may still write.
	SharedRing(edc_user_ring *shared, std::uint64_t blocks, std::uint64_t since, IsAlive is_alive)
	    : shared_(shared), capacity_(blocks * EDC_USER_BLOCK_WORDS), is_alive_(std::move(is_alive)),
	      complete_before_(since)
	{
	}

	struct TakeOptions {
		std::function<std::uint64_t()> now; // the clock
		bool writers_ended = false;         // do not wait for claims
		std::uint64_t hole_ticks = 0;       // how long to wait for a claim whose record is not written
	};

	// Yields the records that are complete, and frees their space. `learn`: as for validate_user_block().
	// Returns nullptr, or what was wrong.
	const char *take(const TakeOptions &options, const WordsById &payload_words,
			 const std::function<void(const SharedRecord &)> &yield,
			 const std::function<void()> &learn = {});
	// Drops the present content, for a ring older than the recorder.
	void skip_present_content();

	// All records with earlier times have been yielded.
	std::uint64_t complete_before() const { return complete_before_; }
	// Events discarded by the full ring, and holes: claims that were given up.
	std::uint64_t discarded() const;
	// Events of refused classes since the last call.
	std::uint64_t take_refused() { return std::exchange(refused_, 0); }
	// Fill at the last take(), in thousandths rounded up.
	unsigned fill() const { return fill_; }

private:
	std::uint64_t word_at(std::uint64_t position) const;
	bool has_head(std::uint64_t position) const;
	void skip_hole(std::uint64_t claimed);
	void free_taken();

	edc_user_ring *shared_;
	std::uint64_t capacity_; // words
	IsAlive is_alive_;
	std::uint64_t taken_ = 0, freed_ = 0; // words so far
	bool skipped_ = false;                // holes were skipped among those taken and not freed
	std::uint64_t complete_before_;
	std::uint64_t hole_since_ = 0;   // when the first hole before hole_claimed_ was seen
	std::uint64_t hole_claimed_ = 0; // end of what was claimed by then
	std::uint64_t holes_ = 0, refused_ = 0;
	unsigned fill_ = 0;
};

} // namespace monitor::card
