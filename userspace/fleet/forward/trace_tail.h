// SPDX-License-Identifier: MIT
// Follows a trace directory that a recorder writes, or has written: new whole blocks, changed descriptions.
//
// Of a trace that stays on the host (--forward on-demand) these are descriptions, and the blocks of requested windows;
// one more description, .monitor/fetched.json, states which these are (base/fetched_trace.h).
//
// One thread. The recorder is not involved: the directory is the spool. Files are opened for each read, so that any
// number of streams needs no descriptors. A trace is known once .monitor/recording.json has its uuid; it has ended when
// that file says `complete`, or when whoever started the recorder says so; and it is complete when, after that, all of
// it is stored. Invariant: recording.json with the end of the recording goes last, so the collector's copy says
// `complete` only if all that it is to have is there.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fleet/wire/batch.h"
#include "fleet/wire/fetch_request.h"
#include "progress.h"
#include "trace_clock.h"

namespace monitor::fleet {

struct TailOptions {
	std::string run, part;
	std::string progress_file;                             // "": not kept
	unsigned max_blocks = max_content_bytes / block_bytes; // of one batch
	// How long blocks may wait for a full batch.
	std::chrono::milliseconds max_age{500};
	Forward forward = Forward::batch; // unless its progress says otherwise
};

struct BlockRun {
	std::string stream;
	std::uint64_t first = 0;
	unsigned count = 0;
};

class TraceTail {
public:
	using Time = std::chrono::steady_clock::time_point;

	TraceTail(std::string directory, TailOptions options);

	// Looks for what is new. Throws Error if the directory cannot be read.
	void scan(Time now);
	bool is_known() const { return is_known_; }
	void set_ended() { has_ended_ = true; }
	bool has_ended() const { return has_ended_; }
	const std::string &directory() const { return directory_; }
	const TraceName &name() const { return name_; }

	// The next blocks to be sent, in turn from all streams.
	std::optional<BlockRun> next_blocks(Time now);
	// Returns 0 or errno. ENOENT: the blocks are gone, and were counted as vanished. After others, reading may work
	// later.
	int read(const BlockRun &run, std::span<std::byte> to);
	// The next description to be sent, with its content.
	struct Content {
		std::string file;
		std::string bytes;
		std::uint64_t hash = 0;
	};
	std::optional<Content> next_description(Time now);

	void stored(const BlockRun &run, unsigned conflicts);
	// Refused for good. If there are several blocks, they are sent again one by one, as one of them may be the
	// cause.
	void refused(const BlockRun &run);
	void description_stored(const std::string &file, std::uint64_t hash);
	// The description is to be read and sent again later.
	void description_again(const std::string &file, Time now);
	// For a new collector that has nothing of the trace.
	void start_again(std::uint64_t store);
	// Requests a part that otherwise stays on the host; executed once the trace is known. If the request names
	// another collector, that has nothing yet.
	void fetch(const FetchRequest &request);
	bool is_on_demand() const { return progress_.wanted.forward == Forward::on_demand; }
	std::uint64_t kept_blocks() const; // that were not requested
	// From its first event to its last one, in ns since 1970.
	std::optional<FetchedTrace::Window> span() const;

	// Whether everything is stored; only then may the trace be removed.
	bool is_complete() const { return progress_.is_complete; }
	std::uint64_t blocks() const; // seen so far
	std::uint64_t bytes() const;  // descriptions included
	TraceProgress &progress() { return progress_; }
	const TraceProgress &progress() const { return progress_; }
	// Saves the progress if it changed. Throws Error.
	void save();
	// Saves the progress unless that took long recently: a trace may have a file per second of a week
	// (--statistics).
	void save_if_due(Time now);

private:
	struct Stream {
		std::uint64_t blocks = 0; // seen
		BlockRanges wanted;       // blocks to be stored: all, or what was requested
		BlockRanges requested;    // of these, those that existed at the first look after the request
		BlockRanges handed_out;   // returned by next_blocks()
		std::optional<Time> waits_since;
		bool is_gone = false;
	};
	struct File {
		std::uint64_t size = 0;
		std::int64_t changed_ns = 0;
		bool is_due = false;
		Time returned_at{}; // when it was last returned
		Time not_before{};  // earliest time to return it again
	};

	void scan_all(Time now);
	void read_identity();
	void apply_request(const FetchRequest &request);
	void select_blocks(const std::string &name, Stream &stream) const;
	std::optional<TraceClock> clock() const;
	std::optional<Content> fetched_description();
	FetchedTrace fetched() const;
	std::uint64_t end_of(const FetchRequest &request) const;
	void fix_requested_blocks();
	bool is_request_done() const;
	bool blocks_are_stored(BlockRanges Stream::*which = &Stream::wanted) const;
	void scan_stream(const std::string &name, std::uint64_t bytes, Time now);
	void scan_files(const std::string &below);
	bool all_is_stored() const;
	void note_complete();
	void note_vanished(const std::string &stream, std::uint64_t first, std::uint64_t count);
	void note_absent(const std::string &stream, std::uint64_t first, std::uint64_t count);

	std::string directory_;
	TailOptions options_;
	TraceName name_;
	bool is_known_ = false, has_ended_ = false, is_changed_ = false;
	bool is_of_this_boot_ = false;       // recorded since this machine booted
	bool has_scanned_since_end_ = false; // a scan() has begun after the end: nothing more comes
	std::map<std::string, Stream> streams_;
	std::map<std::string, File> files_;
	std::string last_served_; // stream
	std::vector<BlockRun> resend_;
	bool is_description_out_ = false;    // next_description() returned one that was not answered yet
	bool is_fetched_due_ = false;        // fetched.json must be sent again
	bool is_requested_outdated_ = true;  // Stream::requested is for an earlier request
	std::vector<FetchRequest> requests_; // that arrived before the trace was known
	TraceProgress progress_;
	Time next_scan_{}, next_save_{}; // limited to a twentieth of the time each
};

} // namespace monitor::fleet
