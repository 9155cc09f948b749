// SPDX-License-Identifier: MIT
// The stacks of the followed process in `monitor top`: a row each, innermost function first, as lines are cut at the
// width of the screen.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "answers/live/named_window.h"
#include "answers/report/table.h"

namespace monitor::top {

using live::NamedWindow;

// "Stacks on the CPU: 250 samples"
std::string stacks_title(const NamedWindow::StackTotals &kind);
// In a stack wider than `width`, "..." replaces the kernel's frames except the innermost, so that the program's are
// visible.
report::Table stacks_table(const NamedWindow::StackTotals &kind, unsigned width = ~0u);
// A note on problems with the stacks; "": none.
std::string stacks_note(const NamedWindow &window);

nlohmann::ordered_json stacks_json(const NamedWindow &window);

} // namespace monitor::top
