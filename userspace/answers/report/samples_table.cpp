// SPDX-License-Identifier: MIT
#include "samples_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::report {
namespace {

// Of the rounds' spreads, in ns.
struct Spread {
	double min, median, p99, max;
};

Spread spread_of(const analyze::SampleFold &fold, const trace::Clock &clock)
{
	const auto ns = [&](std::uint64_t ticks) {
		return static_cast<double>(clock.to_ns(std::min(ticks, fold.spreads().max)));
	};
	const Histogram &all = fold.spreads().histogram;
	return {ns(fold.spreads().min), ns(all.percentile(0.5)), ns(all.percentile(0.99)), ns(fold.spreads().max)};
}

} // namespace

Table samples_table(const analyze::SampleFold &fold)
{
	Table table;
	table.columns = {recorded_column(),
			 {"process", "process", Unit::text, 0, "what the samples hit"},
			 {"pid", "pid", Unit::count, 4, "its number"},
			 {"samples", "samples", Unit::count, 0, "of single CPUs"},
			 {"share_percent", "share%", Unit::percent, 1, "of all samples"},
			 {"user", "user", Unit::count, 2, "of these in user mode"},
			 {"kernel", "kernel", Unit::count, 3, "of these in the kernel"}};
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
	std::string text =
	    fmt::format("{} samples, {} of them of all CPUs", count_text(fold.rounds()), count_text(fold.complete()));
	if (fold.spreads().histogram.total()) {
		const Spread spread = spread_of(fold, clock);
		text += fmt::format("; spread of the times within these: at least {}, median {}, 99 % {}, at most {}",
				    duration_text(spread.min), duration_text(spread.median), duration_text(spread.p99),
				    duration_text(spread.max));
	}
	if (const std::uint64_t missing = fold.missing())
		text +=
		    fmt::format("\n{} times a CPU has no sample, which was not taken or was lost", count_text(missing));
	return text + "\n";
}

std::string samples_json(const analyze::SampleFold &fold, const trace::Clock &clock)
{
	if (fold.rounds() == 0)
		return "{\"taken\": 0}";
	std::string spread_text = "null";
	if (fold.spreads().histogram.total()) {
		const Spread spread = spread_of(fold, clock);
		spread_text = fmt::format("{{\"min\": {:.0f}, \"median\": {:.0f}, \"p99\": {:.0f}, \"max\": {:.0f}}}",
					  spread.min, spread.median, spread.p99, spread.max);
	}
	return fmt::format("{{\"taken\": {}, \"complete\": {}, \"missing\": {}, \"spread_ns\": {}}}", fold.rounds(),
			   fold.complete(), fold.missing(), spread_text);
}

} // namespace monitor::report
