// SPDX-License-Identifier: MIT
// Checks an expression against a trace: looks up every name, label and type in the whole description, once.
//
// Called by Filter between parse() and compile(). A name that only some classes lack is not an error. A name that no
// class has is one: it would never match, and is most likely mistyped. The message suggests similar names.
#pragma once

#include <string_view>

#include "expression.h"
#include "reading/ctf/description.h"

namespace monitor::filter {

// `text` is what the condition was parsed from. Throws Refusal.
void check(const Expression &condition, std::string_view text, const trace::Description &description);

} // namespace monitor::filter
