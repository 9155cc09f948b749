// SPDX-License-Identifier: MIT
// The figures of `monitor serve`: changes of a window (window.cpp), and their sums since the start (metrics.cpp). Times
// in seconds.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "answers/live/machine_totals.h"
#include "latency.h"
#include "reading/analyze/recorded.h"
#include "top_series.h"

namespace monitor::metrics {

// What a row is of.
struct Owner {
	std::string cgroup, command;

	auto operator<=>(const Owner &) const = default;
};

struct OwnerCall {
	Owner owner;
	std::string call;

	auto operator<=>(const OwnerCall &) const = default;
};

struct RowFigures {
	std::array<double, analyze::modes> cpu{};
	double waiting = 0, throttled = 0, blocked = 0;
	std::uint64_t voluntary = 0, involuntary = 0, migrations = 0, calls = 0, minor_faults = 0, major_faults = 0;
	Latency run_queue;

	RowFigures &operator+=(const RowFigures &other);
};

struct CallFigures {
	Latency latency;
	std::uint64_t failed = 0;

	CallFigures &operator+=(const CallFigures &other)
	{
		latency += other.latency;
		failed += other.failed;
		return *this;
	}
};

// Of all CPUs.
struct MachineFigures {
	std::array<double, analyze::modes> cpu{};
	double idle = 0;
	std::uint64_t switches = 0, idle_switches = 0; // the latter: away from the idle thread
	std::uint64_t wakings = 0, migrations = 0, calls = 0, minor_faults = 0, major_faults = 0, events = 0;
	std::map<std::string, std::uint64_t> interrupts; // by class

	void add(const live::MachineTotals &totals, double seconds_per_tick);
};

using Rows = TopSeries<Owner, RowFigures>;
using Calls = TopSeries<OwnerCall, CallFigures>;

// Totals since the start. Unknown figures are absent.
struct Figures {
	analyze::Recorded recorded;
	std::string kernel, card;
	bool is_filtering = false;     // -p
	double start_s = 0, end_s = 0; // since the epoch: start of the first window, end of the last complete one
	std::uint64_t windows = 0;
	double covered_s = 0, incomplete_s = 0; // the latter: windows in which events were lost
	std::size_t cpus = 0, other_recorders = 0;
	live::MachineTotals now; // of the last window
	MachineFigures machine;
	std::map<Owner, Rows::Series> rows;
	RowFigures other, idle, unknown, unselected, retired;
	std::map<OwnerCall, Calls::Series> calls;
	CallFigures other_calls;
	std::uint64_t retired_rows = 0, retired_calls = 0;
	double recorder_s = 0;
	std::optional<double> probes_low_s, probes_high_s;
	std::uint64_t late = 0; // events that came too late to be counted
};

} // namespace monitor::metrics
