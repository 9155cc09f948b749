// SPDX-License-Identifier: MIT
#include "card_options.h"

#include "card/classes.h"
#include "ratio_pairs.h"

namespace monitor::record {
namespace {

std::vector<std::string> chosen_families(const Options &options)
{
	if (!options.families.empty())
		return options.families;
	std::vector<std::string> names;
	for (const card::Family &family : card::families())
		if (family.by_default)
			names.push_back(family.name);
	return names;
}

void choose_counters(const pmu::Selection &selection, RatioFormat format, card::CardOptions &card)
{
	for (const auto &set : selection.sets)
		card.counters_in_set.push_back(static_cast<unsigned>(set.size()));
	card.ratios.bits = bits_of(format);
	if (card.ratios.bits)
		for (const RatioPair &pair : ratio_pairs(selection))
			card.ratios.pairs.emplace_back(slot_of(selection, pair.numerator),
						       slot_of(selection, pair.denominator));
}

} // namespace

card::CardOptions card_options(const Options &options, std::uint64_t blocks_per_cpu, unsigned cpus,
			       const std::array<std::uint8_t, 16> &uuid)
{
	card::CardOptions card;
	card.families = chosen_families(options);
	card.filtering = options.filtering();
	card.cpus = cpus;
	card.blocks_per_cpu = blocks_per_cpu;
	card.uuid = uuid;
	if (options.counters)
		choose_counters(*options.counters, options.ratio_format, card);
	card.counters_every_ns = options.counters ? options.counters_every_ns : 0;
	return card;
}

} // namespace monitor::record
