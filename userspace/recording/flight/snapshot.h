// SPDX-License-Identifier: MIT
// One snapshot of a flight recorder: a trace directory of its own, written while the flight goes on. Made by flight.cpp
// in the main thread, filled by flight_recorder.cpp in the thread that reads the rings.
//
// take() passes blocks to a writer of its own, as the drain does in other recordings, and counts their tokens by class:
// what the files must hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flight_rings.h"
#include "recording/card/classes.h"
#include "recording/recorder/snapshot_question.h"
#include "recording/rings/blocks.h"
#include "recording/rings/clock.h"
#include "recording/rings/failure.h"
#include "recording/rings/writer.h"

namespace monitor::record {

// The extent and the losses of a snapshot, complete after it was read.
struct SnapshotAccount {
	unsigned number = 0;
	SnapshotRequest request;
	Sync asked, end;                  // the request, and the end of the complete part
	std::uint64_t begin = 0;          // start of the recording
	std::uint64_t programs_since = 0; // older events of programs were overwritten
	std::uint64_t from = 0;           // start of the part complete on all CPUs
	std::vector<std::uint64_t> since; // by CPU
	std::vector<RingPart> rings;
	std::uint64_t held_ns = 0;             // how long nothing was overwritten
	std::uint64_t wall_ns = 0, cpu_ns = 0; // from `from` to `end`; and the recorder's CPU time meanwhile
	ClockDescription clock;                // of the trace
	bool settled = true;                   // no probe was in progress at the end
	std::uint64_t overwritten_blocks =
	    0; // of programs and the recorder: for lack of memory, since the flight began
	std::vector<std::uint64_t> tokens_by_class = std::vector<std::uint64_t>(1 << EDC_ID_BITS);

	std::uint64_t control_tokens() const;
	std::uint64_t kernel_tokens() const;
	std::uint64_t discarded() const;
	std::uint64_t overwritten() const;
};

// A new trace directory; removed by the destructor unless keep(true).
class SnapshotDirectory {
public:
	// Throws Error.
	explicit SnapshotDirectory(std::string path);
	~SnapshotDirectory();
	SnapshotDirectory(const SnapshotDirectory &) = delete;
	SnapshotDirectory &operator=(const SnapshotDirectory &) = delete;

	const std::string &path() const { return path_; }
	bool is_kept() const { return is_kept_; }
	void keep(bool is_kept) { is_kept_ = is_kept; }

private:
	std::string path_;
	bool is_kept_ = false;
};

class Snapshot {
public:
	// Creates the directory and the writer. Throws Error.
	Snapshot(std::string directory, std::vector<std::string> streams, std::size_t max_added, BlockPool &pool,
		 const card::PayloadWords &words, SnapshotAccount account);

	// For the thread that reads the rings. False: the pool has no room now. `is_user`: of a program's ring.
	bool take(StreamNumber stream, const std::byte *block, bool is_user);
	void add_streams(const std::vector<std::string> &names);

	SnapshotAccount &account() { return account_; }
	const SnapshotAccount &account() const { return account_; }
	const std::string &directory() const { return directory_.path(); }
	// Whether the destructor keeps the directory; not if it would be unreadable.
	bool is_kept() const { return directory_.is_kept(); }
	void keep(bool is_kept) { directory_.keep(is_kept); }
	const Writer &writer() const { return writer_; }
	// Completes writing. Returns an error message, or "".
	std::string finish();

private:
	void count(const std::byte *block);

	SnapshotDirectory directory_;
	Fd lock_;
	BlockPool &pool_;
	const card::PayloadWords &words_;
	SnapshotAccount account_;
	Failure failure_;
	std::size_t added_ = 0;
	Writer writer_;
};

} // namespace monitor::record
