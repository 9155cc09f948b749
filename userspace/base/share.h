// SPDX-License-Identifier: MIT
// Where the data files of share/ are: MONITOR_SHARE, else beside the program's prefix (../share/monitor), else in the
// source tree that the program was built from.
#pragma once

#include <string>
#include <vector>

namespace monitor {

// The path of share/NAME; the first place that has it, or the last one tried.
std::string share_path(const std::string &name);
// Of share/KIND/NAME.EXTENSION the names, sorted.
std::vector<std::string> share_names(const std::string &kind, const std::string &extension);
// A file's own path, or that of share/KIND/NAME.EXTENSION; "" if there is neither.
std::string file_or_share(const std::string &name_or_file, const std::string &kind, const std::string &extension);

} // namespace monitor
