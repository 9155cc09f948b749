// SPDX-License-Identifier: MIT
#include "host_times.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace monitor::requests {
namespace {

constexpr std::uint64_t rate_parts = 1000; // a rate differs from the reference's by less than 1/1000
constexpr std::uint64_t rounding_ns = 8;   // of four times, and of the division

// A step from one host to another.
struct Crossing {
	const KeyedEvent *from, *to;
	Elapsed time;
};

struct Steps {
	std::vector<Crossing> there, back; // from the host of the lower number, and to it
	Elapsed within{0, 0, true};
	bool is_order_known = true;
};

void add(Elapsed &sum, const Elapsed &more)
{
	if (__builtin_add_overflow(sum.ns, more.ns, &sum.ns))
		sum.bound_ns.reset();
	std::uint64_t bound = 0;
	const bool is_known =
	    sum.bound_ns && more.bound_ns && !__builtin_add_overflow(*sum.bound_ns, *more.bound_ns, &bound);
	sum.bound_ns = is_known ? trace::ClockBoundNs(bound) : std::nullopt;
	sum.is_exact = sum.is_exact && more.is_exact;
}

// The round trip, limited by how much the two clocks may drift in between, or by the bounds. The difference of two
// rates is at most twice that of each from the reference's.
Elapsed round_trip(const Crossing &there, const Crossing &back, const PathMaker &maker)
{
	Elapsed direct = there.time;
	add(direct, back.time);
	const Elapsed here = maker.elapsed(*there.from, *back.to), away = maker.elapsed(*there.to, *back.from);
	const auto size = [](std::int64_t ns) { return ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : ns + 0ull; };
	std::int64_t ns = 0;
	if (__builtin_sub_overflow(here.ns, away.ns, &ns))
		return direct;
	const std::uint64_t by_rates =
	    (std::min(size(here.ns), size(away.ns)) / rate_parts + size(ns) / rate_parts / 2) * 2 + rounding_ns;
	return direct.bound_ns && *direct.bound_ns <= by_rates ? direct : Elapsed{ns, by_rates, false};
}

Elapsed between(const Steps &steps, const PathMaker &maker)
{
	Elapsed sum{0, 0, false};
	const std::size_t trips = std::min(steps.there.size(), steps.back.size());
	for (std::size_t i = 0; i < trips; ++i)
		add(sum, round_trip(steps.there[i], steps.back[i], maker));
	for (const auto *way : {&steps.there, &steps.back})
		for (std::size_t i = trips; i < way->size(); ++i)
			add(sum, (*way)[i].time);
	return sum;
}

} // namespace

std::vector<HostTime> host_times(const Path &path, const PathMaker &maker)
{
	std::map<std::pair<std::uint32_t, std::uint32_t>, Steps> steps;
	for (std::size_t i = 0; i < path.steps.size(); ++i) {
		const KeyedEvent &from = path.events[i], &to = path.events[i + 1];
		const std::uint32_t first = maker.machine_of(from), second = maker.machine_of(to);
		Steps &pair_steps = steps[std::minmax(first, second)];
		pair_steps.is_order_known = pair_steps.is_order_known && path.steps[i].is_order_known;
		if (first == second)
			add(pair_steps.within, path.steps[i].time);
		else
			(first < second ? pair_steps.there : pair_steps.back)
			    .push_back({&from, &to, path.steps[i].time});
	}
	std::vector<HostTime> times;
	for (const auto &[hosts, pair_steps] : steps) {
		const bool is_within = hosts.first == hosts.second;
		times.push_back({hosts.first, hosts.second, is_within ? pair_steps.within : between(pair_steps, maker),
				 pair_steps.is_order_known});
	}
	return times;
}

} // namespace monitor::requests
