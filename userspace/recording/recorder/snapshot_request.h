// SPDX-License-Identifier: MIT
// What a flight recorder is asked for: by somebody through its socket or a signal (snapshot_requests.h), or by a
// trigger of its own. Passed through flight.cpp into the snapshot's account.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace monitor::record {

struct SnapshotRequest {
	enum class By : std::uint8_t { request, signal, trigger };

	std::optional<std::uint64_t> before_ns; // how much of the past is wanted; none: all that there is
	std::uint64_t after_ns = 0;             // for how long to go on
	std::string why;                        // "by `monitor snapshot`"
	By by = By::request;
	// By::trigger: which one; otherwise the times are those of this trigger of the recorder, if it has it.
	std::string trigger = {};
	bool joins = false; // one that has only just begun will do
};

} // namespace monitor::record
