// SPDX-License-Identifier: MIT
// Turns the text of a description into the model: parses it (tsdl.h), then lays out the fields by the alignment rules
// of CTF 1.8. A text of CTF 2 is interpreted by fragments.h.
//
// What CTF 1.8 forbids is rejected: one sentence says where and why. What CTF 1.8 does not define is ignored, and
// Description::warning says so.
// Invariant: an accepted description needs no further check when it is decoded with.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "description.h"

namespace monitor::trace {

// The form of the text: in packets of one byte order, or plain.
enum class TextForm : std::uint8_t { plain, little_endian, big_endian };

// Returns nullptr and sets `why`, one sentence, if the description is malformed or not supported.
std::unique_ptr<const Description> read_description(std::string_view untrusted_text, std::string &why,
						    std::uint32_t first_index = 0, TextForm form = TextForm::plain);

} // namespace monitor::trace
