// SPDX-License-Identifier: MIT
#include "counters_info.h"

#include <algorithm>
#include <utility>

#include "monitor/ratio.h"

namespace monitor::analyze {
namespace {

using recording_file::RecordedCounter, recording_file::RecordedCounters, recording_file::RecordedSet;

constexpr std::size_t max_sets = 64, max_counters = 256, max_terms = 64;

void add_set(const RecordedSet &recorded, CountersInfo &info)
{
	CounterSetInfo set{recorded.id, recorded.scaled_id, info.counters.size()};
	for (const RecordedCounter &counter : recorded.counters)
		if (info.counters.size() < max_counters)
			info.counters.push_back(
			    {counter.name, counter.unit, counter.field, static_cast<unsigned>(info.sets.size())});
	set.count = info.counters.size() - set.first;
	info.sets.push_back(set);
}

// Whether the terms refer to counters that exist.
bool are_described(const std::vector<CounterTerm> &terms, const CountersInfo &info)
{
	return terms.size() <= max_terms && std::ranges::all_of(terms, [&](const CounterTerm &term) {
		       return !term.is_damaged && term.counter < info.counters.size();
	       });
}

void add_measurement(Measurement measurement, CountersInfo &info)
{
	const bool is_known =
	    are_described(measurement.numerator, info) && are_described(measurement.denominator, info);
	const bool is_of_counters = measurement.missing.empty() && info.ratio_bits == 0;
	if (is_of_counters && !is_known)
		measurement.missing = "its counters are not described in this trace";
	if (!is_of_counters || !is_known) // avoids later look-ups of unknown counters
		measurement.numerator = measurement.denominator = {};
	info.measurements.push_back(std::move(measurement));
}

void add_ratio(const RatioInfo &ratio, CountersInfo &info)
{
	const std::uint64_t measurement = ratio.measurement.value_or(max_counters);
	if (info.ratio_bits == 0 || measurement >= info.measurements.size() || info.ratios.size() >= max_counters)
		return;
	info.measurements[measurement].ratio = info.ratios.size();
	info.ratios.push_back(ratio);
}

} // namespace

CountersInfo counters_info(const RecordedCounters &recorded)
{
	CountersInfo info;
	for (const RecordedSet &set : recorded.sets)
		if (info.sets.size() < max_sets)
			add_set(set, info);
	const bool has_ratios = recorded.ratio_bits == EDC_RATIO_BITS_16 || recorded.ratio_bits == EDC_RATIO_BITS_32;
	info.ratio_bits = has_ratios ? recorded.ratio_bits : 0;
	info.ratio_id = recorded.ratio_id;
	for (const Measurement &measurement : recorded.measurements)
		if (info.measurements.size() < max_counters)
			add_measurement(measurement, info);
	for (const RatioInfo &ratio : recorded.ratios)
		add_ratio(ratio, info);
	info.start = recorded.readings.start;
	info.end = recorded.readings.end;
	info.user_id = recorded.user_id;
	info.user_refused = recorded.user_refused;
	info.resets = recorded.resets;
	return info;
}

} // namespace monitor::analyze
