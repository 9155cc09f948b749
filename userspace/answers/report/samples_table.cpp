// SPDX-License-Identifier: MIT
#include "samples_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::report {
namespace {

// Of the rounds' spreads, in ns.
struct Spread {
	double median, p99, max;
};

Spread spread_of(const analyze::SampleFold &fold, const trace::Clock &clock)
{
	const auto ns = [&](std::uint64_t ticks) {
		return static_cast<double>(clock.to_ns(std::min(ticks, fold.largest_spread())));
	};
	return {ns(fold.spreads().percentile(0.5)), ns(fold.spreads().percentile(0.99)), ns(fold.largest_spread())};
}

} // namespace

Table samples_table(const analyze::SampleFold &fold)
{
	Table table;
	table.columns = {{"recorded", "", Unit::flag},
			 {"process", "process", Unit::text},
			 {"pid", "pid", Unit::count},
			 {"samples", "samples", Unit::count},
			 {"share_percent", "share%", Unit::percent},
			 {"user", "user", Unit::count},
			 {"kernel", "kernel", Unit::count}};
	const auto all = static_cast<double>(fold.samples());
	for (const analyze::SampledProcess &process : fold.processes()) {
		const analyze::Thread &leader = *process.leader;
		const bool idle = leader.tid == 0;
		table.rows.push_back({leader.in_tree,
				      idle                  ? std::string("idle")
				      : leader.name.empty() ? std::string("?")
							    : leader.name,
				      std::uint64_t(static_cast<std::uint32_t>(leader.tid)), process.samples(),
				      100 * static_cast<double>(process.samples()) / all, process.user,
				      process.kernel});
	}
	return table;
}

std::string samples_text(const analyze::SampleFold &fold, const trace::Clock &clock)
{
	if (fold.rounds() == 0)
		return "no sample was taken\n";
	const Spread spread = spread_of(fold, clock);
	return fmt::format(
	    "{} samples, {} of them of all CPUs; spread of the times within a sample: median {}, 99 % {}, at most {}\n",
	    count_text(fold.rounds()), count_text(fold.complete()), duration_text(spread.median),
	    duration_text(spread.p99), duration_text(spread.max));
}

std::string samples_json(const analyze::SampleFold &fold, const trace::Clock &clock)
{
	if (fold.rounds() == 0)
		return "{\"taken\": 0}";
	const Spread spread = spread_of(fold, clock);
	return fmt::format("{{\"taken\": {}, \"complete\": {}, \"spread_ns\": {{\"median\": {:.0f}, \"p99\": {:.0f}, "
			   "\"max\": {:.0f}}}}}",
			   fold.rounds(), fold.complete(), spread.median, spread.p99, spread.max);
}

} // namespace monitor::report
