// SPDX-License-Identifier: MIT
// The fields of an event class by name, and where each of them lies.
//
// Called by the interpretation (interpret.cpp) once the class's scopes are complete. What is in a struct or in the
// option of a variant is called a.b; a context's field that has the name of another one is called context.NAME.
#pragma once

#include "description.h"

namespace monitor::trace {

// Fills `fields`, `align_bits` and what is fixed, from `scopes`.
void list_fields(EventClass &cls);

} // namespace monitor::trace
