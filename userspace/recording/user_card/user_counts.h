// SPDX-License-Identifier: MIT
// What the user card counts. Filled by its parts (user_process_table.cpp, user_drain.cpp, user_known_classes.cpp);
// written by recording/session/recording_file.cpp. Invariant: the claims are the largest ones, one per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace monitor::card {

// What a process reports that it lost: only the process can count it.
struct UserClaim {
	pid_t process = 0;
	std::uint64_t discarded = 0; // discarded by its full rings
	std::uint64_t early = 0;     // before it had rings
	bool possible = true;        // false: it reports more than all CPUs can post, which is not in the numbers

	std::uint64_t lost() const { return discarded + early; }
};
inline constexpr std::size_t max_claims_kept = 16; // the largest ones

struct UserCounts {
	std::uint64_t processes = 0;  // that got rings
	std::uint64_t by_device = 0;  // of these, from the kernel module
	std::uint64_t refused = 0;    // that got none
	std::uint64_t unanswered = 0; // that ended, or executed another program, before: nothing counts their events
	std::uint64_t tokens = 0;     // that were taken, without `thread` tokens
	std::uint64_t discarded = 0;  // by full rings, as the processes report, and holes of the shared ones
	std::uint64_t early = 0;      // before the rings existed, as the processes report; or of refused classes
	std::uint64_t claims = 0;     // processes that report lost events
	std::vector<UserClaim> claim;
	std::uint64_t damaged = 0; // blocks with an error in them
	std::uint64_t classes = 0, classes_refused = 0;
	std::vector<std::pair<std::uint32_t, std::uint64_t>> filtered_by_id; // left out by --filter
	std::uint64_t forgotten = 0;                                         // first events of triggers
	std::uint64_t missed_until = 0;     // for triggers, what was missing then was noticed
	std::vector<std::uint64_t> matched; // by --count
	std::string damage;                 // the first error, and whose it was
	std::string why_refused;            // the first class

	// A process has a claim for each of its cards.
	void add(const UserClaim &added);
};

} // namespace monitor::card
