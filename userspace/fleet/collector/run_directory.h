// SPDX-License-Identifier: MIT
// A run on the collector's disk: the directory of each host's trace, and what is stored there.
//
//     RUN/HOST/                    its first trace; a part, such as a snapshot, is a directory in it
//     RUN/HOST/UUID/               further traces of the same host
//     RUN/.monitor/fleet.json      the accounts, from which a restarted collector continues
//     RUN/.monitor/collection.json the hosts, so that every reader takes RUN for a collection of traces
//
//     RUN/.monitor/unaccounted/    of a host's first trace, what an earlier collector stored without accounting for it
//
// Not locked, except that write() may run beside the rest, in one thread at a time. A trace is placed at once, and
// answered after the next write() (syncer.h), which covers all that came meanwhile. Invariant: a host writes below
// RUN/HOST only, and the number of its files is bounded; what the accounts say is stored agrees with the sizes of the
// files.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "fleet/wire/batch.h"
#include "fleet/wire/names.h"

namespace monitor::fleet {

inline constexpr std::size_t max_traces_of_host = 256, max_streams_of_trace = 16384, max_descriptions_of_trace = 64;
// Periods of statistics are files, too: one per second for a week.
inline constexpr std::size_t max_periods_of_trace = 604'800;

// One trace of a host.
struct StoredTrace {
	std::string directory;    // relative to RUN
	std::uint64_t number = 0; // among all traces of the run, in order
	struct StoredStream {
		std::uint64_t size = 0, blocks = 0; // in blocks: of the file with holes; stored
	};
	std::map<std::string, StoredStream> streams;
	std::map<std::string, std::uint64_t> descriptions; // their sizes in bytes
	// Streams whose directory entries were or are being synced by this process.
	std::set<std::string> synced_entries;

	std::uint64_t blocks() const; // stored
	// The size of all its files in blocks, with holes.
	std::uint64_t size() const;
};

struct StoredHost {
	std::vector<Uuid> uuids;                                    // the first one's trace is RUN/HOST itself
	std::map<std::pair<Uuid, std::string>, StoredTrace> traces; // by uuid and part
	std::uint64_t batches = 0, repeated = 0, conflicts = 0, conflicts_kept = 0, sessions = 0, last_seen_ns = 0;
	std::map<std::string, std::uint64_t> refused; // messages, by reason
};

class RunDirectory {
public:
	// Creates or continues a run. Throws Error: the directory is something else, or another collector writes it.
	RunDirectory(const std::string &path, const std::string &run, const Shard &shard = {});

	// `host`: satisfies is_host_name(). nullptr: too many; sets `why`. Throws Error if its directory cannot be
	// created. Nothing of the trace may be acknowledged before accounts() with at least its number of traces() are
	// on the disk.
	StoredTrace *find_or_add(const std::string &host, const Uuid &uuid, const std::string &part, std::string &why);
	StoredHost &host(const std::string &name) { return hosts_[name]; }
	const std::map<std::string, StoredHost> &hosts() const { return hosts_; }

	std::string path_of(const StoredTrace &stored, const std::string &file) const
	{
		return path_ + '/' + stored.directory + '/' + file;
	}
	const std::string &path() const { return path_; }
	const std::string &run() const { return run_; }
	// Id of the directory.
	std::uint64_t store() const { return store_; }
	// Id of this collector process.
	std::uint64_t instance() const { return instance_; }

	// Part of the accounts, initially from an earlier collector.
	nlohmann::ordered_json cost;
	nlohmann::ordered_json accounts() const;
	// The number of traces in the accounts.
	std::uint64_t traces() const { return traces_; }
	// Directories whose new entries may not be on the disk: to be synced before the accounts are written.
	std::set<std::string> take_unsynced_directories() { return std::exchange(unsynced_directories_, {}); }
	void return_unsynced_directories(const std::set<std::string> &unsynced)
	{
		unsynced_directories_.insert(unsynced.begin(), unsynced.end());
	}
	// A message to report; "": none.
	std::string take_notice() { return std::exchange(notice_, ""); }

	// Throws Error.
	void write(const nlohmann::ordered_json &accounts);

private:
	StoredTrace *add(const std::string &host, const Uuid &uuid, const std::string &part, std::string &why);
	void make_directory(const std::string &path);
	void set_unaccounted_aside(const std::string &host);
	void load();
	void load_host(const std::string &name, const nlohmann::json &json);
	void read_stored(StoredTrace &stored) const;
	void write_collection(const nlohmann::ordered_json &accounts);

	std::string path_, run_;
	const Shard shard_;
	Fd lock_;
	std::uint64_t store_ = 0;
	const std::uint64_t instance_;
	std::map<std::string, StoredHost> hosts_;
	std::uint64_t traces_ = 0;
	std::set<std::string> unsynced_directories_;
	std::string notice_;
	std::size_t hosts_in_collection_ = 0; // number of hosts in collection.json; used by write() only
};

} // namespace monitor::fleet
