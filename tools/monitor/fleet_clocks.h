// SPDX-License-Identifier: MIT
// At the end of a collection: the clocks of the hosts, from their exchanges with the collector, are written into the
// run, and how far off each is is printed. Used by cmd_fleet_collect.cpp and fleet_follow.cpp, after the last save.
#pragma once

#include <string>

#include <fmt/format.h>

#include "answers/collection/run_clocks.h"
#include "base/error.h"
#include "base/escape.h"
#include "problems.h"

namespace monitor {

inline std::string clock_text(const collection::HostClock &clock)
{
	if (!clock.why_none.empty())
		return "how far off is unknown: " + clock.why_none;
	if (!clock.lines.has_bound())
		return "how far off is unknown: its clock steps";
	const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
	return fmt::format("off by {:.1f} to {:.1f} us at most, by {} exchanges{}", us(clock.lines.min_bound_ns()),
			   us(clock.lines.max_bound_ns()), clock.exchanges,
			   clock.lines.infeasible ? fmt::format(", unknown in {} of {} windows", clock.lines.infeasible,
								clock.lines.windows)
						  : "");
}

inline void write_fleet_clocks(const std::string &run)
{
	try {
		for (const collection::HostClock &clock : collection::write_run_clocks(run))
			print_note(fmt::format("monitor: clock of {}: {}\n", printable(clock.host),
					       printable(clock_text(clock))));
	} catch (const Error &error) { // the traces are stored all the same
		print_error(error.what());
	}
}

} // namespace monitor
