// SPDX-License-Identifier: MIT
// A process that has rings, as the recorder sees it. Made by user_card.cpp, emptied by user_drain.cpp; no other file
// includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "monitor/user_ring.h"
#include "user_card.h"
#include "user_shared.h"

namespace monitor::card {

struct UserCard::Ring {
	edc_user_ring *shared = nullptr;
	UserRingFacts facts;
	std::uint64_t taken = 0;                 // blocks so far, as the writers number them
	std::uint64_t merged = EDC_BLOCK_HEADER; // bytes of the next block that are merged already
	bool has_stream = false;
	bool done = false; // its writers have ended and all is taken
};

struct UserCard::Process {
	pid_t pid = 0;
	unsigned card = 1; // of this process: the second has another name
	Fd pidfd;
	Mapping area;
	std::uint64_t blocks = 0; // of a ring
	std::vector<Ring> rings;
	std::optional<SharedRing> shared_ring;
	std::uint64_t shared_discarded = 0; // as told so far
	bool ended = false;
	bool merged = false; // its events go into the merged streams

	edc_user_area &shared() const { return *reinterpret_cast<edc_user_area *>(area.data()); }
};

} // namespace monitor::card
