// SPDX-License-Identifier: MIT
// The relation of two clocks as lines with proven bounds, from samples of it.
//
// What arrives was sent before: a message to the other clock proves that its time was at least that late, one from it
// that it was at most that late. In each window of time these are points below and above the relation; only some lines
// pass between their two convex hulls, and the lowest and the highest of them bound the relation. collection.h writes
// the result, ClockMap (reading/events/clock_map.h) applies it.
//
// Assumed, and stated with the result: the rate differs from the nominal one by at most max_rate_ppb, and changes by at
// most rho_ppb in a second, except where a clock steps. Then at a distance of d seconds the relation is off its tangent
// by at most rho d^2 / 2 nanoseconds: the points are moved apart by that before lines are sought. A window that
// contains a step has no line: it is infeasible, and the bound there is unknown. A step smaller than what the delays of
// the messages leave open cannot be detected.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "reading/events/clock_map.h"

namespace monitor::collection {

// When the clock showed `ticks`, the reference showed at most, or at least, `ns` since the epoch.
struct ClockSample {
	std::uint64_t ticks = 0;
	std::int64_t ns = 0;
};

struct ClockSamples {
	std::vector<ClockSample> at_most, at_least; // unordered
};

struct LineOptions {
	static constexpr std::uint64_t default_rho_ppb = 2000;

	std::uint64_t frequency_hz = 1'000'000'000;
	std::uint64_t rho_ppb = default_rho_ppb; // in ns/s per s
	std::uint64_t widen_ns = 0;              // reading error of both clocks together
	// The times to cover, in ticks: outside of the samples the bound grows with the distance.
	std::optional<std::pair<std::uint64_t, std::uint64_t>> cover;
};

struct ClockLines {
	std::vector<trace::ClockNode> nodes;        // empty: nothing is known
	std::vector<trace::ClockBoundNs> bounds_ns; // before the first node, between nodes, after the last
	std::uint64_t rho_ppb = 0;                  // used for the bounds: raised if the samples require it
	std::uint64_t min_rho_ppb = 0; // required by the samples: with less, fewer windows would have a line
	std::uint64_t windows = 0, infeasible = 0; // between nodes; those without a line
	// The largest error of the trace's clock that was added; empty: none, as the trace does not have it. Then the
	// number of windows with times of the trace that no clock snapshots enclose: their bound is unknown.
	std::optional<std::uint64_t> own_ns;
	std::uint64_t not_witnessed = 0;

	// Of known bounds; 0 if there are none.
	std::uint64_t min_bound_ns() const;
	std::uint64_t max_bound_ns() const;
	bool has_bound() const { return infeasible + not_witnessed < windows; }
};

inline constexpr double max_rate_ppb = 1e6; // 0.1 %

// Windows have some samples on either side of a node, fewer next to a step; nodes are a second apart, or as far as the
// samples.
ClockLines lines_of(const ClockSamples &samples, const LineOptions &options);

} // namespace monitor::collection
