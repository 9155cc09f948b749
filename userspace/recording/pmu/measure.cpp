// SPDX-License-Identifier: MIT
#include "measure.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::pmu {
namespace {

std::size_t find_or_add(std::vector<Event> &events, const Event &event)
{
	std::size_t index = 0;
	while (index < events.size() && !is_same_counter(events[index].attributes, event.attributes))
		++index;
	if (index == events.size())
		events.push_back(event);
	return index;
}

std::vector<Term> resolve_terms(const std::vector<FormulaTerm> &terms, std::vector<Event> &events,
				const Machine &machine)
{
	std::vector<Term> resolved;
	for (const FormulaTerm &term : terms) {
		Event event = resolve(term.event, machine);
		if (term.busy)
			make_busy(event, machine);
		resolved.push_back({term.factor * event.scale, find_or_add(events, event)});
	}
	return resolved;
}

std::string default_unit(Per per, const std::string &of_events)
{
	return per == Per::counters ? "" : per == Per::time ? "%" : of_events + (per == Per::seconds ? "/s" : "");
}

void check_units(const std::string &name, const ResolvedMeasurement &resolved)
{
	const auto is_ns = [](const Event &event) { return event.unit == "ns"; };
	const auto in_ns = std::count_if(resolved.events.begin(), resolved.events.end(), is_ns);
	if (resolved.measurement.per == Per::time && in_ns && in_ns != static_cast<long>(resolved.events.size()))
		throw Error(name + ": clocks in ns and other events cannot be added up to a time");
}

std::string why_missing(const std::vector<Event> &events, const Machine &machine)
{
	if (events.size() > max_in_set)
		return fmt::format("it needs {} counters, and at most {} can count together", events.size(),
				   max_in_set);
	std::string pmu;
	for (const Event &event : events) {
		if (event.pmu == "software" || event.pmu == "msr")
			continue;
		if (!pmu.empty() && pmu != event.pmu)
			return fmt::format("its events belong to two PMUs, {} and {}", pmu, event.pmu);
		pmu = event.pmu;
	}
	return why_not(events, machine);
}

ResolvedMeasurement unknown_measurement(const GroupLine &line, const std::string &event, const Machine &machine)
{
	ResolvedMeasurement resolved;
	resolved.measurement.name = line.name;
	resolved.measurement.unit = line.formula.unit;
	resolved.measurement.per = line.formula.per;
	resolved.measurement.formula = line.formula.text;
	resolved.unknown = event;
	resolved.measurement.missing =
	    machine.families.empty() && !has_pmu(machine) ? no_pmu(machine) : "event unknown to this CPU: " + event;
	return resolved;
}

// The first event of a formula that does not resolve.
std::string first_unknown_event(const Formula &formula, const Machine &machine)
{
	for (const auto *terms : {&formula.numerator, &formula.denominator})
		for (const FormulaTerm &term : *terms)
			try {
				resolve(term.event, machine);
			} catch (const UnknownEvent &) {
				return term.event;
			}
	return {};
}

} // namespace

bool is_same_counter(const perf_event_attr &a, const perf_event_attr &b)
{
	return a.type == b.type && a.config == b.config && a.config1 == b.config1 && a.config2 == b.config2 &&
	       a.exclude_user == b.exclude_user && a.exclude_kernel == b.exclude_kernel && a.exclude_hv == b.exclude_hv;
}

ResolvedMeasurement measure(const std::string &name, const Formula &formula, const Machine &machine)
{
	ResolvedMeasurement resolved;
	Measurement &measurement = resolved.measurement;
	measurement.name = name;
	measurement.per = formula.per;
	measurement.formula = formula.text;
	measurement.numerator = resolve_terms(formula.numerator, resolved.events, machine);
	const std::string of_events = resolved.events.front().unit;
	measurement.unit = formula.unit.empty() ? default_unit(formula.per, of_events) : formula.unit;
	measurement.denominator = resolve_terms(formula.denominator, resolved.events, machine);
	const bool is_ratio = formula.per == Per::counters || formula.per == Per::time;
	measurement.may_exceed_one = formula.per == Per::occurrences || (is_ratio && measurement.unit != "%");
	check_units(name, resolved);
	measurement.missing = why_missing(resolved.events, machine);
	return resolved;
}

std::vector<ResolvedMeasurement> measure_group(const Group &group, const Machine &machine)
{
	std::vector<ResolvedMeasurement> all;
	for (const GroupLine &line : lines_for(group, machine.families)) {
		try {
			const std::string name = first_unknown_event(line.formula, machine);
			all.push_back(name.empty() ? measure(line.name, line.formula, machine)
						   : unknown_measurement(line, name, machine));
		} catch (const Error &error) {
			throw Error("{}:{}: {}", group.path, line.position.in_numbers(), error.what());
		}
		all.back().measurement.group = group.name;
	}
	return all;
}

} // namespace monitor::pmu
