// SPDX-License-Identifier: MIT
// The functions that `record --functions` asks for: finds their files, and in a process without privileges, because
// files are not trusted, their places and exits. Called by Recording while it still has its privileges; next in the
// flow: recording/card/function_probes.cpp.
#pragma once

#include <string>
#include <vector>

#include "recording/card/function_probes.h"
#include "recording/card/rounds.h"
#include "recording/recorder/user.h"

namespace monitor::functions {

struct LeftOut {
	std::string name, why;
};

struct FoundFunctions {
	std::vector<card::Function> functions;
	std::vector<LeftOut> left_out; // what matches and cannot be probed
};

// Patterns: NAME of the command's program, or else of the processes' programs, or FILE:NAME, where * and ? stand for
// any text and character. `may_patch`: functions with sleds need no probe. `user`: who names the files and must be able
// to read them. Before other threads exist. Throws Error if a file cannot be read, or a pattern matches nothing that
// can be recorded.
FoundFunctions find_functions(const std::vector<std::string> &patterns, const std::vector<std::string> &command,
			      const std::vector<int> &pids, bool may_patch, const record::User &user);

// What an event costs, in ns. No rounds: unknown.
struct EventCosts {
	card::CalibratedCost patched, probed;
};

// For the user, before the start: what cannot be recorded, one line each, and how many are.
std::vector<std::string> notes(const std::vector<LeftOut> &left_out);
std::string summary(const std::vector<card::Function> &functions, const EventCosts &costs);

} // namespace monitor::functions
