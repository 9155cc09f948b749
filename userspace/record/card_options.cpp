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

} // namespace

card::CardOptions card_options(const Options &options, unsigned cpus, const std::array<std::uint8_t, 16> &uuid)
{
	card::CardOptions card;
	card.families = chosen_families(options);
	card.filtering = options.filtering();
	card.cpus = cpus;
	card.uuid = uuid;
	if (options.counting)
		choose_counters(*options.counting, card);
	return card;
}

} // namespace monitor::record
