// SPDX-License-Identifier: MIT
// From the text of a description to the model: parse (tsdl.h), then lay out the fields by the alignment rules of
// CTF 1.8.
//
// Called by Trace::open and by the tests; the Description goes to the streams. What CTF 1.8 forbids is refused: one
// sentence says where and why. What it does not know is left out, and Description::warning says so.
// Invariant: what is accepted can be decoded without any further check of the description.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "description.h"

namespace monitor::trace {

// Where the text was: packets of one byte order, or plain.
enum class TextForm : std::uint8_t { plain, little_endian, big_endian };

// Returns nullptr and sets `why` to one sentence when the description is malformed or not one that we read.
std::unique_ptr<const Description> read_description(std::string_view untrusted_text, std::string &why,
						    std::uint32_t first_index = 0, TextForm form = TextForm::plain);

} // namespace monitor::trace
