// SPDX-License-Identifier: MIT
#include "ratio_pairs.h"

#include <algorithm>

#include "base/error.h"
#include "monitor/card.h"
#include "monitor/ratio.h"

namespace monitor::record {
namespace {

bool is_ratio(const pmu::Measurement &measurement)
{
	const auto is_single = [](const std::vector<pmu::Term> &terms) {
		return terms.size() == 1 && terms[0].factor == 1;
	};
	return measurement.missing.empty() && measurement.per == pmu::Per::counters &&
	       is_single(measurement.numerator) && is_single(measurement.denominator);
}

} // namespace

unsigned bits_of(RatioFormat format)
{
	return format == RatioFormat::rems16   ? EDC_RATIO_BITS_16
	       : format == RatioFormat::rems32 ? EDC_RATIO_BITS_32
					       : 0;
}

std::vector<RatioPair> ratio_pairs(const pmu::Selection &selection)
{
	std::vector<RatioPair> pairs;
	for (std::size_t i = 0; i < selection.measurements.size() && pairs.size() < EDC_RATIO_PAIRS; ++i) {
		const pmu::Measurement &measurement = selection.measurements[i];
		if (!is_ratio(measurement))
			continue;
		RatioPair pair{i, measurement.numerator[0].counter, measurement.denominator[0].counter,
			       measurement.may_exceed_one};
		if (pair.inverse)
			std::swap(pair.numerator, pair.denominator);
		pairs.push_back(pair);
	}
	return pairs;
}

unsigned slot_of(const pmu::Selection &selection, std::size_t counter)
{
	for (std::size_t set = 0; set < selection.sets.size(); ++set) {
		const auto found = std::ranges::find(selection.sets[set], counter);
		if (found != selection.sets[set].end())
			return static_cast<unsigned>(set * EDC_COUNTERS_IN_SET) +
			       static_cast<unsigned>(found - selection.sets[set].begin());
	}
	return 0;
}

void keep_ratios(pmu::Selection &selection)
{
	const std::vector<RatioPair> pairs = ratio_pairs(selection);
	if (pairs.empty() &&
	    std::ranges::all_of(selection.measurements, &std::string::empty, &pmu::Measurement::missing))
		throw Error("--ratio-format stores ratios of two events, and -m requests none: use for example -m "
			    "ipc=instructions/cycles");
	for (std::size_t i = 0; i < selection.measurements.size(); ++i) {
		pmu::Measurement &measurement = selection.measurements[i];
		if (!measurement.missing.empty() || std::ranges::find(pairs, i, &RatioPair::measurement) != pairs.end())
			continue;
		measurement.missing = is_ratio(measurement) ? "more ratios than --ratio-format can store"
							    : "--ratio-format stores only ratios of two events";
		measurement.numerator.clear();
		measurement.denominator.clear();
	}
	// Unread sets would only take PMU time from the others.
	std::erase_if(selection.sets, [&](const std::vector<std::size_t> &set) {
		return std::ranges::none_of(
		    pairs, [&](const RatioPair &pair) { return std::ranges::find(set, pair.numerator) != set.end(); });
	});
}

} // namespace monitor::record
