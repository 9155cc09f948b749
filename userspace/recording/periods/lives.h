// SPDX-License-Identifier: MIT
// record --statistics continues in the directory of an earlier recording: long-term monitoring is restarted by the same
// command line after a reboot, a crash or an upgrade. Each recording there is a *life* of one trace, with a common
// uuid, clock and list of periods.
//
// Trace time continues: after a reboot, a life's times are shifted by the elapsed real time. Earlier contents of
// recording.json are kept in `lives`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/fd.h"
#include "base/recording_file/contents.h"
#include "period_files.h"
#include "recording/rings/clock.h"

namespace monitor::record {

struct EarlierLives {
	Uuid uuid{};
	std::uint64_t time_shift = 0; // trace time - this life's own time, in ticks; modulo 2^64
	std::uint64_t threads_since =
	    0; // for readers: start time of threads older than the recording, the first life since the boot
	std::vector<recording_file::Life> lives;   // in recording.json, the oldest first
	std::vector<RealTimeStep> real_time_steps; // in all lives, and between two lives of one boot
	bool same_boot = false;                    // as the newest life
	std::map<std::uint64_t, std::string> cgroups;
	std::set<std::uint64_t> ambiguous_cgroups; // ids that were another cgroup's in another life

	// This life's clock, shifted to trace time.
	ClockDescription shifted(ClockDescription own) const;
	// This life's contents with `lives`, as written.
	recording_file::Contents with_lives(recording_file::Contents own) const;
	// Stream numbers are unique over all lives.
	std::uint32_t first_stream() const { return static_cast<std::uint32_t>(lives.size()) << 20; }

	// The earlier files that this life replaces, and existing periods.
	std::string recording_text, description_text, names_text;
	std::map<std::string, std::int64_t> periods; // how long ago each ended, in ns: see period_ages.h
	void restore(const std::string &directory) const;
};

// Whether the directory has a trace of statistics that can be continued.
bool has_statistics(const std::string &directory);

// Locks the directory. Throws Error if another recorder has it, it is a symbolic link, or its statistics differ in
// period or format.
Fd continue_in(const std::string &directory, const StatisticsOptions &options, EarlierLives &lives);

} // namespace monitor::record
