// SPDX-License-Identifier: MIT
// Finds the data files of share/: in MONITOR_SHARE if set, else relative to the program's prefix (../share/monitor),
// else in the source tree that the program was built from.
#pragma once

#include <string>
#include <vector>

namespace monitor {

// The path of share/NAME: the first location that has it, or the last one tried.
std::string share_path(const std::string &name);
// The sorted names NAME of the files share/KIND/NAME.EXTENSION.
std::vector<std::string> share_names(const std::string &kind, const std::string &extension);
// The path itself if it is a file, else that of share/KIND/NAME.EXTENSION; "" if neither exists.
std::string file_or_share(const std::string &name_or_file, const std::string &kind, const std::string &extension);

} // namespace monitor
