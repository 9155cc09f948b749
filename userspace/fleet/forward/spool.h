// SPDX-License-Identifier: MIT
// The spool of an agent: a directory in which each recording is SPOOL/RUN, a trace directory, and a limit of its size.
//
// Each step() finds new recordings, gives them to forwarding.h, and keeps the sum below the limit. Traces that the
// collector has stored are removed first, oldest first; if that is not enough, ended recordings that are not stored are
// dropped whole, oldest first, counted and reported. A running recording is never touched, nor is one dropped while it
// is unknown how much of it is stored, as after a restart of the agent. Progress is kept in SPOOL/.forwarded/RUN, of a
// snapshot in RUN~SNAPSHOT. Invariant: a trace exists whole or not at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "forwarding.h"
#include "trace_parts.h"

namespace monitor::fleet {

struct SpoolAccount {
	std::uint64_t bytes = 0, max_bytes = 0;
	std::uint64_t removed = 0;                     // traces that were stored
	std::uint64_t dropped = 0, dropped_blocks = 0; // traces that were not, and their blocks not stored
};

class Spool {
public:
	// `is_running`: whether a recorder writes SPOOL/RUN now. `forward`: policy of a new run; nullopt: the default.
	// Throws Error.
	Spool(const std::string &directory, std::uint64_t max_bytes, Forwarding &forwarding,
	      std::function<bool(const std::string &run)> is_running, std::function<void(const std::string &)> report,
	      std::function<Forward(const std::string &run)> forward = {});

	void step(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
	SpoolAccount account() const { return account_; }

private:
	struct Entry {
		std::string run, directory;
		std::uint64_t bytes = 0;
		std::int64_t changed_ns = 0;
		bool is_running = false, is_complete = false;
		bool is_known = true;             // its progress
		std::uint64_t missing_blocks = 0; // not stored
		std::vector<TracePart> parts;
	};

	std::vector<Entry> entries() const;
	std::string progress_file(const Entry &entry, const TracePart &part) const;
	bool may_remove(const Entry &entry, std::chrono::steady_clock::time_point now);
	void remove(const Entry &entry);
	void save_dropped(const Entry *being_removed) const;
	void load_dropped();

	std::string directory_;
	Forwarding &forwarding_;
	std::function<bool(const std::string &)> is_running_;
	std::function<void(const std::string &)> report_;
	std::function<Forward(const std::string &)> forward_;
	SpoolAccount account_;
	std::map<std::string, std::chrono::steady_clock::time_point> unknown_since_; // by run
	bool is_full_reported_ = false;
};

} // namespace monitor::fleet
