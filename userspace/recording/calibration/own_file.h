// SPDX-License-Identifier: MIT
// Files in /run/monitor for later recordings of this boot: read only if nobody but this user (root) can have written
// them.
#pragma once

#include <string>

#include "base/fd.h"

namespace monitor::card {

// None: no such file, or others may write it or its directory.
Fd open_own_file(const std::string &directory, const std::string &path);
// "": empty or too long. The content is untrusted.
std::string own_text(const Fd &file);
// Makes the directory, too. Throws Error.
void write_own_file(const std::string &directory, const std::string &path, const std::string &text);

} // namespace monitor::card
