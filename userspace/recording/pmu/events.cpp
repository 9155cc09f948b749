// SPDX-License-Identifier: MIT
#include "events.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/ranges.h"
#include "base/suggestions.h"
#include "generic.h"
#include "pfm.h"
#include "sysfs.h"

namespace monitor::pmu {
namespace {

#if defined(__x86_64__) || defined(__i386__)
constexpr bool has_counter_masks = true;
#else
constexpr bool has_counter_masks = false;
#endif
constexpr std::uint64_t counter_mask = std::uint64_t{0xff} << 24, counter_mask_one = std::uint64_t{1} << 24;

// "cycles:uk" -> "cycles", "uk"; modifiers follow the last colon, or the slash that ends a PMU's terms.
std::string take_modifiers(std::string &name)
{
	const std::size_t last = name.find_last_of(":/");
	if (last == std::string::npos || last + 1 == name.size())
		return {};
	std::string modifiers = name.substr(last + 1);
	if (modifiers.find_first_not_of("ukh") != std::string::npos)
		return {};
	name.erase(name[last] == ':' ? last : last + 1);
	return modifiers;
}

void apply_modifiers(perf_event_attr &attributes, const std::string &modifiers)
{
	if (modifiers.empty())
		return;
	attributes.exclude_user = modifiers.find('u') == std::string::npos;
	attributes.exclude_kernel = modifiers.find('k') == std::string::npos;
	attributes.exclude_hv = modifiers.find('h') == std::string::npos;
}

bool is_raw(const std::string &name)
{
	return name.size() > 1 && name.size() <= 17 && name[0] == 'r' &&
	       name.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
}

std::string counting_pmu(const perf_event_attr &attributes, const Machine &machine)
{
	if (attributes.type == PERF_TYPE_SOFTWARE || attributes.type == PERF_TYPE_TRACEPOINT)
		return "software";
	const std::string pmu = is_of_the_cpu(attributes) ? "cpu" : pmu_of_type(machine.devices, attributes.type);
	return is_core_pmu(pmu) ? "cpu" : pmu;
}

std::optional<Event> generic_or_raw(const std::string &name)
{
	const GenericEvent *known = generic_event(name);
	if (!known && !is_raw(name))
		return {};
	Event event;
	event.attributes.type = known ? known->type : static_cast<std::uint32_t>(PERF_TYPE_RAW);
	event.attributes.config = known ? known->config : std::strtoull(name.c_str() + 1, nullptr, 16);
	event.unit = known ? known->unit : "";
	return event;
}

std::optional<Event> pmu_event(const std::string &name, const Machine &machine)
{
	const std::size_t slash = name.find('/');
	if (slash == std::string::npos || name.back() != '/' || slash + 1 == name.size())
		return {};
	const std::string pmu_name = name.substr(0, slash), terms = name.substr(slash + 1, name.size() - slash - 2);
	const std::string pmu = find_pmu(machine.devices, pmu_name);
	Event event;
	if (pmu.empty() && is_core_pmu(pmu_name)) {
		event.attributes.type = PERF_TYPE_RAW;
		event.missing = no_pmu(machine);
		return event;
	}
	if (pmu.empty()) {
		const auto all = sysfs_pmus(machine.devices);
		throw UnknownEvent(
		    fmt::format("{}: unknown PMU \"{}\"; this machine has: {}.", name, pmu_name, fmt::join(all, ", ")));
	}
	const SysfsEvent found = sysfs_event(machine.devices, pmu, terms);
	event.attributes = found.attributes;
	event.unit = found.unit;
	event.scale = found.scale;
	return event;
}

std::vector<std::string> known_names()
{
	auto names = list_of<std::string>(generic_events(), &GenericEvent::name);
	for (const PfmEvent &event : pfm_events()) {
		names.push_back(event.name.substr(0, event.name.find(':')));
		names.push_back(event.name);
	}
	names.erase(std::unique(names.begin(), names.end()), names.end());
	return names;
}

[[noreturn]] void throw_unknown(const std::string &name, const PfmAnswer &answer, const Machine &machine)
{
	const std::string list = "; `monitor events --pmu` lists the events.";
	std::string event = name.substr(0, name.find(':'));
	if (answer.is_event)
		throw UnknownEvent(fmt::format("the event {} does not accept what follows it in \"{}\"{}{}", event,
					       name, list, suggestions(name, known_names())));
	const std::string of = machine.families.empty() ? " (libpfm4 has no events for this CPU)" : "";
	throw UnknownEvent(fmt::format("unknown event \"{}\"{}{}{}", name, of, list, suggestions(name, known_names())));
}

bool is_clock(const perf_event_attr &attributes, const std::string &unit)
{
	const bool is_cycles =
	    attributes.type == PERF_TYPE_HARDWARE &&
	    (attributes.config == PERF_COUNT_HW_CPU_CYCLES || attributes.config == PERF_COUNT_HW_BUS_CYCLES ||
	     attributes.config == PERF_COUNT_HW_REF_CPU_CYCLES ||
	     attributes.config == PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
	     attributes.config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
	return is_cycles || unit == "ns";
}

// The raw event that a generic event stands for, according to the kernel, which names some of them.
Event raw_of(const Event &original, const Machine &machine)
{
	std::string bare = original.name;
	const std::string modifiers = take_modifiers(bare);
	const std::string pmu = find_pmu(machine.devices, "cpu");
	const auto known = sysfs_events(machine.devices, pmu);
	Event event = original;
	if (pmu.empty())
		event.missing = no_pmu(machine);
	else if (std::find(known.begin(), known.end(), bare) == known.end())
		throw Error("busy({}): a generic event has no counter mask; use the CPU's own name for it (monitor "
			    "events --pmu)",
			    original.name);
	else
		event.attributes = resolve(pmu + "/" + bare + "/" + modifiers, machine).attributes;
	return event;
}

} // namespace

Event resolve(const std::string &name, const Machine &machine)
{
	std::string bare = name;
	const std::string modifiers = take_modifiers(bare);
	auto event = generic_or_raw(bare);
	if (!event)
		event = pmu_event(bare, machine);
	if (event) {
		apply_modifiers(event->attributes, modifiers);
	} else {
		const PfmAnswer answer = pfm_encode(name);
		if (!answer.is_known)
			throw_unknown(name, answer, machine);
		event.emplace().attributes = answer.attributes;
	}
	event->name = name;
	event->pmu = counting_pmu(event->attributes, machine);
	return *event;
}

bool is_event(const std::string &word)
{
	std::string bare = word;
	take_modifiers(bare);
	return generic_or_raw(bare) || pfm_encode(word).is_event;
}

std::string why_not(const std::vector<Event> &events, const Machine &machine)
{
	std::vector<perf_event_attr> together;
	for (const Event &event : events) {
		if (!event.missing.empty())
			return event.missing;
		const int alone = machine.probe({event.attributes});
		if (alone != 0)
			return reason(alone, event.attributes, machine);
		together.push_back(event.attributes);
	}
	if (events.size() > 1 && machine.probe(together) != 0)
		return "this CPU cannot count its events at the same time";
	return {};
}

void make_busy(Event &event, const Machine &machine)
{
	if (!event.missing.empty() || is_clock(event.attributes, event.unit) || event.pmu == "msr")
		return;
	const std::string written = event.name;
	if (event.pmu != "cpu")
		throw Error("busy({}): the event is not a clock, and only the CPU's events can be made one", written);
	if (!has_counter_masks)
		throw Error("busy({}): this CPU has no counter masks; use an event that counts cycles", written);
	if (event.attributes.type == PERF_TYPE_HARDWARE || event.attributes.type == PERF_TYPE_HW_CACHE)
		event = raw_of(event, machine);
	if (!(event.attributes.config & counter_mask))
		event.attributes.config |= counter_mask_one;
	event.name = "busy(" + written + ")";
}

} // namespace monitor::pmu
