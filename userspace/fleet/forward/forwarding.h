// SPDX-License-Identifier: MIT
// Sends traces to the collector, block by block, until all of each is stored there.
//
// trace_tail.h finds what is new, send_window.h decides what to send again, a Forwarder transmits it. Only the files
// hold the content: what is sent again is read again. A trace that no collector takes is set aside with its messages:
// one of them is sent as a probe from time to time, and the host's other traces proceed. Threads: one calls step(), any
// the rest; a mutex orders them. Invariant: a block counts as stored only if the collector whose number the trace's
// progress holds has answered so.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "forwarder.h"
#include "send_window.h"
#include "trace_tail.h"

namespace monitor::fleet {

// Of one trace, or of all; in blocks.
struct ForwardingAccount {
	std::string run, part, directory;
	std::uint64_t recorded = 0, stored = 0, conflicts = 0, refused = 0, vanished = 0;
	std::uint64_t kept = 0; // stay on the host, as they were not requested
	std::uint64_t refused_files = 0, bytes = 0;
	bool is_known = false, has_ended = false, is_complete = false;
};

// A trace on the host, with all parts.
struct KeptTrace {
	std::string run;
	std::uint64_t bytes = 0, blocks = 0, stored = 0;
	std::optional<FetchedTrace::Window> span;
	bool has_ended = true;
};

// Totals sent so far.
struct SentSums {
	std::uint64_t messages = 0, bytes = 0;
};

class Forwarding {
public:
	// `report`: prints a message.
	Forwarding(Forwarder &forwarder, std::function<void(const std::string &)> report);

	// Follows a trace directory from now on, unless it does already.
	void add(const std::string &directory, const TailOptions &options);
	// The recorder has ended, or was never on this host.
	void set_ended(const std::string &directory);
	// Stops following it: it is about to be removed.
	void remove(const std::string &directory);
	// Requests a window of a run; the rest of it stays on the host.
	void fetch(const FetchRequest &request);

	// Looks, sends and receives; returns at that time, or earlier if something arrives. Throws Error if a progress
	// file cannot be written.
	void step(std::chrono::steady_clock::time_point until);
	// Makes step() return.
	void wake() { forwarder_.wake(); }
	// Saves the progress of all traces.
	void save();

	bool is_complete() const; // everything followed is stored
	std::vector<ForwardingAccount> accounts() const;
	std::vector<KeptTrace> kept() const; // by their end times, newest last
	SentSums sent() const;
	std::uint64_t sent_again() const;
	std::uint64_t session() const { return session_; }

private:
	using Clock = std::chrono::steady_clock;
	using Time = Clock::time_point;
	// An unanswered message. `file` "": blocks.
	struct Sent {
		std::shared_ptr<TraceTail> tail;
		BlockRun blocks;
		std::string file;
		std::uint64_t offset = 0;

		bool is_unread = false; // its content could not be read
	};
	// The description of a trace that is being sent.
	struct Description {
		TraceTail::Content content;
		unsigned restarts = 0;
	};

	// The state of a trace at the collectors.
	struct TraceState {
		std::optional<Time> accepted_at;  // when a collector last took something of it
		std::optional<Time> probe_at;     // if set aside: when to send the next probe
		Clock::duration probe_interval{}; // the last interval between probes
		std::optional<Time> reread_at;    // when to retry reading
		std::size_t unread = 0;           // number of unread messages
	};

	void scan(Time now);
	void apply_request(TraceTail &tail, const FetchRequest &request);
	void apply_recent_request(TraceTail &tail, const std::string &run) const;
	void receive(Forwarder::Received received, Time now);
	void handle_answer(std::uint64_t number, const Answer &answer, Time now);
	void handle_blocks_answer(std::uint64_t number, const Answer &answer, Time now);
	void handle_piece_answer(std::uint64_t number, const Answer &answer, Time now);
	void note_collector(std::uint64_t instance, Time now);
	void set_aside(std::uint64_t number, const Answer &answer, Time now);
	void note_accepted(const TraceTail &tail, Time now);
	void return_messages(Time now);
	std::size_t bytes_of(const Sent &sent) const;
	void note_unread(std::uint64_t number, int error, Time now);
	bool is_of_this_store(TraceTail &tail, const Answer &answer, Time now);
	void fill_window(Time now);
	void send_due(Time now);
	int encode(const Sent &sent);
	void add_piece(const std::shared_ptr<TraceTail> &tail, std::uint64_t offset);
	void forget(const TraceTail &tail);
	void report(const std::string &cause, const std::string &sentence, Time now);
	std::shared_ptr<TraceTail> find(const std::string &directory) const;

	Forwarder &forwarder_;
	const std::function<void(const std::string &)> report_;
	const std::uint64_t session_;
	mutable std::mutex mutex_; // protects the following
	std::vector<std::shared_ptr<TraceTail>> tails_;
	SendWindow window_;
	std::map<std::uint64_t, Sent> sent_;  // by number: in the window, set aside, or unreadable
	std::deque<std::uint64_t> returning_; // numbers to return to the window when it has space
	std::map<const TraceTail *, TraceState> states_;
	std::map<const TraceTail *, Description> descriptions_;
	std::map<const TraceTail *, Time> store_changed_; // when another collector took over last
	std::map<std::string, Time> reported_;
	std::uint64_t next_number_ = 1;
	std::set<std::uint64_t> instances_; // processes of collectors that have answered
	std::size_t next_tail_ = 0;
	std::vector<std::byte> message_; // buffer for encoding
	Time last_scan_{}, last_save_{};
	SentSums sums_;
	std::map<std::string, std::pair<FetchRequest, Time>>
	    recent_requests_; // recent requests by run, for parts that are found later
};

} // namespace monitor::fleet
