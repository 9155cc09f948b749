// SPDX-License-Identifier: MIT
// All measurements below a folder of the archive, read from their small JSON files.
//
// The folders are the truth, there is no index, so what this costs is a system call or four for each measurement: they
// are read by several threads. Invariant: one that cannot be read is a problem with a sentence, and all others are
// there.
#pragma once

#include <string>
#include <vector>

#include "entry.h"

namespace monitor::archive {

struct Listing {
	std::vector<Entry> entries;        // by date, then by name; those without a date first
	std::vector<std::string> problems; // sentences
};

// `name`: a project, an experiment, a measurement, or "" for all. Throws Error if there is no such folder.
Listing list(const std::string &archive, const std::string &name);

// One measurement. Throws Error: there is none, or it is damaged.
Entry read_entry(const std::string &archive, const std::string &name);

std::string trace_of(const std::string &archive, const std::string &name);

} // namespace monitor::archive
