// SPDX-License-Identifier: MIT
// A trigger (record --trigger): what it waits for, and what is done when that happens. Made from text by
// answers/trigger/; used by answers/matcher/, which makes tables of its conditions (include/monitor/trigger.h), and by
// recording/, which acts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "within.h"

namespace monitor {

struct TriggerAct {
	enum class Kind { snapshot, mark, start, stop, sample, read, reset, stack, end, run, signal };

	Kind kind = Kind::mark;
	std::string text;                       // mark; run: the command
	unsigned number = 0;                    // run: how often per minute at most; signal: which
	std::optional<std::uint64_t> before_ns; // snapshot; none: all of the past that there is
	std::uint64_t after_ns = 0;
};

struct NamedTrigger {
	std::string name;
	unsigned kind = 0;                 // EDC_TRIGGER_*
	std::string first, second;         // expressions (FDL)
	std::string first_key, second_key; // numbers that the events have in common; "": none
	std::uint64_t within_ns = 0;       // 0: for ever
	unsigned times = 0;
	std::vector<TriggerAct> acts;
	std::string when, what; // as it was written: what it waits for, and what is done
	std::string where;      // "FILE:LINE"; "": it is of no file

	// As probes compare it; 0: for ever.
	std::uint64_t within_ticks(std::uint64_t frequency_hz) const
	{
		return within_ns ? std::max<std::uint64_t>(ticks_within(within_ns, frequency_hz), 1) : 0;
	}
	// For messages about it.
	std::string title() const { return (where.empty() ? "" : where + ": ") + "trigger " + name; }
	// What is for the reader: the TEXT of mark.
	std::string mark() const
	{
		for (const TriggerAct &act : acts)
			if (act.kind == TriggerAct::Kind::mark)
				return act.text;
		return "";
	}
	bool does(TriggerAct::Kind kind) const
	{
		return std::ranges::any_of(acts, [kind](const TriggerAct &act) { return act.kind == kind; });
	}
	// Whether the recorder has to learn of each firing.
	bool needs_recorder() const
	{
		return std::ranges::any_of(acts, [](const TriggerAct &act) {
			switch (act.kind) {
			case TriggerAct::Kind::mark:
			case TriggerAct::Kind::stop:
			case TriggerAct::Kind::read:
			case TriggerAct::Kind::reset:
			case TriggerAct::Kind::stack:
				return false;
			default:
				return true;
			}
		});
	}
	bool takes_snapshot() const { return does(TriggerAct::Kind::snapshot); }
	bool ends() const { return does(TriggerAct::Kind::end); }
	bool samples() const { return does(TriggerAct::Kind::sample); }
	bool resets() const { return does(TriggerAct::Kind::reset); }
	bool reads() const { return resets() || does(TriggerAct::Kind::read); }
	bool starts() const { return does(TriggerAct::Kind::start); }
	bool stops() const { return does(TriggerAct::Kind::stop); }
};

} // namespace monitor
