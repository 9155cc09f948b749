// SPDX-License-Identifier: MIT
// RUN/.monitor/system_clocks/HOST: what a host's kernel has said of its system clock while the run was collected.
//
// Called by collector_service.h with the presences of hosts that are in the run. A line for each minute, and when
// synchronised turns to not synchronised or back:
//     {"version":1,"reference_ns":N,"clock":{...}}
// in which `clock` is system_clock_json() (base/fleet/system_clock.h). No bound depends on it. Invariant: of a host
// there are at most max_lines lines, at most one a second.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/fleet/system_clock.h"

namespace monitor::fleet {

class SystemClockLog {
public:
	static constexpr std::uint64_t max_lines = 20'000; // two weeks
	static constexpr std::uint64_t between_ns = 60'000'000'000, least_between_ns = 1'000'000'000;

	explicit SystemClockLog(const std::string &run_directory)
	    : directory_(run_directory + "/.monitor/system_clocks")
	{
	}

	// `now_ns`: on the reference clock. Throws Error: it cannot be written down.
	void take(const std::string &host, const SystemClock &untrusted, std::uint64_t now_ns);

private:
	struct Host {
		bool is_synchronised = false;
		std::uint64_t written_ns = 0, lines = 0;
	};

	std::string directory_;
	std::map<std::string, Host> hosts_;
};

} // namespace monitor::fleet
