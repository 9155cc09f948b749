// SPDX-License-Identifier: MIT
// Checks an expression against a trace: looks up every name, label and type in the whole description, once.
//
// A name that only some classes lack is not an error. A name that no class has is one: it would never match, and is
// most likely mistyped. The message suggests similar names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expression.h"
#include "known.h"
#include "reading/ctf/description.h"

namespace monitor::filter {

// Warnings about names that no class has so far.
using Doubts = std::vector<std::string>;

// `text`: the source of the condition. Throws ParseError. With `doubts` the trace may have more classes later.
void check(const Expression &condition, std::string_view text, const trace::Description &description,
	   const KnownNames &known = {}, Doubts *doubts = nullptr);

} // namespace monitor::filter
