// SPDX-License-Identifier: MIT
// The state of a host's system clock, as its kernel reports it: synchronised or not, and its maximum error.
//
// Part of a host's presence (reports.h); the collector stores it in RUN/.monitor/system_clocks/HOST. An NTP or PTP
// daemon sets it, so it proves nothing: bounds between hosts come from clock exchanges alone. Invariant: parsing any
// JSON gives values of bounded size, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace monitor::fleet {

struct SystemClock {
	static constexpr std::size_t max_ptp = 4, max_name = 64;

	// A PTP hardware clock.
	struct Ptp {
		std::string device, name;             // "ptp0", and its driver's name for it
		std::optional<std::int64_t> ahead_ns; // of the system clock, if readable,
		std::uint64_t within_ns = 0;          // and how long the reads took
	};

	bool is_synchronised = false;
	std::uint64_t max_error_us = 0, estimated_error_us = 0; // adjtimex(2): maxerror, esterror
	std::int64_t frequency_ppb = 0;                         // the kernel's correction
	std::int64_t tai_s = 0;                                 // TAI - UTC; 0: not set
	std::vector<Ptp> ptp{};

	// "synchronised, at most 12 ms off by its own account".
	std::string text() const;
};

nlohmann::ordered_json system_clock_json(const SystemClock &clock);
std::optional<SystemClock> parse_system_clock(const nlohmann::json &untrusted);
// The last complete line of the collector's file that is valid.
std::optional<SystemClock> last_system_clock(std::string_view untrusted_lines);

} // namespace monitor::fleet
