// SPDX-License-Identifier: MIT
#include "run_clocks.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "clock_exchanges.h"
#include "collection.h"
#include "reading/events/trace.h"

namespace monitor::collection {
namespace {

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

// The times that the lines have to cover; none if nothing can be read yet.
std::optional<std::pair<std::uint64_t, std::uint64_t>> times_of(const std::string &directory)
{
	try {
		const trace::Trace trace = trace::Trace::open(directory);
		if (!trace.is_empty())
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
		const ClockExchanges exchanges = read_exchanges((run / ".monitor" / "clocks" / host).string());
		made.exchanges = exchanges.all.size();
		made.left_out = exchanges.damaged + exchanges.impossible + exchanges.foreign + exchanges.beyond;
		LineOptions options;
		options.frequency_hz = exchanges.frequency_hz;
		options.cover = times_of((run / host).string());
		made.lines = lines_of(exchanges.facts(), options);
		if (made.lines.nodes.empty())
			made.why_none = exchanges.all.empty() ? "there are no exchanges"
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
