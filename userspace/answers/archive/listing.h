// SPDX-License-Identifier: MIT
// Lists all measurements below a folder of the archive, from their small JSON files.
// As there is no index, this costs up to four system calls per measurement: several threads read. Invariant: one that
// cannot be read is reported as a problem, and all others are listed.
#pragma once

#include <string>
#include <vector>

#include "entry.h"

namespace monitor::archive {

struct Listing {
	std::vector<Entry> entries;        // by date, then by name; those without a date first
	std::vector<std::string> problems; // messages
};

// `name`: a project, an experiment, a measurement, or "" for all. Throws Error if there is no such folder.
Listing list(const std::string &archive, const std::string &name);

// Reads one measurement. Throws Error: it does not exist, or is damaged.
Entry read_entry(const std::string &archive, const std::string &name);

std::string trace_of(const std::string &archive, const std::string &name);

} // namespace monitor::archive
