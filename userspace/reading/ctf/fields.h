// SPDX-License-Identifier: MIT
// The fields of an event class by name, and their offsets.
// Computed when the class's scopes are complete. A member of a struct or of a variant's option is named a.b; a
// context's field with the same name as another field is named context.NAME.
#pragma once

#include "description.h"

namespace monitor::trace {

// Fills `fields`, `align_bits` and the fixed sizes, from `scopes`.
void list_fields(EventClass &cls);

} // namespace monitor::trace
