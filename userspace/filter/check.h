// SPDX-License-Identifier: MIT
// Does an expression make sense for a trace? Every name, label and type is looked up in the whole description once.
//
// Called by Filter between parse() and compile(). What a single class does not have is no error, what no class has is
// one: it would never match, and is most likely mistyped. The sentence names what is near.
#pragma once

#include <string_view>

#include "expression.h"
#include "trace/description.h"

namespace monitor::filter {

// `text` is what the condition was parsed from. Throws FilterError.
void check(const Expression &condition, std::string_view text, const trace::Description &description);

} // namespace monitor::filter
