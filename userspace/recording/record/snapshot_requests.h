// SPDX-License-Identifier: MIT
// How a flight recorder is asked for a snapshot: by SIGUSR1, or by `monitor snapshot` through a socket in the abstract
// namespace, whose name has the recorder's process (recording/card/recorders.h). One packet of JSON each way:
//
//     {"before_ns": 5000000000, "after_ns": 0}             all optional, also why, trigger, joins
//     {"directory": "/path/001", "events": 12345, ...}     or {"error": "a sentence"}
//
//     {"ask": "state"}
//     {"directory": "/path", "pid": 1234, ...}             as in flight.json
//
// SnapshotRequests is the recorder's end, used by flight.cpp in the main thread; ask_for_snapshot() is the other one,
// and SnapshotQuestion for the parts of an agent (recording/agent/), which do other things while they wait.
// The recorder answers root and the user whose recording it is. What arrives is untrusted. As anybody can listen under
// such a name, nothing is sent to or read from anybody but root and the user who asks, and who does not accept is not
// waited for.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "base/fd.h"
#include "clock.h"
#include "snapshot_request.h"

namespace monitor::record {

class SnapshotRequests {
public:
	// SIGUSR1 is blocked in every thread created later. `directory`: the flight's, absolute. Throws Error.
	SnapshotRequests(uid_t user, std::string directory, bool invariant_tsc);
	~SnapshotRequests();

	struct Asked {
		SnapshotRequest request;
		Fd caller; // none: a signal
		Sync at;   // when it was read here
	};

	// Readable if there may be something.
	int fd() const { return poll_.get(); }
	// What has been asked for since. Who asks for the state of the recorder is answered here.
	std::vector<Asked> take(const nlohmann::ordered_json &state = nlohmann::ordered_json::object());
	// `json`: one line. The caller may be gone.
	static void answer(const Fd &caller, const std::string &json);
	// Whether the one who asked is gone, which also makes fd() readable; it is not watched any more then.
	bool is_gone(const Fd &caller) const;

private:
	void accept_callers();
	struct Caller {
		Fd fd;
		bool is_allowed;
	};
	bool read_request(Caller &caller, const nlohmann::ordered_json &state, std::vector<Asked> &to) const;

	uid_t user_;
	std::string directory_;
	sigset_t before_;
	Fd poll_, signal_, listener_;
	bool invariant_tsc_;
	std::vector<Caller> callers_; // that have not sent a request yet
};

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
