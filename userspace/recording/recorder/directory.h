// SPDX-License-Identifier: MIT
// The trace directory: created for and owned by the invoking user, mode 0700, never over anything that exists.
// The effective user must be that user, so that the user's own rights apply.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"

namespace monitor::record {

// Locks a directory for as long as the descriptor, or a copy of it, is open: until the recorder dies at the latest.
// Throws Error with the holder's number if another recorder has it.
Fd lock_directory(const std::string &path);

// Creates PATH and PATH/.monitor, and locks PATH. An existing path is rejected; with `force` an existing trace that no
// recorder writes is set aside within the directory, anything else that is not empty is still rejected. Throws Error.
[[nodiscard]] Fd make_trace_directory(const std::string &path, bool force);

// The same with a name by date, time and the command, which goes to `path`: "monitor-20261120-054812-make"; if others
// started in this second, "monitor-20261120-054812-make-2" and so on.
[[nodiscard]] Fd make_default_directory(const std::vector<std::string> &command, std::string &path);

// Removes the replaced trace. Call when the recording has started.
void remove_replaced_trace(const std::string &path);

// Undoes make_trace_directory(), removes what a recording wrote, and brings back what was set aside. Throws Error.
void remove_trace_directory(const std::string &path);

} // namespace monitor::record
