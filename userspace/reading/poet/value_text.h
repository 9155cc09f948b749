// SPDX-License-Identifier: MIT
// A field's value as a variant, as a list of variants, and as text: for programs that do not know the field beforehand.
//
// Takes time and allocates; code that runs per event uses the typed access.
#pragma once

#include "core.h"

namespace poet::detail {

// The event must be of the class that the reference was made for.
Value value_of(const Ref &ref, const monitor::trace::Event &event);
std::vector<Value> values_of(const Ref &ref, const monitor::trace::Event &event);
std::string text_of(const Ref &ref, const monitor::trace::Event &event);

} // namespace poet::detail
