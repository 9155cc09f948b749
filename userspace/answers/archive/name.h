// SPDX-License-Identifier: MIT
// Names of what is in an archive: "project/experiment/measurement", with any number of experiments within one another.
// Each level is a folder of that name.
#pragma once

#include <string>
#include <vector>

namespace monitor::archive {

inline constexpr std::size_t max_levels = 8;

// The levels, one or more. Throws Error: a level is empty, too long, begins with a dot, or is no printable UTF-8.
std::vector<std::string> levels_of(const std::string &name);
// Of a measurement: a project and a name at least.
std::vector<std::string> levels_of_measurement(const std::string &name);

// Where the archive is: the option, MONITOR_ARCHIVE, $XDG_DATA_HOME/monitor/archive or ~/.local/share/monitor/archive.
// Throws Error if all of them are missing.
std::string archive_directory(const std::string &option);

} // namespace monitor::archive
