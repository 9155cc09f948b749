// SPDX-License-Identifier: MIT
#include "measure.h"

#include <algorithm>

namespace monitor::analyze {
namespace {

// The fraction of its time in which a set was counting; empty: it never was.
std::optional<double> counting_share(const CounterSums &sums, std::size_t set)
{
	const auto enabled = static_cast<double>(sums.enabled_ns[set]),
		   missed = static_cast<double>(sums.missed_ns[set]);
	if (missed == 0)
		return 1;
	return enabled > missed ? std::optional(1 - missed / enabled) : std::nullopt;
}

// A sum of terms, each scaled to the whole time. False: one of their sets was never counting.
bool add_terms(const std::vector<CounterTerm> &terms, const CounterSums &sums, const CountersInfo &info, double &sum,
	       double &min_counting)
{
	for (const CounterTerm &term : terms) {
		const std::optional<double> share = counting_share(sums, info.counters[term.counter].set);
		if (!share)
			return false;
		min_counting = std::min(min_counting, *share);
		sum += term.factor * static_cast<double>(sums.counts[term.counter]) / *share;
	}
	return true;
}

// A code above full scale has no known value, so neither has the sum.
Measured measure_ratio(const RatioSums &sums, bool inverse, unsigned bits)
{
	Measured measured;
	if (sums.denominator == 0 || sums.over)
		return measured;
	const double ratio = static_cast<double>(sums.numerator) / static_cast<double>(sums.denominator);
	if (sums.numerator == 0 && sums.below)
		measured.below = 1 / static_cast<double>(1u << bits);
	else if (!inverse)
		measured.value = ratio;
	else if (sums.numerator != 0)
		measured.value = 1 / ratio;
	return measured;
}

} // namespace

Measured measure(const Measurement &measurement, const CounterSums &sums, const CountersInfo &info,
		 const trace::Clock &clock)
{
	if (measurement.ratio && measurement.missing.empty())
		return measure_ratio(sums.ratios[*measurement.ratio], info.ratios[*measurement.ratio].inverse,
				     info.ratio_bits);
	Measured measured;
	double numerator = 0, denominator = 0;
	if (!measurement.missing.empty() || measurement.numerator.empty() ||
	    !add_terms(measurement.numerator, sums, info, numerator, measured.counting) ||
	    !add_terms(measurement.denominator, sums, info, denominator, measured.counting))
		return measured;
	const CounterInfo &counter = info.counters[measurement.numerator.front().counter];
	const double ticks = static_cast<double>(sums.ticks[counter.set]);
	const double seconds = ticks / static_cast<double>(clock.frequency_hz);
	switch (measurement.per) {
	case Per::counters:
		break;
	case Per::time:
		denominator = counter.unit == "ns" ? seconds * 1e9 : ticks;
		break;
	case Per::seconds:
		denominator = seconds;
		break;
	case Per::occurrences:
		denominator = static_cast<double>(sums.occurrences);
		break;
	case Per::nothing:
		denominator = ticks > 0 ? 1 : 0;
		break;
	}
	if (denominator > 0)
		measured.value = numerator / denominator;
	return measured;
}

} // namespace monitor::analyze
