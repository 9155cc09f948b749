// SPDX-License-Identifier: MIT
// The recorder's end of requests for snapshots: SIGUSR1, and a socket (snapshot_question.h). Main thread only. Only
// root and the recording's user are answered. Requests are untrusted.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/snapshot_question.h"
#include "recording/rings/clock.h"

namespace monitor::record {

class SnapshotRequests {
public:
	// SIGUSR1 is blocked in every thread created later. `directory`: the flight's, absolute. Throws Error.
	SnapshotRequests(uid_t user, std::string directory, bool invariant_tsc);
	~SnapshotRequests();

	struct Received {
		SnapshotRequest request;
		Fd caller; // none: a signal
		Sync at;   // when it was read here
	};

	// Readable if there may be requests.
	int fd() const { return poll_.get(); }
	// New requests for snapshots. Requests for `state` are answered here.
	std::vector<Received> take(const nlohmann::ordered_json &state = nlohmann::ordered_json::object());
	// `json`: one line. The caller may be gone.
	static void answer(const Fd &caller, const std::string &json);
	// Whether the caller has hung up, which also makes fd() readable; stops polling it then.
	bool is_gone(const Fd &caller) const;

private:
	void accept_callers();
	struct Caller {
		Fd fd;
		bool is_allowed;
	};
	bool read_request(Caller &caller, const nlohmann::ordered_json &state, std::vector<Received> &to) const;

	uid_t user_;
	std::string directory_;
	sigset_t before_;
	Fd poll_, signal_, listener_;
	bool invariant_tsc_;
	std::vector<Caller> callers_; // connected, no request yet
};

} // namespace monitor::record
