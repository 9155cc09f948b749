// SPDX-License-Identifier: MIT
#include "run_clocks.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "clock_exchanges.h"
#include "collection.h"
#include "reading/events/trace.h"

namespace monitor::collection {
namespace {

constexpr int max_depth = 4;

std::vector<std::string> hosts_of(const std::filesystem::path &run)
{
	std::vector<std::string> hosts;
	std::error_code error;
	for (std::filesystem::directory_iterator entry(run, error), end; !error && entry != end;
	     entry.increment(error)) {
		const std::string name = entry->path().filename().string();
		std::error_code unreadable;
		if (name.front() != '.' && entry->is_directory(unreadable))
			hosts.push_back(name);
	}
	if (error)
		throw Error(error.value(), "cannot list " + run.string());
	std::sort(hosts.begin(), hosts.end());
	return hosts;
}

// Of the host's traces; more than one: they are of several boots, whose clocks have nothing in common.
std::set<std::string> boots_of(const std::filesystem::path &host)
{
	std::set<std::string> boots;
	std::error_code error;
	for (std::filesystem::recursive_directory_iterator entry(host, error), end; !error && entry != end;
	     entry.increment(error)) {
		if (entry->path().filename() != "recording.json" || entry.depth() > max_depth)
			continue;
		const auto json = parse_json(read_text(entry->path().string(), max_description_bytes));
		if (json.is_object() && json.contains("boot_id") && json["boot_id"].is_string())
			boots.insert(json["boot_id"].get<std::string>());
	}
	return boots;
}

// Of the host in this boot, "": in any one. A collector that is started again begins another file.
ClockExchanges exchanges_of(const std::filesystem::path &clocks, const std::string &host, const std::string &boot)
{
	ClockExchanges all = read_exchanges((clocks / host).string());
	std::vector<std::string> names;
	for (const auto &entry : std::filesystem::directory_iterator(clocks))
		if (entry.path().filename().string().starts_with(host + "."))
			names.push_back(entry.path().string());
	std::sort(names.begin(), names.end());
	if (!boot.empty() && all.boot != boot)
		all.all.clear();
	for (const std::string &name : names) {
		ClockExchanges more = read_exchanges(name);
		if (more.host != host || more.boot != (boot.empty() ? all.boot : boot))
			continue;
		if (all.all.empty())
			all = std::move(more);
		else if (more.is_tsc == all.is_tsc)
			all.all.insert(all.all.end(), more.all.begin(), more.all.end());
	}
	return all;
}

// The times that the lines have to cover; none if nothing can be read yet, or traces differ in their clocks.
std::optional<std::pair<std::uint64_t, std::uint64_t>> times_of(const std::string &directory)
{
	try {
		const trace::Trace trace = trace::Trace::open(directory);
		const bool has_one_clock = std::none_of(trace.streams().begin(), trace.streams().end(),
							[](const auto &stream) { return stream->maps_time(); });
		if (!trace.is_empty() && has_one_clock)
			return std::pair(trace.begin_time(), trace.end_time());
	} catch (const Error &) {
		// the host's blocks have not come, or are damaged: reading the run tells
	}
	return std::nullopt;
}

HostClock clock_of(const std::filesystem::path &run, const std::string &host)
{
	HostClock made;
	made.host = host;
	try {
		const std::set<std::string> boots = boots_of(run / host);
		if (boots.size() > 1) {
			made.why_none = "its traces are of several boots";
			return made;
		}
		const ClockExchanges exchanges =
		    exchanges_of(run / ".monitor" / "clocks", host, boots.empty() ? "" : *boots.begin());
		made.exchanges = exchanges.all.size();
		made.left_out = exchanges.damaged + exchanges.impossible + exchanges.foreign + exchanges.beyond;
		LineOptions options;
		options.frequency_hz = exchanges.frequency_hz;
		options.cover = times_of((run / host).string());
		made.lines = lines_of(exchanges.facts(), options);
		if (made.lines.nodes.empty())
			made.why_none = exchanges.all.empty() ? "there are no exchanges in the boot that was recorded"
							      : "no line passes through the exchanges: the clock steps";
	} catch (const Error &error) {
		made.why_none = error.what();
	}
	return made;
}

} // namespace

std::vector<HostClock> write_run_clocks(const std::string &run)
{
	std::vector<HostClock> clocks;
	std::vector<Part> parts;
	for (const std::string &host : hosts_of(run)) {
		clocks.push_back(clock_of(run, host));
		const HostClock &clock = clocks.back();
		parts.push_back({host, host, 0, std::nullopt,
				 clock.why_none.empty() ? fmt::format("exchanges ({})", clock.exchanges)
							: "unknown: " + clock.why_none});
		if (clock.why_none.empty())
			parts.back().clock = clock.lines;
	}
	const std::filesystem::path own = std::filesystem::path(run) / ".monitor";
	std::error_code error;
	std::filesystem::create_directories(own, error);
	if (error)
		throw Error(error.value(), "cannot create " + own.string());
	replace_file((own / "collection.json").string(), parts_json(parts), 0644);
	return clocks;
}

} // namespace monitor::collection
