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

// Names that no class has may be those of classes that are not known yet: sentences about them.
using Doubts = std::vector<std::string>;

// `text` is what the condition was parsed from. Throws Refusal. With `doubts` there may be more classes later.
void check(const Expression &condition, std::string_view text, const trace::Description &description,
	   const KnownNames &known = {}, Doubts *doubts = nullptr);

} // namespace monitor::filter
