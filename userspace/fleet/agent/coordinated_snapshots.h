// SPDX-License-Identifier: MIT
// Snapshots of all hosts of a run when a trigger of one of them fires (`monitor fleet record --snapshot-all`):
//
//     trigger fires -> recorder: flight.json (begun_snapshots.h) -> inotify -> look() -> m.fired.HOST ---.
//     m.froze.HOST <- look() <- inotify <- flight.json <- recorder <- ask() <- take_heard() <- hear() <--'  on others
//
// Part of the network process (network_process.cpp), which is not trusted; the privileged process says which runs the
// operator has permitted it for. Threads: hear() is of libnats', all else of the main one. Invariants: only what a
// trigger of this host did is published as m.fired, and nothing is done because of m.froze, so snapshots do not cause
// each other without end. A run that the privileged process did not name is not asked. A trigger of another host makes
// one snapshot, however often its word comes.
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

	// `publish`: m.KIND.HOST; false: it was not. `report`: a sentence. Throws Error.
	CoordinatedSnapshots(std::string host, std::string runs_directory,
			     std::function<bool(std::string_view kind, const std::string &text)> publish,
			     std::function<void(const std::string &)> report);

	// What the privileged process says.
	void set_runs(const std::vector<CoordinatedRun> &runs);
	// A message m.fired.HOST.
	void hear(std::string_view untrusted_subject, std::string_view untrusted_text);
	// Call step() when one is readable, when there is a connection again, and each second.
	void add_fds(std::vector<pollfd> &to) const;
	void step(Clock::time_point now = Clock::now());

private:
	struct Heard {
		std::string host;
		fleet::SnapshotNews news;
	};
	struct Asked {
		Heard because;
		std::string why;
		record::SnapshotQuestion question;
	};
	struct Run {
		CoordinatedRun permitted;
		int watch = -1;
		unsigned seen = 0; // the newest snapshot that was looked at
		CoordinatedLimits limits;
		std::optional<Asked> asked;
		std::map<std::string, std::set<std::uint64_t>> heard{}; // the snapshots of each host that were
	};
	// That a trigger of this host fired.
	struct Undelivered {
		std::string text, sentence; // what is published; what is reported if it cannot be
		std::optional<Clock::time_point> since;
	};

	void publish_fired(Clock::time_point now);
	void watch(Run &run);
	std::vector<record::BegunSnapshot> new_ones(Run &run) const;
	void look(Run &run);
	void take_changes();
	void take_heard(Clock::time_point now);
	void take_replies();
	void ask(Run &run, const Heard &heard);
	void publish_froze(const Run &run, const record::BegunSnapshot &snapshot);

	const std::string host_, runs_directory_;
	const std::function<bool(std::string_view, const std::string &)> publish_;
	const std::function<void(const std::string &)> report_;
	std::map<std::string, Run> runs_;
	std::deque<Undelivered> undelivered_;
	Fd changes_, wakeup_;
	std::mutex mutex_; // of what follows
	std::deque<Heard> heard_;
	SenderRateLimit rate_limit_;
};

// What a snapshot's cause is called, in the snapshot and in messages: "the trigger slow of host web1 (snapshot 003
// there)".
std::string cause_text(const std::string &host, const fleet::SnapshotNews &news);

} // namespace monitor::agent
