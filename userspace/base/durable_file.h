// SPDX-License-Identifier: MIT
// Files that are whole after a crash of the machine, not only of the process.
//
// Used by the collector for its accounts and descriptions, by the spool for its record of what is stored, and by the
// privileged process for the nonces that were used.
#pragma once

#include <string>

namespace monitor {

// As replace_file() (base/fd.h), and on the disk when it returns. Throws Error.
void replace_file_durably(const std::string &path, const std::string &text, unsigned mode);
// What is new in a directory is on the disk. Throws Error.
void sync_directory(const std::string &path);
// The path up to its last '/', or ".".
std::string directory_of(const std::string &path);

} // namespace monitor
