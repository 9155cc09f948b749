// SPDX-License-Identifier: MIT
#include "events_help.h"

#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/calibration/calibration.h"
#include "recording/calibration/preflight.h"
#include "recording/card/bpf_card.h"
#include "recording/card/classes.h"
#include "recording/card/preflight_checks.h"
#include "recording/rings/clock.h"

namespace monitor {
namespace {

struct Prices {
	std::map<std::string, card::CalibratedCost> by_family; // by family
	std::string why_unknown;                               // of all
};

// Measured in loops, as before each recording.
Prices measure_prices()
{
	if (::geteuid() != 0)
		return {{}, "only root can attach probes"};
	constexpr std::uint64_t blocks_per_cpu = 1024;
	constexpr unsigned first_slope_ms = 5;
	try {
		card::CardOptions options;
		options.cpus = static_cast<unsigned>(::get_nprocs_conf());
		options.blocks_per_cpu = blocks_per_cpu;
		options.families = {"sched", "syscall", "fault"};
		card::BpfCard card(options);
		record::ClockSteering steering(card.clock(), card::has_invariant_tsc());
		steering.start(record::read_sync(card::has_invariant_tsc()), first_slope_ms);
		const bool tp = card::preflight(card).tp;
		return {card::calibrate(card, {tp, false, false, &steering}).costs, ""};
	} catch (const Error &error) {
		return {{}, error.what()};
	}
}

std::string price_text(const Prices &prices, const std::string &family)
{
	const auto found = prices.by_family.find(family);
	if (found == prices.by_family.end())
		return prices.why_unknown.empty() ? "unknown: no loop of a known number of these" : "unknown";
	const card::CalibratedCost &cost = found->second;
	if (!cost.rounds)
		return "unknown: there was no time";
	if (cost.median <= 0)
		return "unknown: the loops took longer without probes";
	if (cost.low <= 0)
		return "unknown: the loops differ by more than an event costs";
	return fmt::format("{:.0f} to {:.0f} ns", cost.low, cost.high);
}

std::string classes_text(const card::Family &family)
{
	std::string text;
	std::set<std::string> named; // some have a short and a long form
	for (const card::ClassRow &row : card::kernel_classes())
		if (row.family == std::string(family.name) && named.insert(row.name).second)
			text += (text.empty() ? "" : ", ") + std::string(row.name);
	return text;
}

} // namespace

void print_events_help()
{
	fmt::print("sets of events:\n");
	for (const card::EventSet &set : card::event_sets())
		fmt::print("  {:<8} {}\n", set.name, set.what);
	const Prices prices = measure_prices();
	fmt::print("\nfamilies, and what recording an event adds to the CPU time of a loop on this machine{}:\n",
		   prices.why_unknown.empty() ? "" : " (unknown: " + prices.why_unknown + ")");
	for (const card::Family &family : card::families()) {
		const std::string name = family.name;
		if (!family.by_default)
			continue; // has an option of its own
		fmt::print("  {:<8} {}\n           {}\n           {}\n", name, family.what, classes_text(family),
			   price_text(prices, name));
	}
	fmt::print("\nThe loops find the probes in the caches; in a program an event costs more.\n");
}

} // namespace monitor
