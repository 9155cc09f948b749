// SPDX-License-Identifier: MIT
// A trigger (record --trigger): its condition and its actions. Parsed by answers/trigger/; answers/matcher/ compiles
// the conditions into tables (include/monitor/trigger.h); recording/ performs the actions.
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
	unsigned number = 0;                    // run: its maximum per minute; signal: the signal's
	std::optional<std::uint64_t> before_ns; // snapshot: how far back; none: as far as there are events
	std::uint64_t after_ns = 0;
};

struct NamedTrigger {
	std::string name;
	unsigned kind = 0;                 // EDC_TRIGGER_*
	std::string first, second;         // expressions (FDL)
	std::string first_key, second_key; // expressions with which the events are paired; "": none
	std::uint64_t within_ns = 0;       // 0: for ever
	unsigned times = 0;
	std::vector<TriggerAct> acts;
	std::string when, what; // condition and actions as written
	std::string where;      // "FILE:LINE"; "": not from a file

	// The limit in the probes' clock ticks; 0: for ever.
	std::uint64_t within_ticks(std::uint64_t frequency_hz) const
	{
		return within_ns ? std::max<std::uint64_t>(ticks_within(within_ns, frequency_hz), 1) : 0;
	}
	// Names the trigger in messages.
	std::string title() const { return (where.empty() ? "" : where + ": ") + "trigger " + name; }
	// The TEXT of the action `mark`, for readers.
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
	// Whether the recorder must be notified of each firing.
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
