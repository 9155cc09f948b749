// SPDX-License-Identifier: MIT
#include "sets.h"

#include <algorithm>

namespace monitor::pmu {
namespace {

// The PMU of a set with these events. The kernel treats msr's events as software.
std::string pmu_of(const std::vector<Event> &events)
{
	for (const Event &event : events)
		if (event.pmu != "software" && event.pmu != "msr")
			return event.pmu;
	return "software";
}

constexpr std::size_t none = ~std::size_t{0};

std::size_t find(const Selection &selection, std::size_t set, const Event &event)
{
	for (const std::size_t counter : selection.sets[set])
		if (is_same_counter(selection.counters[counter].attributes, event.attributes))
			return counter;
	return none;
}

} // namespace

void Sets::add(const ResolvedMeasurement &resolved)
{
	Measurement measurement = resolved.measurement;
	if (measurement.missing.empty()) {
		const std::size_t set = choose(resolved.events);
		std::vector<std::size_t> counters;
		for (const Event &event : resolved.events)
			counters.push_back(find_or_add(set, event));
		for (auto *terms : {&measurement.numerator, &measurement.denominator})
			for (Term &term : *terms)
				term.counter = counters[term.counter];
	} else {
		measurement.numerator.clear();
		measurement.denominator.clear();
	}
	selection_.measurements.push_back(std::move(measurement));
}

std::size_t Sets::missing_from(std::size_t set, const std::vector<Event> &events) const
{
	return static_cast<std::size_t>(std::count_if(
	    events.begin(), events.end(), [&](const Event &event) { return find(selection_, set, event) == none; }));
}

// Also tries to open all of them as one group.
bool Sets::has_room(std::size_t set, const std::vector<Event> &events) const
{
	const std::size_t more = missing_from(set, events);
	if (more == 0)
		return true;
	if (pmus_[set] != pmu_of(events) || selection_.sets[set].size() + more > max_in_set)
		return false;
	std::vector<perf_event_attr> together;
	for (const std::size_t counter : selection_.sets[set])
		together.push_back(selection_.counters[counter].attributes);
	for (const Event &event : events)
		if (find(selection_, set, event) == none)
			together.push_back(event.attributes);
	return machine_.probe(together) == 0;
}

// The set that needs the fewest additional counters, or a new one.
std::size_t Sets::choose(const std::vector<Event> &events)
{
	std::size_t best = none;
	for (std::size_t set = 0; set < selection_.sets.size(); ++set)
		if (has_room(set, events) && (best == none || missing_from(set, events) < missing_from(best, events)))
			best = set;
	if (best != none)
		return best;
	if (selection_.sets.size() == max_sets)
		throw Error("-m: this needs more than {} sets of counters; select fewer measurements at once",
			    max_sets);
	selection_.sets.emplace_back();
	pmus_.push_back(pmu_of(events));
	return selection_.sets.size() - 1;
}

std::size_t Sets::find_or_add(std::size_t set, const Event &event)
{
	const std::size_t known = find(selection_, set, event);
	if (known != none)
		return known;
	selection_.counters.push_back({event.name, event.unit == "ns" ? "ns" : "", event.attributes});
	selection_.sets[set].push_back(selection_.counters.size() - 1);
	return selection_.counters.size() - 1;
}

} // namespace monitor::pmu
