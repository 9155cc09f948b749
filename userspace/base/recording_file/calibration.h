// SPDX-License-Identifier: MIT
// What events cost (`calibration`, `judgements`): measured at the start, at the end, and while the command ran.
#pragma once

#include <algorithm>
#include <cmath>

#include "fields.h"

namespace monitor::recording_file {

inline constexpr std::uint64_t min_rounds = 21, min_rounds_of_check = 5;
inline constexpr double max_difference = 0.05; // relative difference of two measurements, up to which they are used

// ns per event: median of `rounds`, and quartiles; off_difference: how far apart the work without probes before and
// after is, each the median of the rounds, relative to their mean. The error of a single round shows in the quartiles.
struct CalibratedCost {
	double low = 0, median = 0, high = 0, off_difference = 0;
	std::uint64_t rounds = 0; // 0: not measured

	void fields(auto &v)
	{
		v("low", low, "median", median, "high", high, "off_difference", off_difference, "rounds", rounds);
	}
};

// Two measurements of one cost: their quartiles overlap, or their medians are nearly the same.
inline bool agree(const CalibratedCost &one, const CalibratedCost &other, double max_difference_of_medians)
{
	return (one.low <= other.high && other.low <= one.high) ||
	       std::abs(one.median - other.median) <= max_difference_of_medians * (one.median + other.median) / 2;
}

using CalibratedCosts = std::map<std::string, CalibratedCost>; // by family, `rejected`, `reset`

// What was not measured is assumed to cost as much as the most expensive family; 0: nothing was.
inline double median_in_loops(const CalibratedCosts &costs, const std::string &what)
{
	if (const auto found = costs.find(what); found != costs.end())
		return found->second.median;
	double most = 0;
	for (const char *family : {"syscall", "sched", "fault"})
		if (const auto found = costs.find(family); found != costs.end())
			most = std::max(most, found->second.median);
	return most;
}

// record --calibrate: measured in phases without probes while the command ran. In ns per event of the command, with a
// 90 % interval.
struct PhaseCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;                     // "": the above is known
	std::uint64_t used = 0;                      // phases in the estimate
	std::uint64_t number = 0, ticks = 0;         // of all phases, which are gaps in the trace
	std::uint64_t marks = 0;                     // in the streams of CPUs, each counted as a discarded token
	std::map<std::string, std::uint64_t> events; // by family: the events whose cost this is
	double detach_ms = 0, attach_ms = 0;         // the longest
	std::string progress;                        // by which counter of the kernel progress was measured

	bool is_known() const { return why_unknown.empty(); }

	void fields(auto &v)
	{
		v("number", number, "ticks", ticks, "marks", marks, "used", used, "detach_ms", detach_ms, "attach_ms",
		  attach_ms, "events", events);
		v.if_set("why_unknown", why_unknown);
		if (!v.reads && !is_known())
			return;
		v("progress", progress, "low", low, "median", median, "high", high);
	}
};

// Factor by which an event costs more in other code than in a loop.
struct CodeFactor {
	double low = 0, high = 0;

	void fields(auto &v) { v("low", low, "high", high); }
};

// By family; `other`: all that are not named. As `monitor doctor --calibrate` measured them on the recording machine.
using CodeFactors = std::map<std::string, CodeFactor>;

inline constexpr double max_factor = 1000;

// The file may be damaged or foreign.
inline bool are_possible(const CodeFactors &factors)
{
	return factors.contains("other") && std::all_of(factors.begin(), factors.end(), [](const auto &entry) {
		       const auto &[low, high] = entry.second;
		       return low > 0 && low <= high && high <= max_factor;
	       });
}

// `start` was measured by an earlier recording of this boot; `end`, of few rounds, checks it.
struct KeptCosts {
	std::uint64_t age_s = 0;
	bool checked_at_start = false;

	void fields(auto &v) { v("age_s", age_s, "checked_at_start", checked_at_start); }
};

struct Calibration {
	CalibratedCosts start;              // empty: the check at the end contradicted the kept costs
	std::optional<CalibratedCosts> end; // empty: the end could not be calibrated
	std::string why_no_end;
	std::optional<KeptCosts> kept;
	std::optional<PhaseCost> phases;
	CodeFactors factors; // empty: not measured

	void fields(auto &v)
	{
		v("start", start, "kept", kept);
		v.or_why_not("end", end, why_no_end);
		v("phases", phases);
		v.if_set("factors", factors);
	}
};

// What --filter and --count add to the probe of a class.
struct Judgement {
	unsigned id = 0;
	double ns = 0;

	void fields(auto &v) { v("id", id, "ns", ns); }
};

} // namespace monitor::recording_file
