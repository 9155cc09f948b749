// SPDX-License-Identifier: MIT
#include "reset_events.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "bpf_card.h"
#include "monitor/card.h"

namespace monitor::card {
namespace {

constexpr std::size_t most_events = 64;

ResetEvent parse(const std::string &name)
{
	ResetEvent event;
	event.name = name;
	const std::size_t colon = name.rfind(':');
	const std::string last = colon == std::string::npos ? name : name.substr(colon + 1);
	const std::string first = colon == std::string::npos ? "" : name.substr(0, colon);
	if (first == "user")
		throw Error(
		    fmt::format("--reset-on {}: an event of the user card cannot reset a counter in the kernel; "
				"`monitor report --regions` has the measurements of activities",
				name));
	const bool is_path = first.find_first_of("/.") != std::string::npos;
	if (!is_path && kernel_has_tracepoint(last)) {
		event.tracepoint = last;
		return event;
	}
	if (first.empty())
		throw Error(fmt::format("--reset-on {}: this kernel has no such tracepoint; say one of "
					"/sys/kernel/tracing/events, or PATH:FUNCTION",
					name));
	event.path = first;
	event.symbol = last;
	constexpr std::string_view suffix = "%return";
	event.at_return = last.ends_with(suffix);
	if (event.at_return)
		event.symbol.resize(last.size() - suffix.size());
	if (event.symbol.empty())
		throw Error(fmt::format("--reset-on {}: which function? say PATH:FUNCTION", name));
	return event;
}

} // namespace

std::vector<ResetEvent> parse_reset_events(const std::vector<std::string> &names)
{
	std::vector<ResetEvent> events;
	events.reserve(names.size());
	for (const std::string &name : names)
		events.push_back(parse(name));
	const auto functions = std::stable_partition(events.begin(), events.end(),
						     [](const ResetEvent &event) { return !event.tracepoint.empty(); });
	if (functions - events.begin() > EDC_RESET_TRACEPOINTS || events.size() > most_events)
		throw Error(fmt::format("--reset-on takes {} tracepoints and {} events at the most",
					EDC_RESET_TRACEPOINTS, most_events));
	return events;
}

} // namespace monitor::card
