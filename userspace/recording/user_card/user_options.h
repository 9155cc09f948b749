// SPDX-License-Identifier: MIT
// Options of the user card: set by Recording, read by the card's parts.
#pragma once

#include <vector>

#include <sys/types.h>

#include "base/buffering/user_memory.h"
#include "base/encoding.h"
#include "monitor/user_ring.h"
#include "user_filter.h"

namespace monitor::card {

struct UserCardOptions {
	Uuid uuid{};
	unsigned cpus = 0;
	uid_t user = 0;                         // whose processes may have rings; root's always may
	bool everyone = false;                  // all processes of the machine, through EDC_SOCKET_PATH
	bool device = false;                    // and through the kernel module, if it is loaded
	bool name_processes = false;            // for take_arrived()
	buffering::UserMemory memory;           // of the rings that the recorder gives
	std::vector<edc_user_counter> counters; // that programs read at the boundaries of activities

	std::size_t functions = 0; // whose events are counted, for --budget
	MakeMatcher make_matcher;  // of --filter; empty: every event is kept

	// Whether a user's processes are exempt from the limits of other users.
	bool is_trusted(uid_t other) const { return other == 0 || other == user; }
};

} // namespace monitor::card
