// SPDX-License-Identifier: MIT
// The collector's side of clock exchanges: the reference clock, and RUN/.monitor/clocks/HOST.
//
// The reference clock is CLOCK_MONOTONIC_RAW, which is never stepped or slewed, plus an offset to the epoch, taken once
// a run and kept in RUN/.monitor/clocks.json: a restarted collector continues with the same clock until the machine
// boots. A file of exchanges starts with the line
//     monitor-clock 1 HOST clock=tsc|monotonic frequency_hz=N boot=UUID
// and has `t1 t2 t3 t4` in each further one; exchanges of another boot of the host, or with another reference, are in
// HOST.BOOT-N. fleet/clocks makes lines with bounds of them. One thread, of the connection for clocks. Invariant:
// within a file t1 and t2 increase, and the number of a host's files is bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "fleet/wire/clock_message.h"

namespace monitor::fleet {

// Started by one collector: each boot of the host adds one. Exchanges with further clocks are not stored.
inline constexpr unsigned max_clock_files_of_host = 16;

class ClockAnswers {
public:
	// Measures the offset, or reads the stored one. Throws Error.
	explicit ClockAnswers(const std::string &run_directory);

	// ns since the epoch on the reference clock.
	std::uint64_t now_ns() const;
	// The answer to a question received at `t2`; t3 is read last. nullopt: refused; sets `why`. Stores the previous
	// exchange, whose times are in the question; throws Error if it cannot.
	std::optional<ClockAnswer> answer(const std::string &host, std::span<const std::byte> untrusted,
					  std::uint64_t t2, std::string &why);

private:
	struct Host {
		HostClock clock;
		std::string path;
		ClockTimes last;
		std::uint64_t exchanges = 0;
		unsigned files = 0;
	};

	void write(Host &host, const std::string &name, const ClockQuestion &question);
	bool start_file(Host &host, const std::string &name, const HostClock &clock) const;
	// "": there are too many files.
	std::string new_path(const std::string &name, const Uuid &boot) const;

	std::string directory_;
	std::uint64_t offset_ns_ = 0; // CLOCK_MONOTONIC_RAW to reference clock
	std::map<std::string, Host> hosts_;
};

} // namespace monitor::fleet
