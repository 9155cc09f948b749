// SPDX-License-Identifier: MIT
// record --flight: snapshots, from the request to the finished trace directory. Used by recording.cpp in the main
// thread; the rings are read in the thread of flight_recorder.cpp.
//
// One snapshot at a time: requests that come meanwhile wait, and are answered by a snapshot of their own; signals that
// come while one waits are one request, as is usual for signals.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flight_recorder.h"
#include "recording.h"
#include "recording_file.h"
#include "snapshot.h"
#include "snapshot_requests.h"

namespace monitor::record {

// What a snapshot needs of the recording that it is part of.
struct FlightParts {
	FlightOptions options;
	std::string directory; // of the flight
	std::vector<std::string> kernel_streams;
	std::size_t max_user_streams = 0;
	std::uint32_t pool_blocks = 0;
	std::uint64_t kept_bytes = 0;
	std::function<std::string(const ClockDescription &)> description; // TSDL
	std::function<std::vector<edc_task>()> threads;                   // that there are
	std::function<void(const std::string &)> write_names;             // of cgroups, into a directory
	std::function<void(const std::string &)> on_snapshot;             // a sentence
};

class Flight {
public:
	// `file`: what is known of the recording. The references must outlive this. Throws Error.
	Flight(FlightParts parts, FlightRecorder &recorder, SnapshotRequests &requests, BlockPool &pool,
	       const card::BpfCard &card, const card::PayloadWords &words, const RecordingFile &file,
	       const ClockSteering &steering);

	// Call it when one of these is readable.
	std::vector<int> fds() const { return {requests_.fd(), recorder_.fd()}; }
	// Begins and finishes snapshots. Returns why the recording ends, or "".
	std::string serve();
	// The recording ends: waits for a snapshot that has begun, and refuses the others.
	void end(const std::string &reason, const Failure &failure);

	std::uint64_t snapshots() const { return finished_; }
	std::uint64_t incomplete() const { return failed_; }
	// .monitor/flight.json.
	void write(bool is_over) const;

private:
	void begin(SnapshotRequests::Asked asked);
	void finish();
	RecordingFile file_of(const Snapshot &snapshot, bool is_complete) const;
	std::string sentence(const Snapshot &snapshot) const;
	double seconds(std::uint64_t from, std::uint64_t to) const;

	FlightParts parts_;
	FlightRecorder &recorder_;
	SnapshotRequests &requests_;
	BlockPool &pool_;
	const card::BpfCard &card_;
	const card::PayloadWords &words_;
	const RecordingFile &file_;
	const ClockDescription start_clock_;
	std::deque<SnapshotRequests::Asked> waiting_;
	std::unique_ptr<Snapshot> current_;
	Fd caller_; // of the current one
	unsigned begun_ = 0, finished_ = 0, failed_ = 0;
	double frequency_hz_;
};

} // namespace monitor::record
