// SPDX-License-Identifier: MIT
// At the end of a collection: computes the hosts' clocks from their exchanges with the collector, writes them into the
// run, and prints each one's error bound. Call it after the collector's last save.
#pragma once

#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "fleet/clocks/run_clocks.h"
#include "problems.h"

namespace monitor {

inline std::string clock_text(const fleet::HostClockLines &clock)
{
	if (!clock.why_none.empty())
		return "how far off is unknown: " + clock.why_none;
	const collection::ClockLines &lines = clock.lines;
	if (!lines.has_bound())
		return lines.not_witnessed
			   ? "how far off is unknown: no clock snapshots of its recorder enclose its times"
			   : "how far off is unknown: its clock steps";
	const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
	const std::uint64_t unknown = lines.infeasible + lines.not_witnessed;
	return fmt::format("off by {:.1f} to {:.1f} us at most ({}), by {} exchanges{}", us(lines.min_bound_ns()),
			   us(lines.max_bound_ns()),
			   lines.own_ns ? fmt::format("its own clock's {:.1f} us included", us(*lines.own_ns))
					: "its own clock's is not stated",
			   clock.exchanges,
			   unknown ? fmt::format(", unknown in {} of {} windows", unknown, lines.windows) : "");
}

inline void write_fleet_clocks(const std::string &run)
{
	try {
		for (const fleet::HostClockLines &clock : fleet::write_run_clocks(run))
			print_note("monitor: clock of {}: {}\n", printable(clock.host), printable(clock_text(clock)));
	} catch (const Error &error) { // the traces are stored anyway
		print_error(error.what());
	}
}

} // namespace monitor
