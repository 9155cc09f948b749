// SPDX-License-Identifier: MIT
// Clock questions relayed from host to host, and RUN/.monitor/clock_loops/HOST: they compare two hosts' clocks without
// the collector's.
//
// Hosts that ask form a ring by their names. A question is relayed to the next host or to the previous one, in turn, as
// a number: one host asked at t1, and the other reports when, by its own clock, it received the number. So hosts need
// no subjects to reach each other, and cannot address each other. fleet/clocks/clock_loops.h judges the lines by these
// messages. A file starts with the line
//     monitor-clock-loop 1
// and has `FROM FROM_BOOT sent BOOT received` in each further one; HOST, with BOOT, is the receiver. One thread, of the
// connection for clocks.
// Invariant: a host receives at most one each 100 ms, after the first ten one each second, all hosts together 500 in a
// second; and a receipt is accepted only for what was relayed to that host, once.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/wire/clock_message.h"

namespace monitor::fleet {

class ClockRelays {
public:
	using Clock = std::chrono::steady_clock;
	static constexpr std::int64_t max_bytes = 16 << 20; // per file: a day
	static constexpr unsigned max_relays_per_second = 500;

	explicit ClockRelays(const std::string &run_directory);

	struct Relay {
		std::string to, subject;
		std::vector<std::byte> data;
	};
	// A host has sent a question, and is answered at `reply`. Returns where to relay the question, if anywhere.
	std::optional<Relay> question(const std::string &host, const ClockQuestion &question, const std::string &reply,
				      Clock::time_point now);
	// A host has received a relayed question. False: none was relayed to it. Throws Error: it cannot be stored.
	bool receipt(const std::string &host, const ClockReceipt &untrusted);

private:
	struct Host {
		std::string reply; // of its last question: the collector may publish only to such subjects
		Clock::time_point asked_at, relayed_at; // times of its last question, and of the last one relayed to it
		std::uint64_t questions = 0, received = 0;
		struct Outstanding {
			std::uint64_t number = 0; // 0: none
			std::string from;
			Uuid from_boot{};
			std::uint64_t sent = 0;
		} outstanding;
	};

	// The next or previous host in the ring that may receive a question now; nullptr: none.
	std::map<std::string, Host>::value_type *peer_of(const std::string &host, bool is_next, Clock::time_point now);
	bool may_relay(Clock::time_point now);

	std::string directory_;
	std::map<std::string, Host> hosts_;
	std::uint64_t last_number_;      // random start, as two collectors receive the same receipts
	Clock::time_point second_start_; // start of the second that relays_in_second_ counts
	unsigned relays_in_second_ = 0;
};

} // namespace monitor::fleet
