// SPDX-License-Identifier: MIT
// Confines the recorder's access to the file system to its trace once it has given up its privileges. From a root shell
// its user is still root.
#pragma once

#include <string>

namespace monitor::record {

// From here on this process and its children can write, create and remove files in this directory only, execute none,
// use no TCP, and trace no process outside (landlock(7)); the directory itself may be removed when it is empty. Open
// files stay open. Call after drop_privileges(), before other threads exist. False if this kernel has no Landlock.
bool confine_to(const std::string &directory);

} // namespace monitor::record
