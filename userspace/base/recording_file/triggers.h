// SPDX-License-Identifier: MIT
// Results of record --trigger (`triggers`, `pauses`).
#pragma once

#include "fields.h"

namespace monitor::recording_file {

// Commands run and signals sent by a trigger. A member without a value: not an action of the trigger.
struct ActCounts {
	// runs_left_out: because one was running, or too many in a minute; running: not ended yet
	std::optional<std::uint64_t> runs, runs_failed, running, runs_left_out, signals, signals_refused;
};

// Of one trigger; in a snapshot as of its end.
struct TriggerInfo : ActCounts {
	std::string name, when, what;
	std::string key;                                        // expression that pairs its events; "": none
	std::string mark;                                       // the TEXT of its mark
	std::optional<std::uint64_t> fired, delivered;          // delivered: the recorder was notified in time
	std::uint64_t by_programs = 0;                          // of these, by events of programs
	std::optional<std::uint64_t> samples, samples_left_out; // of all CPUs
	std::optional<std::uint64_t> reaction_median_ns, reaction_p99_ns, reaction_max_ns;

	void fields(auto &v)
	{
		v("name", name, "when", when, "do", what, "key", key, "fired", fired);
		v.if_set("mark", mark, "by_programs", by_programs);
		v("told", delivered);
		v.group("samples", [&](auto &group) { group("taken", samples, "left_out", samples_left_out); });
		v.group("runs", [&](auto &group) {
			group("started", runs, "failed", runs_failed, "running", running, "left_out", runs_left_out);
		});
		v.group("signals", [&](auto &group) { group("sent", signals, "refused", signals_refused); });
		v.group("reaction_ns", [&](auto &group) {
			group("median", reaction_median_ns, "p99", reaction_p99_ns, "max", reaction_max_ns);
		});
	}
};

// Pauses of storing by triggers.
struct Pauses {
	std::uint64_t number = 0, ticks = 0; // of those that ended

	void fields(auto &v) { v("number", number, "ticks", ticks); }
};

} // namespace monitor::recording_file
