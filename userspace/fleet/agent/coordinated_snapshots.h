// SPDX-License-Identifier: MIT
// Coordinated snapshots: on all hosts of a run when a trigger of one of them fires (`monitor fleet record
// --snapshot-all`).
//
//     trigger fires -> recorder: flight.json (begun_snapshots.h) -> inotify -> scan() -> m.fired.HOST ---------.
//     m.froze.HOST <- scan() <- inotify <- flight.json <- recorder <- ask() <- handle_received() <- receive() <--'
// The second line is on the other hosts.
//
// Part of the network process, which is not trusted; the privileged process says for which runs the operator has
// permitted it. Threads: receive() is called by libnats, all else by the main thread.
// Invariants: only this host's own triggers are published as m.fired, and nothing reacts to m.froze, so snapshots do
// not cause each other without end. A run that was not permitted is not asked. A trigger of another host causes one
// snapshot, however often its message arrives.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "base/fd.h"
#include "coordinated_limits.h"
#include "fleet/wire/snapshot_news.h"
#include "link.h"
#include "recording/flight/begun_snapshots.h"
#include "recording/recorder/snapshot_question.h"
#include "sender_rate_limit.h"

namespace monitor::agent {

class CoordinatedSnapshots {
public:
	using Clock = std::chrono::steady_clock;

	// `publish`: sends m.KIND.HOST; false: not sent. `report`: prints a message. Throws Error.
	CoordinatedSnapshots(std::string host, std::string runs_directory,
			     std::function<bool(std::string_view kind, const std::string &text)> publish,
			     std::function<void(const std::string &)> report);

	// The permitted runs, from the privileged process.
	void set_runs(const std::vector<CoordinatedRun> &runs);
	// Receives a message m.fired.HOST.
	void receive(std::string_view untrusted_subject, std::string_view untrusted_text);
	// Call step() when one is readable, after a reconnection, and each second.
	void add_fds(std::vector<pollfd> &to) const;
	void step(Clock::time_point now = Clock::now());

private:
	struct RemoteFiring {
		std::string host;
		fleet::SnapshotNews news;
	};
	struct PendingRequest {
		RemoteFiring cause;
		std::string why;
		record::SnapshotQuestion question;
	};
	struct Run {
		CoordinatedRun permitted;
		int watch = -1;
		unsigned last_handled = 0; // the newest snapshot that was processed
		CoordinatedLimits limits;
		std::optional<PendingRequest> pending;
		std::map<std::string, std::set<std::uint64_t>> known_firings{}; // snapshots by host
	};
	// A trigger of this host that fired and was not published yet.
	struct Undelivered {
		std::string text, sentence; // `sentence`: reported if publishing fails
		std::optional<Clock::time_point> since;
	};

	void publish_fired(Clock::time_point now);
	void watch(Run &run);
	std::vector<record::BegunSnapshot> new_snapshots(Run &run) const;
	void scan(Run &run);
	void read_changes();
	void handle_received(Clock::time_point now);
	void handle_replies();
	void ask(Run &run, const RemoteFiring &firing);
	void publish_froze(const Run &run, const record::BegunSnapshot &snapshot);

	const std::string host_, runs_directory_;
	const std::function<bool(std::string_view, const std::string &)> publish_;
	const std::function<void(const std::string &)> report_;
	std::map<std::string, Run> runs_;
	std::deque<Undelivered> undelivered_;
	Fd inotify_, wakeup_;
	std::mutex mutex_; // protects the following
	std::deque<RemoteFiring> received_;
	SenderRateLimit rate_limit_;
};

// The cause of a snapshot, for the snapshot itself and for messages: "the trigger slow of host web1 (snapshot 003
// there)".
std::string cause_text(const std::string &host, const fleet::SnapshotNews &news);

} // namespace monitor::agent
