// SPDX-License-Identifier: MIT
// A process that has rings, as the recorder sees it. Created by user_process_table.cpp, drained by user_drain.cpp.
//
// Its memory is shared with the process: every byte of it is untrusted. Under the lock of the card (user_card.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "base/encoding.h"
#include "base/fd.h"
#include "monitor/user_ring.h"
#include "user_block.h"
#include "user_counts.h"
#include "user_process_info.h"
#include "user_shared.h"
#include "user_wakeup_watch.h"

namespace monitor::card {

struct UserRing {
	edc_user_ring *shared = nullptr;
	UserRingInfo info;
	std::uint64_t taken = 0;                          // blocks so far, as the writers number them
	std::uint64_t merged_bytes = EDC_BLOCK_HEADER;    // bytes of the next block that are already merged
	std::uint64_t evaluated_bytes = EDC_BLOCK_HEADER; // likewise that triggers have seen
	std::uint64_t discarded_before = 0;               // before the recording
	bool has_stream = false;
	bool done = false; // its writers have ended and all is taken

	// The block that is taken next.
	const std::byte *block(std::uint64_t blocks) const
	{
		return reinterpret_cast<const std::byte *>(shared) + EDC_BLOCK_SIZE + taken % blocks * EDC_BLOCK_SIZE;
	}
	// The blocks before `taken` are free again.
	void give_back() const { __atomic_store_n(&shared->read, taken, __ATOMIC_RELEASE); }
};

struct UserProcess {
	pid_t pid = 0;
	uid_t user = 0;
	unsigned card = 1; // number within this process: the streams of the second have other names
	Fd pidfd;
	Mapping area;
	std::uint64_t blocks = 0; // of each ring
	std::vector<UserRing> rings;
	std::optional<SharedRing> shared_ring;
	std::uint64_t shared_discarded = 0;                          // as reported so far
	bool shared_done = false;                                    // its writers have ended and all is taken
	std::uint64_t shared_discarded_before = 0, early_before = 0; // before the recording
	bool ended = false;
	bool has_successor = false;  // its process got further rings, for a library or after an exec
	bool losses_counted = false; // losses before it had rings are counted elsewhere or were reported
	bool is_merged = false;      // its events go into the merged streams
	bool by_device = false;      // the kernel module gave it its rings, and they stay after the recording
	std::shared_ptr<ThreadNumbers> numbers; // of its threads; null: they are the kernel's
	WakeupState wakeup;
	unsigned first_ring = 0; // of the next pass

	// Sets up the rings in `area`: of `cpus` CPUs and the shared one. `since`: no event is older.
	void lay_out(unsigned cpus, std::uint64_t ring_blocks, const Uuid &uuid, std::uint64_t since);
	// For rings older than the recorder: their present content is not part of the recording.
	void skip_present_content();

	edc_user_area &shared() const { return *reinterpret_cast<edc_user_area *>(area.data()); }
	// Whether its program ended without ever using the rings that it requested.
	bool is_unanswered() const;
	// Its writers have ended and all its rings are empty.
	bool is_done() const { return shared_done && std::ranges::all_of(rings, &UserRing::done); }
	// The losses that it reports; `most`: plausible number of events.
	UserClaim claim(std::uint64_t most) const;
};

} // namespace monitor::card
