// SPDX-License-Identifier: MIT
// What the user card counts. Filled by its parts (user_process_table.cpp, user_drain.cpp, user_known_classes.cpp);
// written into recording.json. Invariant: the claims are the largest ones, one per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/recording_file/user_card.h"

namespace monitor::card {

using recording_file::UserClaim;
inline constexpr std::size_t max_claims_kept = 16; // the largest ones

struct UserCounts : recording_file::UserInfo {
	std::uint64_t forgotten = 0;        // first events of triggers
	std::uint64_t missed_until = 0;     // for triggers, what was missing then was noticed
	std::vector<std::uint64_t> matched; // by --count

	// A process has a claim for each of its cards.
	void add(const UserClaim &added);
};

} // namespace monitor::card
