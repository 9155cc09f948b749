// SPDX-License-Identifier: MIT
// What events cost (`calibration`, `judgements`): measured at the start, at the end, and while the command ran.
#pragma once

#include "fields.h"

namespace monitor::recording_file {

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

using CalibratedCosts = std::map<std::string, CalibratedCost>; // by family, `rejected`, `reset`

// record --calibrate: measured in phases without probes while the command ran. In ns per event of the command, with a
// 90 % interval.
struct PhaseCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;                     // "": the above is known
	std::uint64_t used = 0;                      // phases that they are made of
	std::uint64_t number = 0, ticks = 0;         // of all phases, which are gaps in the trace
	std::uint64_t marks = 0;                     // in the streams of CPUs, each counted as a discarded token
	std::map<std::string, std::uint64_t> events; // by family: those of which it is the cost
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

struct Calibration {
	CalibratedCosts start;
	std::optional<CalibratedCosts> end; // empty: the end could not be calibrated
	std::string why_no_end;
	std::optional<PhaseCost> phases;

	void fields(auto &v)
	{
		v("start", start);
		v.or_why_not("end", end, why_no_end);
		v("phases", phases);
	}
};

// What --filter and --count add to the probe of a class.
struct Judgement {
	unsigned id = 0;
	double ns = 0;

	void fields(auto &v) { v("id", id, "ns", ns); }
};

} // namespace monitor::recording_file
