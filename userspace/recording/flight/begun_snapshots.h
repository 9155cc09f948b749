// SPDX-License-Identifier: MIT
// The newest snapshots of a flight recorder, announced as soon as the rings are held, long before they are written:
// `begun` in DIRECTORY/.monitor/flight.json.
//
// Kept and written by flight.cpp in the main thread; read by an agent's network process
// (fleet/agent/coordinated_snapshots.cpp), to which the file is untrusted.
// Invariant: parsing any bytes gives at most max_kept snapshots with texts of bounded size, in rising order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "recording/recorder/snapshot_question.h"

namespace monitor::record {

struct BegunSnapshot {
	unsigned number = 0; // its directory's
	SnapshotRequest::By by = SnapshotRequest::By::request;
	std::string why;
	std::string trigger;           // By::trigger: its name; "": unknown which
	std::uint64_t time = 0;        // of the trigger's event or the request; trace clock
	std::uint64_t realtime_ns = 0; // the same, since 1970
	std::uint64_t frozen_time = 0; // when the rings were held; trace clock
	std::uint64_t frozen_ns = 0;   // the same, since 1970
};

class BegunSnapshots {
public:
	static constexpr std::size_t max_kept = 16, max_text_bytes = 512;

	void add(BegunSnapshot snapshot);
	bool empty() const { return kept_.empty(); }
	const BegunSnapshot &newest() const { return kept_.back(); }
	nlohmann::ordered_json json() const;

private:
	std::deque<BegunSnapshot> kept_;
};

// Parses flight.json; empty if invalid.
std::vector<BegunSnapshot> parse_begun_snapshots(std::string_view untrusted_text);

} // namespace monitor::record
