// SPDX-License-Identifier: MIT
// Stacks as a file for speedscope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/report/profile.h"
#include "output.h"

namespace monitor::exporting {

// What a profile was made from.
struct ProfileOrigin {
	std::string title;         // command and host
	std::int64_t begin_ns = 0; // since 1970
	std::uint64_t duration_ns = 0;
	unsigned timer_hz = 0; // of stacks taken by a timer; 0: none
};

// https://www.speedscope.app/file-format-schema.json
void write_speedscope(const std::vector<report::Profile> &profiles, const ProfileOrigin &origin, Output &output);

} // namespace monitor::exporting
