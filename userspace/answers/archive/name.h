// SPDX-License-Identifier: MIT
// Names in an archive: "project/experiment/measurement", with any number of nested experiments. Each level is a folder
// of that name.
#pragma once

#include <string>
#include <vector>

namespace monitor::archive {

inline constexpr std::size_t max_levels = 8;

// The levels, one or more. Throws Error: a level is empty, too long, begins with a dot, or is not printable UTF-8.
std::vector<std::string> levels_of(const std::string &name);
// For a measurement: at least a project and a name.
std::vector<std::string> levels_of_measurement(const std::string &name);

// The archive's directory: the option, MONITOR_ARCHIVE, $XDG_DATA_HOME/monitor/archive or
// ~/.local/share/monitor/archive. Throws Error if all are unset.
std::string archive_directory(const std::string &option);

} // namespace monitor::archive
