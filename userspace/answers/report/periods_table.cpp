// SPDX-License-Identifier: MIT
#include "periods_table.h"

#include <map>
#include <string>

#include <fmt/format.h>

namespace monitor::report {

Table periods_table(const analyze::Periods &periods, const trace::Description &description)
{
	Table table;
	table.columns = {
	    {"event", "event", Unit::text}, {"count", "count", Unit::count}, {"per_second", "per second", Unit::ratio}};
	std::map<std::uint32_t, std::string> names;
	for (const auto &cls : description.classes())
		names.emplace(cls->id, cls->name);
	std::map<std::string, std::uint64_t> counts; // an event's short and long form are two classes
	for (const auto &[id, count] : periods.events) {
		const auto name = names.find(id);
		counts[name == names.end() ? fmt::format("class {}", id) : name->second] += count;
	}
	const double seconds = static_cast<double>(description.clock.to_ns(periods.ticks)) / 1e9;
	for (const auto &[name, count] : counts)
		table.rows.push_back({name, count, seconds > 0 ? Cell(static_cast<double>(count) / seconds) : Cell()});
	return table;
}

} // namespace monitor::report
