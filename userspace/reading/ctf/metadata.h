// SPDX-License-Identifier: MIT
// Extracts the text of a description from the bytes of the file `metadata`: plain, or in packets as tracers stream it.
//
// read_description() (interpret.h) reads the text. The bytes are untrusted. CTF 1.8.3, 7.1.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "interpret.h"

namespace monitor::trace {

// Returns false and sets `why`, one sentence, if the packets are damaged, or if the description is of another version
// of CTF.
bool metadata_text(std::span<const std::byte> untrusted_bytes, std::string &text, std::string &why, TextForm &form);

} // namespace monitor::trace
