// SPDX-License-Identifier: MIT
// The description of a running recording, to which programs add classes.
#pragma once

#include <memory>
#include <string>

#include "reading/ctf/description.h"

namespace monitor::live {

// Parses a description of tokens, as the recorder writes it. Throws Error.
std::shared_ptr<trace::Description> read_tokens(const std::string &text);
// Adds classes of a later text that the description lacks. Returns whether there were any. Throws Error.
bool add_classes(trace::Description &description, const std::string &later_text);

} // namespace monitor::live
