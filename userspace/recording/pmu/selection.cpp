// SPDX-License-Identifier: MIT
#include "selection.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/scanner.h"
#include "measure.h"
#include "sets.h"

namespace monitor::pmu {
namespace {

constexpr const char *without_pmu = "software"; // the group for machines without a PMU

// Rejoins items that were split at a comma within a PMU's terms.
std::vector<std::string> whole_items(const std::vector<std::string> &requests)
{
	std::vector<std::string> items;
	bool continues = false;
	for (const std::string &request : requests) {
		if (continues)
			items.back() += "," + request;
		else
			items.push_back(trimmed(request));
		continues = ends_within_terms(items.back());
	}
	return items;
}

class Selector {
public:
	explicit Selector(const Machine &machine) : machine_(machine), sets_(selection_, machine) {}

	Selection select(const std::vector<std::string> &requests)
	{
		for (const std::string &item : whole_items(requests)) {
			if (item.empty())
				throw Error(
				    "-m: an item is empty: expected groups and NAME=FORMULA, separated by commas");
			if (item.find('=') == std::string::npos)
				add_group(item);
			else
				add_formula(item);
		}
		if (!hardware_.empty())
			add_software();
		return selection_;
	}

private:
	void add_formula(const std::string &item)
	{
		const std::size_t equals = item.find('=');
		const std::string name = trimmed(item.substr(0, equals));
		if (name.empty())
			throw Error("-m " + item + ": the name is missing before the =");
		if (is_taken(name))
			throw Error("-m: two measurements are called \"" + name + "\"");
		try {
			const Formula formula = parse_formula(item.substr(equals + 1), is_event);
			sets_.add(measure(name, formula, machine_));
		} catch (const ParseError &error) {
			throw Error("-m {}: column {}: {}", item, equals + 1 + error.position().column, error.what());
		} catch (const Error &error) {
			throw Error("-m {}: {}", item, error.what());
		}
	}
	void add_group(const std::string &name)
	{
		if (std::find(groups_.begin(), groups_.end(), name) != groups_.end())
			return;
		groups_.push_back(name);
		bool needs_pmu = false;
		for (ResolvedMeasurement &resolved : measure_group(load_group(name, machine_), machine_)) {
			Measurement &measurement = resolved.measurement;
			if (is_taken(measurement.name))
				measurement.name += " (" + name + ")";
			needs_pmu |= measurement.missing == no_pmu(machine_);
			sets_.add(resolved);
		}
		if (needs_pmu)
			hardware_.push_back(name);
	}
	void add_software()
	{
		const bool has_it = std::find(groups_.begin(), groups_.end(), without_pmu) != groups_.end();
		selection_.notes.push_back(fmt::format("{}: {} cannot be counted{}", no_pmu(machine_),
						       fmt::join(hardware_, ", "),
						       has_it ? "" : ", so software is counted as well"));
		add_group(without_pmu);
	}
	bool is_taken(const std::string &name) const
	{
		return std::ranges::count(selection_.measurements, name, &Measurement::name) != 0;
	}

	const Machine &machine_;
	Selection selection_;
	Sets sets_;
	std::vector<std::string> groups_, hardware_; // requested; those of them that need a PMU
};

} // namespace

Selection select(const std::vector<std::string> &requests)
{
	return select(requests, this_machine());
}

Selection select(const std::vector<std::string> &requests, const Machine &machine)
{
	return Selector(machine).select(requests);
}

} // namespace monitor::pmu
