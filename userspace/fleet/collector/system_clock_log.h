// SPDX-License-Identifier: MIT
// RUN/.monitor/system_clocks/HOST: the state of a host's system clock while the run was collected.
//
// A line for each minute, and for each change between synchronised and not synchronised:
//     {"version":1,"reference_ns":N,"clock":{...}}
// `clock` is system_clock_json() (fleet/wire/system_clock.h). No bound depends on it. Invariant: a file does not grow
// above max_bytes and a line, whoever else wrote to it, and by at most one line a second.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "fleet/wire/system_clock.h"

namespace monitor::fleet {

class SystemClockLog {
public:
	static constexpr std::int64_t max_bytes = 8 << 20; // more than two weeks
	static constexpr std::uint64_t interval_ns = 60'000'000'000, min_interval_ns = 1'000'000'000;

	explicit SystemClockLog(const std::string &run_directory)
	    : directory_(run_directory + "/.monitor/system_clocks")
	{
	}

	// Called from any thread. `now_ns`: on the reference clock. Throws Error: it cannot be stored.
	void log(const std::string &host, const SystemClock &untrusted, std::uint64_t now_ns);

private:
	struct Host {
		bool is_synchronised = false;
		std::uint64_t written_ns = 0; // 0: never

		bool is_due(bool is_now_synchronised, std::uint64_t now_ns) const
		{
			const std::uint64_t since = now_ns - written_ns;
			return written_ns == 0 || since >= interval_ns ||
			       (since >= min_interval_ns && is_synchronised != is_now_synchronised);
		}
	};

	const std::string directory_;
	std::mutex mutex_; // protects the following
	std::map<std::string, Host> hosts_;
};

} // namespace monitor::fleet
