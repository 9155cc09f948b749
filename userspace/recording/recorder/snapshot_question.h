// SPDX-License-Identifier: MIT
// Asks a flight recorder for a snapshot, through a socket in the abstract namespace, whose name has the recorder's
// process (recorders.h). One packet of JSON each way:
//
//     {"before_ns": 5000000000, "after_ns": 0}             all optional, also why, trigger, joins
//     {"directory": "/path/001", "events": 12345, ...}     or {"error": "a sentence"}
//
//     {"ask": "state"}
//     {"directory": "/path", "pid": 1234, ...}             as in flight.json
//
// ask_for_snapshot() waits; SnapshotQuestion is for the parts of an agent (fleet/agent/), which do other things
// meanwhile. As anybody can listen under such a name, nothing is sent to or read from anybody but root and the user who
// asks, and who does not accept is not waited for. The other end: recording/flight/snapshot_requests.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/fd.h"

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

// Of both ends.
constexpr std::string_view flight_socket_prefix = "monitor-flight-";
constexpr std::size_t max_snapshot_packet = 65536;
Fd snapshot_socket();

// The processes of the flight recorders of this machine (network namespace).
std::vector<int> flight_recorders();

// What a flight recorder says of itself, with at least its directory, a text; null if the process is none, or refuses.
nlohmann::ordered_json flight_state(int pid);

// Its directory; "" likewise.
std::string flight_directory(int pid);

// Asks and waits for the answer: JSON. Throws Error.
std::string ask_for_snapshot(int pid, const SnapshotRequest &request);

// The same without waiting.
class SnapshotQuestion {
public:
	// Asks. Throws Error.
	SnapshotQuestion(int pid, const SnapshotRequest &request);

	// Readable when there is an answer, or the recorder has ended.
	int fd() const { return fd_.get(); }
	// JSON; "": it ended before it answered; none: not yet. If it is destroyed before, the snapshot ends now.
	std::optional<std::string> take() const;

private:
	Fd fd_;
};

} // namespace monitor::record
