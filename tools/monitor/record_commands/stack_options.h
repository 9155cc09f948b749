// SPDX-License-Identifier: MIT
// --stacks, --stacks-on and --rate, which monitor record and monitor top have.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "recording/card/stack_probes.h"

namespace monitor {

struct StackArguments {
	std::string which, events;
	std::optional<unsigned> rate_hz;

	bool is_declined() const { return which == "no" && events.empty() && !rate_hz; }
	bool any() const { return !is_declined() && (!which.empty() || !events.empty() || rate_hz); }
	// Throws Error.
	card::StackOptions options() const;
};

// `use`: the purpose of --stacks, for the help.
void add_stack_options(CLI::App &command, StackArguments &arguments, const std::string &use);

} // namespace monitor
