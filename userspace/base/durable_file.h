// SPDX-License-Identifier: MIT
// Files that survive a crash of the machine, not only of the process.
#pragma once

#include <string>

namespace monitor {

// As replace_file() (fd.h), and on the disk when it returns. Throws Error.
void replace_file_durably(const std::string &path, const std::string &text, unsigned mode);
// Writes a directory's new entries to the disk. Throws Error.
void sync_directory(const std::string &path);
// The path up to its last '/', or ".".
std::string directory_of(const std::string &path);

} // namespace monitor
