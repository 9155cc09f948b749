// SPDX-License-Identifier: MIT
// Where expressions meet the cards: the recording knows the description of its events, answers/matcher reads
// expressions.
#pragma once

#include <string>
#include <vector>

#include "answers/trigger/trigger_text.h"
#include "recording/session/recording.h"

namespace monitor {

// Expressions and trees are kept in the recording, in JSON. Throws Error.
void expect_utf8(const std::string &what, const std::string &text);

record::Matching matching(const MatcherRequest &request);

// The texts of triggers: what a file has, or the one that is given. Throws Error.
std::vector<trigger::TriggerText> trigger_texts(const std::string &untrusted_file_or_text);

} // namespace monitor
