// SPDX-License-Identifier: MIT
// Connects the recording, which has the event description, with answers/matcher, which parses expressions.
#pragma once

#include <string>
#include <vector>

#include "answers/trigger/trigger_text.h"
#include "recording/session/recording.h"

namespace monitor {

// Throws Error: expressions and trees are stored in JSON, which must be UTF-8.
void expect_utf8(const std::string &what, const std::string &text);

record::Matching matching(const MatcherRequest &request);

// The texts of triggers: from a file, or the given text. Throws Error.
std::vector<trigger::TriggerText> trigger_texts(const std::string &untrusted_file_or_text);

} // namespace monitor
