// SPDX-License-Identifier: MIT
// The metadata of a measurement, without opening its trace: measurement.json; and of a project: project.json.
// They come from the recording itself. Untrusted: the files may have been edited, or copied in part. Invariant: what
// the trace does not say is an empty optional or text, never a guess.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reading/events/trace.h"

namespace monitor::archive {

inline constexpr int format_version = 1; // of these files

struct Entry {
	std::string name; // "project/experiment/measurement", from the folders
	std::string note, added;
	std::string date, user, host, kernel, command;        // of the recording; "": unknown
	bool complete = false;                                // false: it was killed, or is another tracer's
	std::optional<double> elapsed_ns;                     // duration of the recording
	std::optional<std::uint64_t> tokens, lost, bytes;     // lost: also unknown if parts of the trace are damaged
	std::map<std::string, std::optional<double>> figures; // computed ones; empty: this trace lacks it
};

// From a trace, without name and figures; reads all of it, as only that shows damage. Long texts end with `...`.
Entry entry_of(trace::Trace &trace);

std::string to_json(const Entry &entry);
// Null: the text is damaged.
std::unique_ptr<Entry> parse_entry(const std::string &untrusted_json);

// Longer notes could not be read again. Throws Error.
inline constexpr std::size_t max_note_bytes = 4096;
void check_note_size(const std::string &note);

// Change a measurement's file, and keep the rest of it. Throw Error.
void set_note(const std::string &folder, const std::string &note);
void store_figures(const std::string &folder, const std::map<std::string, std::optional<double>> &figures);

// Seconds since 1970 of a recording's date, "2026-11-26T03:45:08+0100"; nullopt: not a date.
std::optional<std::int64_t> seconds_of(const std::string &date);

// A project or an experiment; without a file both members are empty.
struct Group {
	std::string note;
	std::vector<std::string> figures;
};

// Throws Error if the file is damaged.
Group read_group(const std::string &folder, const char *file);
void write_group(const std::string &folder, const char *file, const Group &group);

} // namespace monitor::archive
