// SPDX-License-Identifier: MIT
// Finds the functions for `record --functions`: their files, and in an unprivileged process, because files are
// untrusted, their entries and exits. Call it while the recorder still has its privileges. Next in the flow:
// recording/card/function_probes.cpp.
#pragma once

#include <string>
#include <vector>

#include "recording/card/function_probes.h"
#include "recording/recorder/user.h"

namespace monitor::functions {

struct LeftOut {
	std::string name, why;
};

struct FoundFunctions {
	std::vector<card::Function> functions;
	std::vector<LeftOut> left_out; // functions that match, but cannot be probed
};

// Patterns: NAME of the command's program, or else of the processes' programs, or FILE:NAME, where * and ? stand for
// any text and character. `may_patch`: functions with sleds need no uprobe. `user` must be able to read the files.
// Before other threads exist. Throws Error if a file cannot be read, or a pattern matches nothing that can be recorded.
FoundFunctions find_functions(const std::vector<std::string> &patterns, const std::vector<std::string> &command,
			      const std::vector<int> &pids, bool may_patch, const record::User &user);

// Cost of an event in ns. No rounds: unknown.
struct EventCosts {
	card::CalibratedCost patched, probed;
};

// Notes for the user before the start: functions that cannot be recorded, and how many.
std::vector<std::string> notes(const std::vector<LeftOut> &left_out);
std::string summary(const std::vector<card::Function> &functions, const EventCosts &costs);

} // namespace monitor::functions
