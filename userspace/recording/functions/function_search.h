// SPDX-License-Identifier: MIT
// The functions that `record --functions` asks for: finds their files, and in a process without privileges, because
// files are not trusted, their places and exits. Called by Recording while it still has its privileges; next in the
// flow: recording/card/function_probes.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "recording/card/function_probes.h"
#include "recording/card/rounds.h"

namespace monitor::functions {

struct LeftOut {
	std::string name, why;
};

struct FoundFunctions {
	std::vector<card::Function> functions;
	std::vector<LeftOut> left_out; // what matches and cannot be probed

	std::vector<std::string> names() const;
};

using OpenFile = std::function<Fd(const std::string &path)>;

// Patterns: NAME of the command's program, or else of the processes' programs, or FILE:NAME, where * and ? stand for
// any text and character. `may_patch`: functions with sleds need no probe. `open` opens a file for reading as whoever
// names it may; `drop` is called in the searching process: it drops all privileges. Before other threads exist. Throws
// Error if a file cannot be read, or a pattern matches nothing that can be recorded.
FoundFunctions find_functions(const std::vector<std::string> &patterns, const std::vector<std::string> &command,
			      const std::vector<int> &pids, bool may_patch, const OpenFile &open,
			      const std::function<void()> &drop);

// What an event costs, in ns. No rounds: unknown.
struct EventCosts {
	card::Estimate patched, probed;
};

// For the user, before the start: what cannot be recorded, one line each, and how many are.
std::vector<std::string> notes(const std::vector<LeftOut> &left_out);
std::string summary(const std::vector<card::Function> &functions, const EventCosts &costs);

} // namespace monitor::functions
