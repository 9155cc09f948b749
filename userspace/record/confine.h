// SPDX-License-Identifier: MIT
// What is left to the recorder in the file system once it has given up its privileges: its trace. From a root shell its
// user is root still. Called by recording.cpp.
#pragma once

#include <string>

namespace monitor::record {

// From here on this process and its children write, make and remove files in this directory alone, execute none, use
// no TCP, and trace no process outside (landlock(7)); the directory itself may be removed when it is empty. What is
// open stays. After drop_privileges(), before other threads exist. False: this kernel has no Landlock.
bool confine_to(const std::string &directory);

} // namespace monitor::record
