// SPDX-License-Identifier: MIT
// What `record --stacks` selects: a timer, and events by the names that users have for them.
#pragma once

#include <string>
#include <vector>

#include "recording/card/stack_probes.h"

namespace monitor::record {

// `which`: cpu, offcpu, wake, fault, exec, syscall:NAME; `classes`: event classes by name. Throws Error.
card::StackOptions choose_stacks(const std::vector<std::string> &which, const std::vector<std::string> &classes,
				 unsigned rate_hz);

// What is taken where nobody asked for stacks.
card::StackOptions samples_of_command();

// The families whose events the stacks are taken at.
std::vector<std::string> families_of(const card::StackOptions &stacks);

} // namespace monitor::record
