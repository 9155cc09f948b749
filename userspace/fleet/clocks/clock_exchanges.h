// SPDX-License-Identifier: MIT
// The clock exchanges of one host with the collector: .monitor/clocks/HOST of a run.
//
// The collector appends a line for each exchange: the agent sent at t1 and received the answer at t4 by its trace
// clock; the collector received the question at t2 and answered at t3 by the reference clock. The first line states the
// host's clock:
//     monitor-clock 1 HOST clock=tsc|monotonic frequency_hz=N boot=UUID
//     t1 t2 t3 t4
// Times are decimal: t1 and t4 in ticks, t2 and t3 in ns since the epoch. From these samples lines_of() (clock_lines.h)
// makes the host's clock. The text is untrusted: a host chooses its own times. Invalid lines are left out and counted;
// only an invalid first line is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/collection/clock_lines.h"

namespace monitor::fleet {

struct ClockExchange {
	std::uint64_t sent = 0;                       // t1
	std::int64_t arrived_ns = 0, answered_ns = 0; // t2, t3
	std::uint64_t received = 0;                   // t4
};

struct ClockExchanges {
	static constexpr std::size_t max_exchanges = 1u << 21, max_file_bytes = 192u << 20;

	std::string host, boot;
	bool is_tsc = false; // otherwise the monotonic clock
	std::uint64_t frequency_hz = 0;
	std::vector<ClockExchange> all;
	// Lines not used: invalid ones, such as one cut off when the collector was killed; exchanges that end before
	// they start; those after a first line with another clock or boot; those beyond max_exchanges.
	std::uint64_t damaged = 0, impossible = 0, foreign = 0, beyond = 0;

	collection::ClockSamples samples() const;
};

// Empty: `why` is what is wrong with the first line, a message without subject.
std::optional<ClockExchanges> parse_exchanges(std::string_view untrusted_text, std::string &why);
// Throws Error: there is no such file, or its first line is refused.
ClockExchanges read_exchanges(const std::string &path);

} // namespace monitor::fleet
