// SPDX-License-Identifier: MIT
// Clock questions handed on from host to host, and RUN/.monitor/clock_loops/HOST: what compares two hosts' clocks
// without the collector's.
//
// Called by collector_service.h from the thread that receives `m.clock.*`. Hosts that ask form a ring by their names;
// a question goes on to the next host or to the one before, in turn, as a number: the host asked at t1, and the other
// one says when, by its own clock, it received the number. So hosts need no subjects to reach each other, and cannot
// address each other. `monitor check` (fleet/clocks/clock_loops.h) judges the lines by these messages. A file
// starts with the line
//     monitor-clock-loop 1
// and has `FROM FROM_BOOT sent BOOT received` in each further one; HOST, with BOOT, is the one that received.
// Invariant: a host receives one each 100 ms at most, after the first ten one each second; all hosts together 500 in a
// second; and only what was handed on to it is taken from it, once.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fleet/wire/clock_message.h"

namespace monitor::fleet {

class ClockRelays {
public:
	using Clock = std::chrono::steady_clock;
	static constexpr std::int64_t max_bytes = 16 << 20; // of a host's file: a day
	static constexpr unsigned max_in_second = 500;

	explicit ClockRelays(const std::string &run_directory);

	struct Relay {
		std::string to, subject;
		std::vector<std::byte> data;
	};
	// A host has asked, and is answered at `reply`. To whom its question goes on, if to anybody.
	std::optional<Relay> question(const std::string &host, const ClockQuestion &question, const std::string &reply,
				      Clock::time_point now);
	// A host has received one. False: it was none that it has been given. Throws Error: it cannot be written down.
	bool receipt(const std::string &host, const ClockReceipt &untrusted);

private:
	struct Host {
		std::string reply; // of its last question: the hub lets the collector publish to such subjects only
		Clock::time_point asked, given; // last
		std::uint64_t questions = 0, received = 0;
		struct Open {
			std::uint64_t number = 0; // 0: none
			std::string from;
			Uuid from_boot{};
			std::uint64_t sent = 0;
		} open;
	};

	// The next one in the ring, or the one before, that may be given a question now; nullptr: none.
	std::map<std::string, Host>::value_type *peer_of(const std::string &host, bool is_next, Clock::time_point now);
	bool may_hand_on(Clock::time_point now);

	std::string directory_;
	std::map<std::string, Host> hosts_;
	std::uint64_t last_number_; // two collectors hear the same receipts: neither has the other's numbers
	Clock::time_point second_;  // when the second began of which `in_second_` were handed on
	unsigned in_second_ = 0;
};

} // namespace monitor::fleet
