// SPDX-License-Identifier: MIT
// Parses `record --stacks` and `--stacks-on`: a timer, and events by user-level names.
#pragma once

#include <string>
#include <vector>

#include "recording/card/stack_probes.h"

namespace monitor::record {

// `which`: cpu, offcpu, wake, fault, exec, syscall:NAME; `classes`: event classes by name. Throws Error.
card::StackOptions choose_stacks(const std::vector<std::string> &which, const std::vector<std::string> &classes,
				 unsigned rate_hz);

// Default samples of the command, without --stacks.
card::StackOptions samples_of_command();

// The families of the events with stacks.
std::vector<std::string> families_of(const card::StackOptions &stacks);

} // namespace monitor::record
