// SPDX-License-Identifier: MIT
// The trace directory: created for and owned by the invoking user, mode 0700, never over anything that exists.
// Called by recording.cpp while the effective user is that user, so that the user's own rights apply.
#pragma once

#include <string>
#include <vector>

namespace monitor::record {

// "monitor-20261120-054812-make": date, time and the command's name.
std::string default_directory_name(const std::vector<std::string> &command);

// Creates PATH and PATH/.monitor. An existing path is rejected; with `force` an existing trace or empty directory is
// emptied first, anything else is still rejected. Throws Error.
void make_trace_directory(const std::string &path, bool force);

// Remove what make_trace_directory created and what a recording put into it.
void remove_trace_directory(const std::string &path);

} // namespace monitor::record
