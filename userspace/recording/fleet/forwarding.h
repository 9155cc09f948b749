// SPDX-License-Identifier: MIT
// Brings traces to the collector, block by block, until all of each is stored there.
//
// Used by the agent for its spool (spool.h) and by `monitor fleet push` for a directory. trace_tail.h says what is new,
// send_window.h what must be sent again, a Forwarder carries it. What is on its way is kept in the files only: to send
// it again it is read again. Threads: one calls step(), any calls the rest; a mutex orders them.
// Invariant: a block counts as stored only if the collector whose number the trace's progress holds has answered so.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
	std::uint64_t refused_files = 0, bytes = 0;
	bool is_known = false, has_ended = false, is_complete = false;
};

class Forwarding {
public:
	// `report`: a sentence for the user.
	Forwarding(Forwarder &forwarder, std::function<void(const std::string &)> report);

	// Follows a trace directory from now on. Nothing if it is followed already.
	void add(const std::string &directory, const TailOptions &options);
	// Its recorder has ended, or never ran here.
	void set_ended(const std::string &directory);
	// Not followed any more, as it is about to be removed.
	void remove(const std::string &directory);

	// Looks, sends and receives; returns at that time, or earlier when something came. Throws Error if a progress
	// file cannot be written.
	void step(std::chrono::steady_clock::time_point until);
	// step() returns.
	void wake() { forwarder_.wake(); }
	// Saves how far everything is.
	void save();

	bool is_complete() const; // all that is followed
	std::vector<ForwardingAccount> accounts() const;
	std::uint64_t sent_again() const;
	std::uint64_t bytes_on_their_way() const;
	std::uint64_t session() const { return session_; }

private:
	using Time = std::chrono::steady_clock::time_point;
	// A message on its way. `file` "": blocks.
	struct Sent {
		std::shared_ptr<TraceTail> tail;
		BlockRun blocks;
		std::string file;
		std::uint64_t offset = 0;
	};
	// The description of a trace that is on its way.
	struct Description {
		TraceTail::Content content;
		unsigned restarts = 0;
	};

	void look(Time now);
	void receive(Forwarder::Received received, Time now);
	void take(std::uint64_t number, const Answer &answer, Time now);
	void take_for_blocks(std::uint64_t number, const Answer &answer, Time now);
	void take_for_piece(std::uint64_t number, const Answer &answer, Time now);
	bool is_of_this_store(TraceTail &tail, const Answer &answer, Time now);
	void fill_window(Time now);
	void send_due(Time now);
	bool encode(const Sent &sent);
	void add_piece(const std::shared_ptr<TraceTail> &tail, std::uint64_t offset);
	void forget(const TraceTail &tail, Time now);
	void report(const std::string &cause, const std::string &sentence, Time now);
	std::shared_ptr<TraceTail> find(const std::string &directory) const;

	Forwarder &forwarder_;
	const std::function<void(const std::string &)> report_;
	const std::uint64_t session_;
	mutable std::mutex mutex_; // of all that follows
	std::vector<std::shared_ptr<TraceTail>> tails_;
	SendWindow window_;
	std::map<std::uint64_t, Sent> sent_; // what the window has, by number
	std::map<const TraceTail *, Description> descriptions_;
	std::map<const TraceTail *, Time> other_store_; // when another collector took over last
	std::map<std::string, Time> reported_;
	std::uint64_t next_number_ = 1;
	std::uint64_t instance_ = 0; // of the collector that answered last; 0: none yet
	std::size_t next_tail_ = 0;
	std::vector<std::byte> message_; // that is being encoded
	Time last_look_{}, last_save_{};
};

} // namespace monitor::fleet
