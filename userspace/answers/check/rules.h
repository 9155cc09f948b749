// SPDX-License-Identifier: MIT
// Judges a user's rules, or shipped ones, on a trace that has all events.
#pragma once

#include <string>
#include <vector>

#include "answers/rules/run.h"
#include "reading/events/trace.h"

namespace monitor::check {

// Throws Error.
std::vector<rules::Outcome> judge_rules(trace::Trace &trace, const std::vector<std::string> &files,
					const rules::Options &options);

} // namespace monitor::check
