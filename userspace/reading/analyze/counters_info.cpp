// SPDX-License-Identifier: MIT
#include "counters_info.h"

#include "monitor/ratio.h"
#include "untrusted_json.h"

namespace monitor::analyze {
namespace {

constexpr std::size_t max_sets = 64, max_counters = 256, max_terms = 64;

const Json &array_of(const Json &object, const char *name)
{
	static const Json none = Json::array();
	const Json &found = member(object, name);
	return found.is_array() ? found : none;
}

void add_set(const Json &json, CountersInfo &info)
{
	CounterSetInfo set;
	set.id = static_cast<unsigned>(number(member(json, "id")));
	set.scaled_id = static_cast<unsigned>(number(member(json, "scaled_id")));
	set.first = info.counters.size();
	for (const Json &counter : array_of(json, "counters"))
		if (info.counters.size() < max_counters)
			info.counters.push_back({text(member(counter, "name")), text(member(counter, "unit")),
						 text(member(counter, "field")),
						 static_cast<unsigned>(info.sets.size())});
	set.count = info.counters.size() - set.first;
	info.sets.push_back(set);
}

// False: a term refers to a counter that does not exist.
bool read_terms(const Json &json, const CountersInfo &info, std::vector<CounterTerm> &terms)
{
	for (const Json &item : json) {
		const Json &number_of = member(item, "counter");
		const bool counts = number_of.is_number_integer() && number_of.get<std::int64_t>() >= 0;
		const std::uint64_t counter = counts ? number(number_of) : max_counters;
		const Json &factor = member(item, "factor");
		if (counter >= info.counters.size() || !factor.is_number() || terms.size() >= max_terms)
			return false;
		terms.push_back({factor.get<double>(), static_cast<std::size_t>(counter)});
	}
	return true;
}

Per per_of(const std::string &name)
{
	return name == "counters"      ? Per::counters
	       : name == "time"        ? Per::time
	       : name == "seconds"     ? Per::seconds
	       : name == "occurrences" ? Per::occurrences
				       : Per::nothing;
}

void add_measurement(const Json &json, CountersInfo &info)
{
	Measurement measurement;
	measurement.name = text(member(json, "name"));
	measurement.unit = text(member(json, "unit"));
	measurement.group = text(member(json, "group"));
	measurement.formula = text(member(json, "formula"));
	measurement.missing = text(member(json, "missing"));
	measurement.per = per_of(text(member(json, "per")));
	if (measurement.missing.empty() && info.ratio_bits == 0 &&
	    (!read_terms(array_of(json, "numerator"), info, measurement.numerator) ||
	     !read_terms(array_of(json, "denominator"), info, measurement.denominator)))
		measurement.missing = "its counters are not described in this trace";
	info.measurements.push_back(std::move(measurement));
}

void add_ratio(const Json &json, CountersInfo &info)
{
	const std::uint64_t measurement = optional_number(member(json, "measurement")).value_or(max_counters);
	if (measurement >= info.measurements.size() || info.ratios.size() >= max_counters)
		return;
	info.measurements[measurement].ratio = info.ratios.size();
	info.ratios.push_back({text(member(json, "field")), flag(member(json, "inverse"))});
}

std::vector<CounterReading> readings(const Json &json)
{
	std::vector<CounterReading> all;
	for (const Json &item : json) {
		CounterReading reading;
		reading.cpu = number(member(item, "cpu"));
		reading.set = number(member(item, "set"));
		reading.time = number(member(item, "time"));
		reading.enabled_ns = number(member(item, "enabled_ns"));
		reading.running_ns = number(member(item, "running_ns"));
		for (const Json &value : array_of(item, "values"))
			reading.values.push_back(number(value));
		all.push_back(std::move(reading));
	}
	return all;
}

} // namespace

std::optional<CountersInfo> counters_info(const Json &json)
{
	if (!json.is_object())
		return {};
	CountersInfo info;
	for (const Json &set : array_of(json, "sets"))
		if (info.sets.size() < max_sets)
			add_set(set, info);
	const std::uint64_t bits = number(member(json, "ratio_bits"));
	info.ratio_bits = bits == EDC_RATIO_BITS_16 || bits == EDC_RATIO_BITS_32 ? static_cast<unsigned>(bits) : 0;
	info.ratio_id = static_cast<unsigned>(number(member(json, "ratio_id")));
	for (const Json &measurement : array_of(json, "measurements"))
		if (info.measurements.size() < max_counters)
			add_measurement(measurement, info);
	for (const Json &ratio : array_of(json, "ratios"))
		if (info.ratio_bits)
			add_ratio(ratio, info);
	info.start = readings(array_of(member(json, "readings"), "start"));
	info.end = readings(array_of(member(json, "readings"), "end"));
	info.user_id = static_cast<unsigned>(number(member(json, "user_id")));
	info.user_refused = text(member(json, "user_refused"));
	info.resets = texts(member(json, "resets"));
	return info;
}

} // namespace monitor::analyze
