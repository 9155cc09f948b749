// SPDX-License-Identifier: MIT
// The text of a description, from the bytes of the file `metadata`: plain, or in packets as tracers stream it.
//
// Called by Trace::open; the text goes to read_description() (interpret.h). The bytes are untrusted. CTF 1.8.3, 7.1.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "interpret.h"

namespace monitor::trace {

// Returns false and sets `why` to one sentence if the packets are damaged, or if it is the description of another
// version of CTF.
bool metadata_text(std::span<const std::byte> untrusted_bytes, std::string &text, std::string &why, TextForm &form);

} // namespace monitor::trace
