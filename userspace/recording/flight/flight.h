// SPDX-License-Identifier: MIT
// record --flight: snapshots, from the request to the finished trace directory. Main thread only; the rings are read in
// the thread of flight_recorder.cpp.
//
// One snapshot at a time: later requests are queued, and get a snapshot each; pending signals coalesce into one
// request.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "begun_snapshots.h"
#include "flight_recorder.h"
#include "recording/triggers/triggers.h"
#include "snapshot.h"
#include "snapshot_requests.h"
#include "snapshot_window.h"

namespace monitor::record {

// The parts of the recording that a flight recorder uses. They must outlive it.
struct FlightParts {
	FlightOptions options;
	std::string directory;
	std::vector<std::string> kernel_streams; // of all rings, after the recorder's own
	std::size_t max_user_streams = 0;
	std::uint32_t pool_blocks = 0; // for writing snapshots; as many blocks of programs are kept
	card::BpfCard &card;
	card::UserCard *users;
	ClockSteering &steering;
	Failure &failure;
	SnapshotRequests &requests;
	Uuid uuid;
	std::function<std::string(const ClockDescription &)> description; // TSDL
	std::function<std::vector<edc_task>()> threads;                   // lists all threads
	Triggers *fired;                                                  // what fired; null: there are no triggers
	std::vector<NamedTrigger> triggers;
	std::function<void(const std::string &)> write_names;        // writes names of cgroups into a directory
	std::function<void(const std::string &)> write_initial_file; // recording.json, into a directory
	std::function<void(const Snapshot &, bool is_complete)> write_final_file; // recording.json again
	std::function<void(const std::string &)> on_snapshot;                     // with a message; may be empty
};

class Flight {
public:
	// Call when every probe is attached. Throws Error.
	explicit Flight(FlightParts parts);

	// Starts to keep the newest blocks of programs, too.
	void start();
	// Handles a firing: begins a snapshot if the trigger held the rings; if it ends the recording, serve() returns
	// that when no snapshot is in progress.
	void fired(const Firing &firing, const NamedTrigger &trigger);
	// Call serve() when one of these is readable.
	std::vector<pollfd> fds() const { return {{parts_.requests.fd(), POLLIN, 0}, {recorder_.fd(), POLLIN, 0}}; }
	// Begins and finishes snapshots. Returns the reason to end the recording, or "".
	std::string serve();
	// Ends the recording: pending requests are served with the present as their end.
	void end(const std::string &reason);
	// Evaluates triggers for what programs have posted so far.
	void poll_programs() { recorder_.poll_programs(); }
	// Must be called before the cards are destroyed.
	void stop() { recorder_.stop(); }

	std::uint64_t snapshots() const { return finished_; }
	std::uint64_t failed() const { return failed_; }
	std::uint64_t left_out() const { return left_out_; }

private:
	nlohmann::ordered_json state() const;
	void write(bool is_over) const;
	void try_write(bool is_over) const;
	void begin(SnapshotRequests::Received received);
	void take_requests();
	void take_window_of_trigger(SnapshotRequest &request) const;
	SnapshotWindow window_of(const SnapshotRequests::Received &received) const;
	bool join(const SnapshotRequests::Received &received) const;
	void announce_begun(const SnapshotRequests::Received &received, bool was_held);
	void arm();
	void note_result(const std::string &failure);
	void finish();
	std::string message_about(const Snapshot &snapshot) const;
	double seconds(std::uint64_t from, std::uint64_t to) const;

	FlightParts parts_;
	const ClockDescription start_clock_;
	const double frequency_hz_;
	const card::PayloadWords words_;
	BlockPool pool_;
	std::deque<SnapshotRequests::Received> waiting_;
	std::unique_ptr<Snapshot> current_;
	Fd caller_;                                       // of the current snapshot
	std::string end_reason_;                          // why the recording ends, once that is known
	std::uint64_t delay_until_ns_ = 0, delay_ns_ = 0; // delay of triggers' snapshots after a failure
	std::uint64_t left_out_ = 0;                      // firings while another snapshot was in progress
	unsigned begun_ = 0, finished_ = 0, failed_ = 0;
	std::string failure_;      // why the last snapshot could not be written; "": it was
	BegunSnapshots announced_; // as flight.json has them
	SnapshotWindow newest_;    // of the newest snapshot
	FlightRecorder recorder_;  // last: its thread uses the current snapshot
};

} // namespace monitor::record
