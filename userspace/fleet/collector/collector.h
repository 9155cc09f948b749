// SPDX-License-Identifier: MIT
// Validates, stores, answers and accounts for what hosts send of their traces.
// A batch is written at once (block_writer.h) and answered when it is on the disk (syncer.h); descriptions replace
// their file as a whole (descriptions.h). The host of a message is its subject's, which the server binds to a
// certificate; all else in it is untrusted. A host has one live session, the one that started last; another one that
// still sends is refused and reported, as two hosts may have one name.
// Threads: any may call; a mutex orders them. The syncer's thread saves the accounts when a trace is new. Nothing waits
// for the disk with a mutex locked, except for saving_mutex_, which messages do not need, and for conflicting blocks,
// of which a host has at most 256. Invariant: nothing is answered `stored` before it and the accounts with its trace
// are on the disk, and memory and files are bounded for each host.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "cost_account.h"
#include "descriptions.h"
#include "fleet/wire/batch.h"
#include "fleet/wire/reports.h"
#include "run_directory.h"
#include "syncer.h"

namespace monitor::fleet {

class Collector {
public:
	// `answer`: called from several threads. `report`: prints a message, at most once in 10 s for the same cause.
	// Throws Error. `hub_pid`: the server's process, for the accounts of the cost; 0: unknown.
	Collector(const std::string &directory, const std::string &run,
		  std::function<void(const std::string &reply, const Answer &)> answer,
		  std::function<void(const std::string &)> report, const Shard &shard = {}, int hub_pid = 0);

	void batch(const std::string &host, std::span<const std::byte> untrusted, const std::string &reply);
	void piece(const std::string &host, std::span<const std::byte> untrusted, const std::string &reply);

	// Adds the cost that a host's agent reports since its start.
	void add_cost(const std::string &host, const std::string &session, const CostSums &untrusted_since_start);
	// Whether the host has reported its cost since `time`.
	bool has_reported(const std::string &host, std::chrono::steady_clock::time_point time);
	// Whether a host belongs to this run: it has a trace, or its agent reports the run. Does not wait for the disk.
	bool has_host(const std::string &host);
	void note_runs(const std::string &host, const std::vector<Presence::Run> &untrusted_runs);
	// Saves the accounts if they changed. Called about once a second, and at the end. Throws Error.
	void save();
	nlohmann::ordered_json accounts();
	const std::string &path() const { return directory_.path(); }

private:
	using Clock = std::chrono::steady_clock;
	struct Session {
		std::uint64_t current = 0;
		Clock::time_point started_at, last_message_at;
		std::set<std::uint64_t> replaced;
	};

	// False: it was answered already.
	bool is_of_this_run(const TraceName &trace, const std::string &reply) const;
	bool accept_session(const std::string &host, std::uint64_t session, const std::string &reply);
	StoredTrace *trace_of(const std::string &host, const TraceName &trace, const std::string &reply);
	template <class Message>
	void receive(const std::string &host, std::span<const std::byte> untrusted, const std::string &reply,
		     bool (*decode)(std::span<const std::byte>, Message &, std::string &));
	void store(const std::string &host, const Batch &batch, const std::string &reply);
	void store(const std::string &host, const Piece &piece, const std::string &reply);
	bool had_write_failure(const std::string &path);
	void keep_conflict(const std::string &host, const Batch &batch, unsigned number);
	Answer answer_of(Status status, std::size_t conflicts = 0, const std::string &why = "") const;
	void refuse(const std::string &host, const std::string &reply, Status status, const std::string &why);
	void report(const std::string &cause, const std::string &sentence);
	void update_cost();
	void write_accounts();
	std::uint64_t save_new_traces();

	std::function<void(const std::string &, const Answer &)> answer_;
	std::function<void(const std::string &)> report_;
	std::mutex mutex_; // protects the following
	RunDirectory directory_;
	Descriptions descriptions_;
	std::map<std::string, Session> sessions_;
	std::map<std::string, Clock::time_point> reported_;
	CostAccount cost_;
	std::map<std::string, Clock::time_point> last_reports_; // last cost report of each host of this run
	bool is_changed_ = false;
	std::mutex hosts_mutex_; // protects the following; never locked for long
	std::set<std::string> hosts_of_run_;
	std::mutex saving_mutex_; // protects the next two, and RunDirectory::write(); locked before mutex_
	DiskSync accounts_disk_;
	std::uint64_t saved_traces_; // number of traces in the accounts on the disk
	std::mutex
	    failures_mutex_; // protects the following; never locked for long, as the syncer's thread waits for it
	// Files that may not be on the disk, although they can be read; errno, 0 once it was reported.
	std::map<std::string, int> write_failures_;
	Syncer syncer_; // last: its thread uses all of the above
};

} // namespace monitor::fleet
