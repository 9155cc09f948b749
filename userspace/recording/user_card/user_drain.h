// SPDX-License-Identifier: MIT
// Moves events from the rings of processes into streams: a stream for each ring of the first processes, one per CPU for
// those of later ones, sorted by time (user_merge.h), and one for all rings that threads share (user_shared.h). Called
// by user_card.cpp in the drain thread, under the lock of the card.
//
// Every byte that comes from a process is untrusted: copied, checked, rewritten (user_block.h); what fails the check is
// counted and reported, and no other process is affected. What one process and one pass may take is bounded.
// Invariant: a block leaves its ring only when it is in its stream, or queued to be merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "user_counts.h"
#include "user_filter.h"
#include "user_functions.h"
#include "user_known_classes.h"
#include "user_merge.h"
#include "user_process_table.h"
#include "user_wakeup_watch.h"

namespace monitor::card {

class UserDrain {
public:
	// Creates a stream and returns its number.
	using MakeStream = std::function<std::uint32_t(const std::string &name)>;
	// False if the pool is full: then the block waits.
	using Push = std::function<bool(std::uint32_t stream, const std::byte *block)>;

	// `learn` is called for an unknown class of the kernel module, and may add it. `on_wakeup` is called in
	// another thread when a pass is needed. The references must outlive this.
	UserDrain(ProcessTable &processes, const KnownClasses &classes, FunctionEvents &functions, UserFilter &filter,
		  std::function<void()> learn, std::function<void()> on_wakeup)
	    : processes_(processes), classes_(classes), functions_(functions), filter_(filter),
	      learn_(std::move(learn)), wakeups_(std::move(on_wakeup))
	{
	}

	// `ticks_per_second`: of the trace clock.
	void start(std::uint64_t ticks_per_second);
	// Stops waiting for wake-ups.
	void stop() { wakeups_.stop(); }

	// Takes every closed block; with `last` the open ones too. Returns the highest fill of any ring, in thousandths
	// rounded up. `show`, if there is one, gets each block that is still open, as far as it is written; it returns
	// false if it must get the block again.
	unsigned pass(bool last, const MakeStream &make_stream, const Push &push, const Push &show = {});
	// All events before this time were pushed or shown by the last pass.
	std::uint64_t complete_before() const { return all_complete_before_; }

	// How soon the next pass must follow.
	std::chrono::nanoseconds longest_wait() const { return wakeups_.longest_wait(); }
	// Whether no events wait to be merged.
	bool is_empty() const;
	void add_counts(UserCounts &counts) const;

private:
	struct RingState;
	struct Pass {
		const bool last;
		std::uint64_t blocks_left; // blocks that may be taken
		const MakeStream &make_stream;
		const Push &push, &show;
	};

	unsigned drain_process(UserProcess &process, Pass &pass);

	// Rings with their own streams:
	unsigned drain_ring(const UserProcess &process, UserRing &ring, bool is_final, std::uint64_t &blocks_left,
			    const Pass &pass);
	void show_open_block(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes, const Pass &pass);
	void evaluate_open_block(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes);
	bool take(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes, const Pass &pass);
	bool report_last_loss(UserRing &ring, const Push &push);

	// Rings whose events are merged:
	unsigned merge_ring(const UserProcess &process, UserRing &ring, bool is_final, const MakeStream &make_stream);
	void merge_block(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes,
			 const std::function<void()> &learn);
	unsigned drain_shared_ring(UserProcess &process, bool is_final, const MakeStream &make_stream);
	void pack_merged(bool last, std::uint64_t pass_start, const Push &push, const Push &show);
	void make_stream_of(const UserProcess &process, UserRing &ring, const MakeStream &make_stream) const;
	std::size_t waiting_bytes() const;

	RingState read_state(const UserProcess &process, UserRing &ring);
	std::function<void()> learn_once(const UserProcess &process) const;
	UserRingInfo info_of(const UserRing &ring) const;
	void note_damage(const UserProcess &process, const std::string &what);

	ProcessTable &processes_;
	const KnownClasses &classes_;
	FunctionEvents &functions_;
	UserFilter &filter_;
	std::function<void()> learn_;
	std::uint64_t ticks_per_second_ = 0; // also how long a claim in a shared ring is waited for
	std::size_t first_process_ = 0;      // of the next pass
	std::size_t waiting_bytes_ = 0;      // that wait to be packed
	std::vector<std::unique_ptr<MergedStream>> merged_streams_; // by CPU
	std::vector<std::uint64_t> complete_before_;                // by CPU: earlier events are complete in this pass
	std::uint64_t all_complete_before_ = 0;
	std::unique_ptr<MergedStream> shared_; // of all shared rings
	std::uint64_t tokens_ = 0;             // that were taken, without `thread` tokens
	std::uint64_t refused_ = 0;            // of refused classes
	std::uint64_t damaged_ = 0;            // blocks with an error in them
	std::string damage_;                   // the first error, and whose it was
	WakeupWatch wakeups_;
};

} // namespace monitor::card
