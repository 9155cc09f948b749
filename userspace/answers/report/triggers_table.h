// SPDX-License-Identifier: MIT
// When triggers fired, and why: a row per firing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/trigger/rehearsal.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "table.h"

namespace monitor::report {

// A firing, and the event that caused it.
struct FiringRow {
	trigger::Fired fired;
	std::string name;   // of the trigger
	std::string thread; // thread name; "": unknown
	std::string cause;  // the event as text; "": unknown
	bool has_key = false;
	std::string mark; // the TEXT of its action `mark`
	std::optional<std::uint64_t>
	    spread; // ticks from the first CPU's part of the sample that it took to the last one's
};

// "sys_enter id=fsync abi=x86_64"
std::string event_text(const trace::Event &event);

Table triggers_table(const std::vector<FiringRow> &rows, const trace::Trace &trace);
// Lines: each trigger's condition and actions, how often it fired, and the delay until the recorder noticed.
std::string triggers_notes(const analyze::RecordingInfo &info);
// The same as an array.
std::string triggers_json(const analyze::RecordingInfo &info);

} // namespace monitor::report
