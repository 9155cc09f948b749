// SPDX-License-Identifier: MIT
// Requests a snapshot from a flight recorder, through an abstract socket with the recorder's PID in its name
// (recorders.h). One packet of JSON each way:
//
//     {"before_ns": 5000000000, "after_ns": 0}             all optional, also why, trigger, joins
//     {"directory": "/path/001", "events": 12345, ...}     or {"error": "a sentence"}
//
//     {"ask": "state"}
//     {"directory": "/path", "pid": 1234, ...}             as in flight.json
//
// ask_for_snapshot() waits; SnapshotQuestion does not, for agents (fleet/agent/). Anybody can bind such a name, so only
// root and the requesting user are trusted as peers, and connecting has a timeout. The other end:
// recording/flight/snapshot_requests.h.
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

	std::optional<std::uint64_t> before_ns; // how far back; none: all of the rings
	std::uint64_t after_ns = 0;             // how long to continue
	std::string why;                        // "by `monitor snapshot`"
	By by = By::request;
	// With By::trigger its name; else a trigger of the recorder whose times to use, if it exists.
	std::string trigger = {};
	bool joins = false; // a snapshot in progress may answer this request
};

// For both ends.
constexpr std::string_view flight_socket_prefix = "monitor-flight-";
constexpr std::size_t max_snapshot_packet = 65536;
Fd snapshot_socket();

// The processes of the flight recorders of this machine (network namespace).
std::vector<int> flight_recorders();

// A flight recorder's state, with at least its directory; null if the process is not one, or refuses.
nlohmann::ordered_json flight_state(int pid);

// Its directory; "" likewise.
std::string flight_directory(int pid);

// Sends a request and waits for the answer in JSON. Throws Error.
std::string ask_for_snapshot(int pid, const SnapshotRequest &request);

// The same without waiting.
class SnapshotQuestion {
public:
	// Sends the request. Throws Error.
	SnapshotQuestion(int pid, const SnapshotRequest &request);

	// Readable when there is an answer, or the recorder has ended.
	int fd() const { return fd_.get(); }
	// The answer in JSON; "": the recorder ended without one; none: not yet. Destroying the object before ends the
	// snapshot.
	std::optional<std::string> take() const;

private:
	Fd fd_;
};

} // namespace monitor::record
