// SPDX-License-Identifier: MIT
// The trace directory: created for and owned by the invoking user, mode 0700, never over anything that exists.
// Called by Recording while the effective user is that user, so that the user's own rights apply.
#pragma once

#include <string>
#include <vector>

namespace monitor::record {

// "monitor-20261120-054812-make": date, time and the command's name.
std::string default_directory_name(const std::vector<std::string> &command);

// Creates PATH and PATH/.monitor. An existing path is rejected; with `force` an existing trace is set aside within the
// directory, anything else that is not empty is still rejected. Throws Error.
void make_trace_directory(const std::string &path, bool force);

// The recording has started: what it replaces is not needed any more.
void remove_replaced_trace(const std::string &path);

// Removes what make_trace_directory created and what a recording put into it, and brings back what was set aside.
// Throws Error if that fails.
void remove_trace_directory(const std::string &path);

} // namespace monitor::record
