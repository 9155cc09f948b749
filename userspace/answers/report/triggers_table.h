// SPDX-License-Identifier: MIT
// When triggers fired, and why: a row for each firing.
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
	std::string thread; // its name; "": unknown
	std::string cause;  // the event as text; "": unknown
	bool has_key = false;
	std::string mark; // the TEXT of its mark
	std::optional<std::uint64_t>
	    spread; // ticks from the first CPU's part of the sample that it took to the last one's
};

// "sys_enter id=fsync abi=x86_64"
std::string event_text(const trace::Event &event);

Table triggers_table(const std::vector<FiringRow> &rows, const trace::Trace &trace);
// Lines: what each trigger waits for and does, how often it fired, and how soon the recorder knew.
std::string triggers_notes(const analyze::RecordingInfo &info);
// An array of the same.
std::string triggers_json(const analyze::RecordingInfo &info);

} // namespace monitor::report
