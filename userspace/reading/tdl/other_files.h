// SPDX-License-Identifier: MIT
// Recognizes files of other programs where a trace was expected, for the error message: which command reads such a
// file, or a directory of these.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace monitor::trace::tdl {

// "PATH is ...: COMMAND reads it", by the file's magic; "" if it is unknown.
std::string reader_of_other(const std::string &path, std::span<const std::byte> untrusted_bytes);

// The same for the first file of a directory, by name, that a command reads; "": there is none.
std::string reader_of_files_in(const std::string &directory);

} // namespace monitor::trace::tdl
