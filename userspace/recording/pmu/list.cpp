// SPDX-License-Identifier: MIT
#include "list.h"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "generic.h"
#include "pfm.h"
#include "sysfs.h"

namespace monitor::pmu {
namespace {

constexpr std::size_t max_tried = 300;

const char *kind_of(std::uint32_t type)
{
	return type == PERF_TYPE_HARDWARE   ? "hardware"
	       : type == PERF_TYPE_HW_CACHE ? "cache"
	       : type == PERF_TYPE_SOFTWARE ? "software"
					    : "raw";
}

bool matches(const ListedEvent &event, const std::string &pattern)
{
	if (pattern.empty())
		return true;
	const std::string anywhere = "*" + pattern + "*";
	return ::fnmatch(anywhere.c_str(), event.name.c_str(), FNM_CASEFOLD) == 0 ||
	       ::fnmatch(anywhere.c_str(), event.what.c_str(), FNM_CASEFOLD) == 0;
}

std::vector<ListedEvent> all_events(const Machine &machine)
{
	std::vector<ListedEvent> all;
	const auto add = [&](const std::string &name, const std::string &kind, const std::string &what) {
		ListedEvent &event = all.emplace_back();
		event.name = name;
		event.kind = kind;
		event.what = what;
	};
	for (const GenericEvent &event : generic_events())
		add(event.name, kind_of(event.type), event.what);
	for (const std::string &pmu : sysfs_pmus(machine.devices))
		for (const std::string &event : sysfs_events(machine.devices, pmu))
			add(fmt::format("{}/{}/", pmu, event), pmu, "as the kernel names it");
	for (const PfmEvent &event : pfm_events())
		add(event.name, event.pmu, event.what);
	return all;
}

void look_up(ListedEvent &listed, bool is_to_be_tried, const Machine &machine)
{
	try {
		const Event event = resolve(listed.name, machine);
		listed.attributes = event.attributes;
		listed.is_encoded = event.missing.empty();
		listed.is_tried = is_to_be_tried || !event.missing.empty();
		if (listed.is_tried)
			listed.missing = why_not({event}, machine);
	} catch (const Error &error) { // a term that needs a value, a unit mask that is invalid alone
		listed.is_tried = true;
		listed.missing = error.what();
	}
}

// The event of exactly this name, for names that are in no list.
void add_by_name(std::vector<ListedEvent> &found, const std::string &name, const Machine &machine)
{
	try {
		const Event event = resolve(name, machine);
		ListedEvent &listed = found.emplace_back();
		listed.name = name;
		listed.kind = event.pmu == "cpu" ? kind_of(event.attributes.type) : event.pmu;
		listed.what = "as written";
	} catch (const Error &) { // no such event: nothing matches
	}
}

} // namespace

std::vector<ListedEvent> list_events(const std::string &pattern, const Machine &machine)
{
	std::vector<ListedEvent> found = all_events(machine);
	std::erase_if(found, [&](const ListedEvent &event) { return !matches(event, pattern); });
	if (found.empty())
		add_by_name(found, pattern, machine);
	const bool are_few = found.size() <= max_tried;
	for (ListedEvent &event : found)
		look_up(event, are_few || !std::ranges::count(machine.families, event.kind), machine);
	return found;
}

} // namespace monitor::pmu
