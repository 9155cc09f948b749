// SPDX-License-Identifier: MIT
// What somebody names who looks for a trace: a file of another program, or a directory of such files. Called where a
// trace cannot be opened, for the sentence that says which command reads it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace monitor::trace::tdl {

// "PATH is ...: COMMAND reads it", by the file's magic; "" if it is not known.
std::string reader_of_other(const std::string &path, std::span<const std::byte> untrusted_bytes);

// The same of the first file in a directory, by name, that a command reads; "": there is none.
std::string reader_of_files_in(const std::string &directory);

} // namespace monitor::trace::tdl
