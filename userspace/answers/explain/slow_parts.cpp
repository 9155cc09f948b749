// SPDX-License-Identifier: MIT
#include "slow_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/report/table.h"
#include "base/escape.h"
#include "base/json.h"
#include "finding.h"

namespace monitor::explain {
namespace {

constexpr double rounding_ns = 1;

using Key = std::pair<std::string, std::string>;
using Times = std::map<Key, double>; // ns

Times times_of(const Profile &profile)
{
	Times times;
	for (const PathPart &part : profile.parts)
		times[key_and_text(part)] += part.share * static_cast<double>(profile.ns);
	return times;
}

double time_of(const Times &times, const Key &key)
{
	const auto found = times.find(key);
	return found == times.end() ? 0 : found->second;
}

std::string duration(std::uint64_t ns)
{
	return report::duration_text(static_cast<double>(ns));
}

// The line that makes the shares sum to 1.
std::string rest_text(const std::vector<SlowPart> &parts)
{
	constexpr double rounds_to_0 = 0.005;
	double rest = 1;
	for (const SlowPart &part : parts)
		rest -= part.share;
	return fmt::format("{:5.0f} %  of the difference{}\n", std::abs(rest) < rounds_to_0 ? 0 : rest * 100,
			   rest <= -rounds_to_0 ? ": other parts took less"
						: " is in parts that are small, or in few of them");
}

} // namespace

std::pair<std::string, std::string> key_and_text(const PathPart &part)
{
	const std::string &who = part.who, &detail = part.detail;
	switch (part.what) {
	case What::user:
		return {"user", "user code of " + who};
	case What::call:
		return {"call", fmt::format("work in {} by {}", detail, who)};
	case What::kernel:
		return {"call", fmt::format("work of the kernel in {}, in no call", who)};
	case What::edges:
		return {"call_edges", "entering and leaving calls and faults of " + who};
	case What::fault:
		return {"fault", "page faults of " + who};
	case What::irq:
		return {"irq", fmt::format("{} while {} ran", detail, who)};
	case What::softirq:
		return {"softirq", fmt::format("{} while {} ran", detail, who)};
	case What::timer:
		return {"timer", fmt::format("{} asleep in {} until a timer", who, detail)};
	case What::disk:
		return {"disk", fmt::format("{} waiting for the disk in {}", who, detail)};
	case What::network:
		return {"network", fmt::format("{} waiting for the network in {}", who, detail)};
	case What::interrupt:
		return {"irq", fmt::format("{} asleep in {}", who, detail)};
	case What::open:
		return {"call", fmt::format("{} asleep in {} at the end", who, detail)};
	case What::stopped:
		return {"call", who + " stopped by a signal"};
	case What::other_process:
	case What::file_lock:
		return {"call", fmt::format("{} waiting in {}", who, detail)};
	case What::ready_own:
		return {"ready_unexplained", who + " ready behind its own threads"};
	case What::ready_others:
		return {"waiting_others", who + " waiting for a CPU that others had"};
	case What::ready_idle:
		return {"wakeup_latency", who + " waking up on an idle CPU"};
	case What::ready_idle_long:
		return {"ready_unexplained", who + " ready beside an idle CPU"};
	case What::throttled:
		return {"throttled", who + " throttled"};
	case What::memory_reclaim:
		return {"memory_reclaim", who + " waiting for memory"};
	case What::unknown:
		break;
	}
	return {"uncertain", fmt::format("{}: {}", who, detail)};
}

std::vector<SlowPart> compare(const std::vector<Profile> &slow, const std::vector<Profile> &ordinary,
			      std::uint64_t median_ns, double threshold)
{
	std::map<Key, std::pair<double, double>> usual; // sum, largest
	for (const Profile &profile : ordinary)
		for (const auto &[key, time] : times_of(profile)) {
			usual[key].first += time;
			usual[key].second = std::max(usual[key].second, time);
		}
	std::vector<Times> all;
	std::map<Key, double> sums;
	double difference = 0;
	for (const Profile &profile : slow) {
		all.push_back(times_of(profile));
		for (const auto &[key, time] : all.back())
			sums[key] += time;
		difference += static_cast<double>(profile.ns) - static_cast<double>(median_ns);
	}
	std::vector<SlowPart> parts;
	for (const auto &[key, sum] : sums) {
		const std::pair<double, double> &ordinary_times = usual[key];
		const double mean =
		    ordinary_times.first / static_cast<double>(std::max<std::size_t>(ordinary.size(), 1));
		std::size_t in = 0;
		for (const Times &times : all)
			in += time_of(times, key) > ordinary_times.second + rounding_ns;
		const double share = difference > 0 ? (sum - mean * static_cast<double>(slow.size())) / difference : 0;
		if (in * 10 >= slow.size() * 6 && share >= threshold)
			parts.push_back({key.first, key.second, share, in});
	}
	std::ranges::stable_sort(parts, std::greater<>(), &SlowPart::share);
	return parts;
}

std::string to_text(const SlowActivities &found, const std::string &directory)
{
	constexpr std::size_t most = 8;
	const bool is_requests = found.of == SlowActivities::Of::requests;
	std::string text =
	    fmt::format("The {} slowest of {} {}{} took {} to {}, the median {}.\n", found.slow,
			report::count_text(found.count), is_requests ? "requests by " : "", printable(found.activity),
			duration(found.slow_low_ns), duration(found.slow_high_ns), duration(found.median_ns));
	for (std::size_t i = 0; i < std::min(most, found.parts.size()); ++i)
		text += fmt::format("{:5.0f} %  {} (in {} of {})\n", found.parts[i].share * 100,
				    printable(found.parts[i].what), found.parts[i].in, found.slow);
	text += found.parts.empty()
		    ? "No part of their time is outside the range of the ordinary ones in most of them: they differ by "
		      "chance, or each for a reason of its own.\n"
		    : rest_text(found.parts);
	const bool is_calls = found.of == SlowActivities::Of::calls;
	std::vector<std::string> more = {"monitor",
					 "report",
					 directory,
					 is_requests ? "requests" : "critical-path",
					 is_requests ? "--key"
					 : is_calls  ? "--call"
						     : "--activity",
					 found.activity};
	std::ranges::copy(found.options, std::back_inserter(more));
	return text + "      " + command_text(more) + "\n";
}

std::string to_json(const SlowActivities &found)
{
	nlohmann::ordered_json json = {
	    {"activity", found.activity},         {"count", found.count},
	    {"median_ns", found.median_ns},       {"slow_low_ns", found.slow_low_ns},
	    {"slow_high_ns", found.slow_high_ns}, {"parts", nlohmann::ordered_json::array()}};
	for (const SlowPart &part : found.parts)
		json["parts"].push_back(
		    {{"key", part.key}, {"what", part.what}, {"share", part.share}, {"in", part.in}});
	return json_dump(json, 1) + "\n";
}

} // namespace monitor::explain
