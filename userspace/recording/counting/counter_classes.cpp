// SPDX-License-Identifier: MIT
#include "counter_classes.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

#include "base/ranges.h"
#include "monitor/card.h"

namespace monitor::record {
namespace {

using recording_file::CounterTerm, recording_file::RecordedCounters;

// Names for TSDL: "LLC-load-misses" becomes "LLC_load_misses". Names that become equal get a number.
std::vector<std::string> field_names(std::vector<std::string> names)
{
	for (auto name = names.begin(); name != names.end(); ++name) {
		std::ranges::replace_if(
		    *name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
		if (name->empty() || std::isdigit(static_cast<unsigned char>((*name)[0])))
			name->insert(0, 1, '_');
		const std::string plain = *name;
		for (int i = 2;
		     *name == "enabled" || *name == "running" || std::find(names.begin(), name, *name) != name; ++i)
			*name = fmt::format("{}_{}", plain, i);
	}
	return names;
}

std::vector<std::string> fields_of_set(const pmu::Selection &selection, const std::vector<std::size_t> &set)
{
	return field_names(
	    list_of<std::string>(set, [&](std::size_t counter) { return selection.counters[counter].name; }));
}

std::vector<std::string> fields_of_ratios(const pmu::Selection &selection)
{
	return field_names(list_of<std::string>(ratio_pairs(selection), [&](const RatioPair &pair) {
		return selection.measurements[pair.measurement].name;
	}));
}

// Counters are numbered in the order of the sets: one name may be in two of them.
std::size_t number_in_sets(const pmu::Selection &selection, std::size_t counter)
{
	std::size_t number = 0;
	for (const auto &set : selection.sets)
		for (const std::size_t other : set) {
			if (other == counter)
				return number;
			++number;
		}
	return number;
}

std::vector<CounterTerm> recorded_terms(const pmu::Selection &selection, const std::vector<pmu::Term> &terms)
{
	std::vector<CounterTerm> all;
	for (const pmu::Term &term : terms)
		all.push_back({term.factor, number_in_sets(selection, term.counter)});
	return all;
}

} // namespace

std::vector<CounterClass> counter_classes(const std::optional<Counting> &counting)
{
	std::vector<CounterClass> classes;
	if (!counting)
		return classes;
	const pmu::Selection &selection = counting->selection;
	if (counting->format != RatioFormat::exact) {
		std::vector<std::string> fields = fields_of_ratios(selection);
		if (fields.empty())
			return classes;
		const bool small = counting->format == RatioFormat::rems16;
		classes.push_back({EDC_ID_RATIOS, "ratios", small ? "x16" : "u32", small ? fields[0] : "", {}, fields});
		if (small)
			classes.back().fields.erase(classes.back().fields.begin());
		return classes;
	}
	for (unsigned set = 0; set < selection.sets.size(); ++set) {
		const std::vector<std::string> names = fields_of_set(selection, selection.sets[set]);
		classes.push_back({EDC_ID_COUNTERS + set, "counters", "u64", "", {}, names});
		classes.push_back({EDC_ID_COUNTERS_SCALED + set, "counters", "u64", "", {}, {"enabled", "running"}});
		std::ranges::copy(names, std::back_inserter(classes.back().fields));
	}
	if (!counting->user_reads.counters.empty())
		classes.push_back({EDC_ID_USER_COUNTERS, "user_counters", "u64", "", {}, classes.front().fields});
	if (!counting->reset_names().empty())
		classes.push_back({EDC_ID_COUNTERS_RESET, "counters_reset", "u16", "at", counting->reset_names(), {}});
	return classes;
}

RecordedCounters recorded_counters(const Counting &counting)
{
	const pmu::Selection &selection = counting.selection;
	const bool exact = counting.format == RatioFormat::exact;
	const UserReads &reads = counting.user_reads;
	RecordedCounters all;
	all.user_id = reads.counters.empty() ? 0 : EDC_ID_USER_COUNTERS;
	all.user_refused = reads.refused;
	all.every_ns = counting.every_ns;
	for (unsigned set = 0; exact && set < selection.sets.size(); ++set) {
		const std::vector<std::string> names = fields_of_set(selection, selection.sets[set]);
		recording_file::RecordedSet &added = all.sets.emplace_back(
		    recording_file::RecordedSet{EDC_ID_COUNTERS + set, EDC_ID_COUNTERS_SCALED + set, {}});
		for (std::size_t i = 0; i < names.size(); ++i) {
			const pmu::Counter &counter = selection.counters[selection.sets[set][i]];
			added.counters.push_back({counter.name, counter.unit, names[i]});
		}
	}
	for (const pmu::Measurement &measurement : selection.measurements)
		all.measurements.push_back({measurement.name,
					    measurement.unit,
					    measurement.group,
					    measurement.formula,
					    recorded_terms(selection, measurement.numerator),
					    recorded_terms(selection, measurement.denominator),
					    measurement.per,
					    measurement.missing,
					    {}});
	all.ratio_id = EDC_ID_RATIOS;
	all.ratio_bits = bits_of(counting.format);
	const std::vector<RatioPair> pairs = ratio_pairs(selection);
	const std::vector<std::string> fields = fields_of_ratios(selection);
	for (std::size_t i = 0; !exact && i < pairs.size(); ++i)
		all.ratios.push_back({pairs[i].measurement, fields[i], pairs[i].inverse});
	all.notes = selection.notes;
	all.resets = counting.reset_names();
	return all;
}

} // namespace monitor::record
