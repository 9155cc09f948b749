// SPDX-License-Identifier: MIT
#include "fleet_triggers.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "answers/report/table.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "problems.h"
#include "reading/events/clock_map.h"
#include "reading/events/collection_clocks.h"

namespace monitor {
namespace {

using fleet_operator::CoordinatedSnapshot;
using HostClocks = std::map<std::string, std::shared_ptr<const trace::ClockMap>>;

// Without hosts whose clocks cannot be related to the run's.
HostClocks host_clocks(const std::string &run)
{
	HostClocks clocks;
	std::vector<std::string> ignored; // problems are reported when the run is read
	for (auto &[host, part] : trace::read_collection(run, ignored)) {
		if (!part.has_lines || part.nodes.size() < 2 || part.nodes.back().ns <= part.nodes.front().ns)
			continue;
		const auto ticks = static_cast<double>(part.nodes.back().ticks - part.nodes.front().ticks),
			   ns = static_cast<double>(part.nodes.back().ns - part.nodes.front().ns);
		const char *why = nullptr;
		const auto frequency_hz = static_cast<std::uint64_t>(ticks / ns * 1e9);
		if (auto map = trace::ClockMap::make(std::move(part.nodes), std::move(part.bounds), frequency_hz, why))
			clocks.emplace(host, std::move(map));
	}
	return clocks;
}

struct RunTime {
	std::uint64_t ns = 0, bound_ns = 0;
};

std::optional<RunTime> run_time(const HostClocks &clocks, const std::string &host, std::uint64_t ticks)
{
	const auto clock = clocks.find(host);
	if (clock == clocks.end())
		return {};
	const std::uint64_t ns = clock->second->map(ticks);
	const auto bound = clock->second->bound_at(ns);
	if (!bound)
		return {};
	return RunTime{ns, *bound};
}

struct ProvenFreeze {
	std::string host;
	std::int64_t ns = 0; // after the trigger
	std::uint64_t bound_ns = 0;
};

// The last host's freeze; none if a host's clock is unknown.
std::optional<ProvenFreeze> last_freeze(const HostClocks &clocks, const CoordinatedSnapshot &trigger)
{
	std::optional<ProvenFreeze> last;
	const auto fired = trigger.fired ? run_time(clocks, trigger.host, trigger.fired->news.time) : std::nullopt;
	for (const auto &[host, host_report] : trigger.froze) {
		const auto froze = run_time(clocks, host, host_report.news.frozen_time);
		if (!fired || !froze)
			return {};
		if (const auto ns = static_cast<std::int64_t>(froze->ns - fired->ns); !last || ns > last->ns)
			last = ProvenFreeze{host, ns, froze->bound_ns + fired->bound_ns};
	}
	return last;
}

} // namespace

void write_fleet_triggers(const std::string &run, const std::vector<CoordinatedSnapshot> &triggers)
{
	const HostClocks clocks = host_clocks(run);
	auto all = nlohmann::ordered_json::array();
	for (const CoordinatedSnapshot &trigger : triggers) {
		nlohmann::ordered_json &json = all.emplace_back(fleet_operator::coordinated_json(trigger));
		const auto last = last_freeze(clocks, trigger);
		json["last_frozen_ns"] = last ? nlohmann::ordered_json(last->ns) : nlohmann::ordered_json();
		json["bound_ns"] = last ? nlohmann::ordered_json(last->bound_ns) : nlohmann::ordered_json();
		if (last)
			print_note("monitor: snapshot {} of {} by a trigger: the last host, {}, froze {} after it by "
				   "the clock of the run, off by {} at most\n",
				   fleet::snapshot_name(trigger.number), trigger.host, last->host,
				   report::duration_text(static_cast<double>(last->ns)),
				   report::duration_text(static_cast<double>(last->bound_ns)));
	}
	replace_file(run + "/.monitor/triggers.json", json_dump(all, 1) + "\n", 0600);
}

} // namespace monitor
