// SPDX-License-Identifier: MIT
#include "reset_events.h"

#include <algorithm>
#include <filesystem>

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "base/error.h"
#include "bpf_card.h"
#include "kernel_features.h"
#include "monitor/card.h"

namespace monitor::card {
namespace {

constexpr std::size_t max_events = 64;

// Not checked if tracefs is not readable.
bool has_category(const std::string &category, const std::string &tracepoint)
{
	std::error_code none;
	for (const std::filesystem::path events : {"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"})
		if (std::filesystem::exists(events, none))
			return std::filesystem::exists(events / category / tracepoint, none);
	return category.find_first_of("/.") == std::string::npos;
}

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
				"`monitor report DIR activities` has the measurements of activities",
				name));
	if (name.empty())
		throw Error("--reset-on: one of the events is empty");
	const bool is_tracepoint = kernel_has_tracepoint(last) && (first.empty() || has_category(first, last));
	if (is_tracepoint && last == "sched_switch")
		throw Error("--reset-on sched_switch: the counters are read at every switch anyway; `monitor report "
			    "DIR ratios` shows what was counted between them");
	if (is_tracepoint) {
		event.tracepoint = last;
		return event;
	}
	if (first.empty())
		throw Error(fmt::format("--reset-on {}: this kernel has no such tracepoint; use one of "
					"/sys/kernel/tracing/events, or PATH:FUNCTION",
					name));
	event.path = first;
	event.symbol = last;
	constexpr std::string_view suffix = "%return";
	event.at_return = last.ends_with(suffix);
	if (event.at_return)
		event.symbol.resize(last.size() - suffix.size());
	if (event.symbol.empty())
		throw Error(fmt::format("--reset-on {}: the function is missing; use PATH:FUNCTION", name));
	return event;
}

} // namespace

std::vector<ResetEvent> parse_reset_events(const std::vector<std::string> &names)
{
	std::vector<ResetEvent> events;
	events.reserve(names.size());
	for (const std::string &name : names) {
		if (std::ranges::count(names, name) > 1)
			throw Error(fmt::format("--reset-on {}: the event appears twice", name));
		events.push_back(parse(name));
	}
	const auto functions = std::stable_partition(events.begin(), events.end(),
						     [](const ResetEvent &event) { return !event.tracepoint.empty(); });
	if (functions - events.begin() > EDC_RESET_TRACEPOINTS || events.size() > max_events)
		throw Error(fmt::format("--reset-on accepts at most {} tracepoints and {} events",
					EDC_RESET_TRACEPOINTS, max_events));
	return events;
}

std::string reset_program(const ResetEvent &event, std::size_t number)
{
	return event.tracepoint.empty() ? "reset_at_uprobe" : fmt::format("reset_at_tracepoint_{}", number);
}

bpf_link *attach_reset_event(const bpf_program *program, const ResetEvent &event, std::size_t number)
{
	constexpr pid_t every_process = -1;
	if (!event.tracepoint.empty())
		return bpf_program__attach_raw_tracepoint(program, event.tracepoint.c_str());
	bpf_uprobe_opts uprobe{};
	uprobe.sz = sizeof uprobe;
	uprobe.bpf_cookie = number;
	uprobe.retprobe = event.at_return;
	uprobe.func_name = event.symbol.c_str();
	return bpf_program__attach_uprobe_opts(program, every_process, event.path.c_str(), 0, &uprobe);
}

} // namespace monitor::card
