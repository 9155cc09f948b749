// SPDX-License-Identifier: MIT
// Confines the recorder to its trace directory after it has dropped its privileges: started from a root shell, its user
// is still root.
#pragma once

#include <string>

namespace monitor::record {

// With landlock(7), this process and its children can then write, create and remove files only in this directory (and
// remove the empty directory itself), execute none, use no TCP, and ptrace no outside process. Open files stay open.
// Call after drop_privileges(), before other threads exist. False if this kernel has no Landlock.
bool confine_to(const std::string &directory);

} // namespace monitor::record
