// SPDX-License-Identifier: MIT
// CTF 2 descriptions: the fragments of a JSON text sequence become the same model as the blocks of CTF 1.8.
//
// Section 5 of https://diamon.org/ctf/. What the specification forbids is refused, as are properties and extensions
// that it does not define, as these may change what the bits mean.
#pragma once

#include <memory>
#include <string_view>

#include "description.h"

namespace monitor::trace {

// Throws ParseError.
std::unique_ptr<const Description> interpret_fragments(std::string_view untrusted_text, std::uint32_t first_index);

} // namespace monitor::trace
