// SPDX-License-Identifier: MIT
// A part of a path (answers/path/parts.h) in the terms of the rules.
#pragma once

#include "answers/path/parts.h"
#include "evidence.h"

namespace monitor::explain {

// Of threads; without its share. They have the names that they had then.
PathPart path_part(const path::Part &part, const path::Stretches &stretches, const analyze::EventKinds &kinds);

} // namespace monitor::explain
