// SPDX-License-Identifier: MIT
// The stacks of what was followed, as `monitor top` shows them: a row for each, the innermost function first, because
// lines are cut at the width of the screen.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "answers/live/named_window.h"
#include "answers/report/table.h"

namespace monitor::top {

using live::NamedWindow;

// "Stacks on the CPU: 250 samples"
std::string stacks_title(const NamedWindow::StackTotals &kind);
// Of a stack that is wider than `width`, the kernel's frames but the innermost are "...", so that the program's are
// seen.
report::Table stacks_table(const NamedWindow::StackTotals &kind, unsigned width = ~0u);
// What is not as it should be: a sentence. Empty: nothing.
std::string stacks_note(const NamedWindow &window);

nlohmann::ordered_json stacks_json(const NamedWindow &window);

} // namespace monitor::top
