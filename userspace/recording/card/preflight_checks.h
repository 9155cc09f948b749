// SPDX-License-Identifier: MIT
// `monitor doctor`: what this machine supports, the consequences for recordings, and remedies. Reads /proc and /sys and
// tries the system calls; changes nothing.
#pragma once

#include <string>
#include <vector>

namespace monitor::card {

enum class CheckState { good, limited, missing };

struct PreflightCheck {
	std::string id, value;
	CheckState state = CheckState::good;
	std::string meaning; // the consequence for recordings
	std::string remedy;  // empty: nothing to do
};

std::vector<PreflightCheck> preflight_checks();

// Whether all CPUs of this machine have a TSC of constant rate that never stops: according to the flags constant_tsc
// and nonstop_tsc, or because it is the kernel's own clock, since the kernel abandons a TSC that stops when idle.
// Always true on arm64, whose counter is architectural.
bool has_invariant_tsc();

} // namespace monitor::card
