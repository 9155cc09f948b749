// SPDX-License-Identifier: MIT
#include "run_clocks.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "answers/collection/collection.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/recording_file/contents.h"
#include "clock_exchanges.h"
#include "trace_clock_error.h"

namespace monitor::fleet {
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

// The boots in which the host's traces were recorded; clocks of different boots are unrelated.
std::set<std::string> boots_of(const std::filesystem::path &host)
{
	std::set<std::string> boots;
	std::error_code error;
	for (std::filesystem::recursive_directory_iterator entry(host, error), end; !error && entry != end;
	     entry.increment(error)) {
		if (entry->path().filename() != "recording.json" || entry.depth() > max_depth)
			continue;
		const auto recorded =
		    recording_file::parse(read_text(entry->path().string(), max_description_file_bytes));
		if (recorded && !recorded->boot_id.empty())
			boots.insert(recorded->boot_id);
	}
	return boots;
}

// The host's exchanges in this boot; "": in any one. A restarted collector starts another file.
ClockExchanges exchanges_of(const std::filesystem::path &clocks, const std::string &host, const std::string &boot)
{
	ClockExchanges found = read_exchanges((clocks / host).string());
	std::vector<std::string> names;
	for (const auto &entry : std::filesystem::directory_iterator(clocks))
		if (entry.path().filename().string().starts_with(host + "."))
			names.push_back(entry.path().string());
	std::sort(names.begin(), names.end());
	if (!boot.empty() && found.boot != boot)
		found.all.clear();
	for (const std::string &name : names) {
		ClockExchanges more = read_exchanges(name);
		if (more.host != host || more.boot != (boot.empty() ? found.boot : boot))
			continue;
		if (found.all.empty())
			found = std::move(more);
		else if (more.is_tsc == found.is_tsc)
			found.all.insert(found.all.end(), more.all.begin(), more.all.end());
	}
	return found;
}

// The clock errors of all traces of a host. Further traces, and snapshots, are in subdirectories.
std::vector<TraceClockError> clock_errors_of(const std::filesystem::path &host)
{
	std::vector<TraceClockError> errors;
	const auto add = [&](const std::filesystem::path &metadata) {
		std::error_code unreadable;
		if (std::filesystem::is_regular_file(metadata, unreadable))
			if (auto found = trace_clock_error_of(metadata.parent_path().string()))
				errors.push_back(std::move(*found));
	};
	add(host / "metadata");
	std::error_code listing;
	for (std::filesystem::recursive_directory_iterator entry(host, listing), end; !listing && entry != end;
	     entry.increment(listing)) {
		if (entry.depth() >= max_depth || entry->path().filename().string().front() == '.')
			entry.disable_recursion_pending();
		else
			add(entry->path() / "metadata");
	}
	return errors;
}

// The times that the lines must cover; nullopt if nothing can be read yet.
std::optional<std::pair<std::uint64_t, std::uint64_t>> times_of(const std::vector<TraceClockError> &errors)
{
	if (errors.empty())
		return std::nullopt;
	std::pair times(errors.front().begin, errors.front().end);
	for (const TraceClockError &each : errors)
		times = {std::min(times.first, each.begin), std::max(times.second, each.end)};
	return times;
}

HostClockLines clock_of(const std::filesystem::path &run, const std::string &host)
{
	HostClockLines made;
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
		const std::vector<TraceClockError> clock_errors = clock_errors_of(run / host);
		collection::LineOptions options;
		options.frequency_hz = exchanges.frequency_hz;
		options.cover = times_of(clock_errors);
		for (const TraceClockError &each : clock_errors) // exchanges may read the clock of any CPU
			options.widen_ns = std::max(options.widen_ns, each.skew_ns());
		made.lines = collection::lines_of(exchanges.samples(), options);
		add_clock_errors(made.lines, clock_errors);
		if (made.lines.nodes.empty())
			made.why_none = exchanges.all.empty() ? "there are no exchanges in the boot that was recorded"
							      : "no line passes through the exchanges: the clock steps";
	} catch (const Error &error) {
		made.why_none = error.what();
	}
	return made;
}

} // namespace

std::string boot_of(const std::string &run, const std::string &host)
{
	try {
		const std::set<std::string> boots = boots_of(std::filesystem::path(run) / host);
		if (boots.size() == 1)
			return *boots.begin();
		const auto clocks = std::filesystem::path(run) / ".monitor" / "clocks";
		return boots.empty() ? exchanges_of(clocks, host, "").boot : "";
	} catch (const Error &) { // no exchanges
		return "";
	}
}

std::vector<HostClockLines> write_run_clocks(const std::string &run)
{
	std::vector<HostClockLines> clocks;
	std::vector<collection::Part> parts;
	for (const std::string &host : hosts_of(run)) {
		clocks.push_back(clock_of(run, host));
		const HostClockLines &clock = clocks.back();
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
	replace_file((own / "collection.json").string(), collection::parts_json(parts), 0644);
	return clocks;
}

} // namespace monitor::fleet
