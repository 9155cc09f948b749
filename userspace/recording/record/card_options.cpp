// SPDX-License-Identifier: MIT
#include "card_options.h"

#include <algorithm>

#include <unistd.h>

#include "base/error.h"
#include "clock.h"
#include "ratio_pairs.h"
#include "recording/card/classes.h"
#include "recording/card/preflight_checks.h"
#include "stack_choice.h"

namespace monitor::record {
namespace {

std::vector<std::string> chosen_families(const Options &options)
{
	std::vector<std::string> names = options.families;
	if (names.empty())
		for (const card::Family &family : card::families())
			if (family.by_default)
				names.push_back(family.name);
	if (options.sample_every_ns)
		names.push_back("sample");
	for (const std::string &family : families_of(options.stacks))
		if (std::ranges::find(names, family) == names.end())
			names.push_back(family);
	if (!options.functions.empty())
		names.emplace_back("function");
	return names;
}

// Why the BPF card cannot record the request; "" if it can.
std::string why_module_only(const std::vector<std::string> &families)
{
	return std::ranges::find(families, "sample") == families.end()
		   ? ""
		   : "--sample-every interrupts all CPUs at once, which only the kernel module can";
}

void choose_counters(const Counting &counting, card::CardOptions &card)
{
	const pmu::Selection &selection = counting.selection;
	for (const auto &set : selection.sets)
		card.counters_in_set.push_back(static_cast<unsigned>(set.size()));
	card.ratios.bits = bits_of(counting.format);
	if (card.ratios.bits)
		for (const RatioPair &pair : ratio_pairs(selection))
			card.ratios.pairs.emplace_back(slot_of(selection, pair.numerator),
						       slot_of(selection, pair.denominator));
	card.counters_every_ns = counting.every_ns;
	card.resets = counting.resets;
}

// Why the kernel module's card cannot record the request; "" if it can.
std::string why_not_module(const Options &options, const std::vector<std::string> &families)
{
	if (std::string why = card::why_no_module(); !why.empty())
		return why;
	if (!card::has_invariant_tsc())
		return "this machine has no time stamp counter of constant rate, which the module needs";
	if (options.counting && (options.counting->every_ns || !options.counting->resets.empty() ||
				 options.counting->format != RatioFormat::exact))
		return "it reads counters only at switches; for --every, --reset-on and --ratio-format use --card bpf";
	if (!options.functions.empty())
		return "functions are probed by the BPF card";
	if (options.stacks.any())
		return "stacks are taken by the BPF card's probes";
	const bool is_typed = ::access("/sys/kernel/btf/monitor_edc", F_OK) == 0;
	const auto needs_types = [](const std::string &family) { return family == "power" || family == "block"; };
	if (is_typed || (!options.filtering() && !options.counting && std::ranges::none_of(families, needs_types)))
		return "";
	return "it was built without type information (BTF), which the families power and block, -p and -m need; "
	       "build it with the package dwarves installed, or leave them out";
}

bool takes_module(const Options &options, const std::vector<std::string> &families)
{
	const std::string needed = why_module_only(families);
	if (options.card == "bpf") {
		if (!needed.empty())
			throw Error(needed + ": leave out --card bpf");
		return false;
	}
	const std::string why = why_not_module(options, families);
	if (options.card == "module" && !why.empty())
		throw Error("--card module: " + why);
	if (!needed.empty() && !why.empty())
		throw Error(needed + "; " + why);
	return why.empty();
}

} // namespace

card::CardOptions card_options(const Options &options, unsigned cpus, const std::array<std::uint8_t, 16> &uuid)
{
	card::CardOptions card;
	card.families = chosen_families(options);
	card.filtering = options.filtering();
	card.matching = options.matching.has_value();
	card.counting_events = options.matching && !options.matching->request.counts.empty();
	card.keeps_tokens = !options.matching || options.matching->request.keeps_tokens;
	card.module = takes_module(options, card.families);
	card.sample_every_ns = options.sample_every_ns;
	card.cpus = cpus;
	card.stacks = options.stacks;
	card.uuid = uuid;
	if (options.counting)
		choose_counters(*options.counting, card);
	return card;
}

} // namespace monitor::record
