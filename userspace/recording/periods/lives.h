// SPDX-License-Identifier: MIT
// record --statistics goes on in the directory of an earlier recording: what watches for weeks is started again by the
// same command line, after a reboot, a crash or an upgrade. Each recording there is a *life* of one trace, which has
// the uuid, the clock and the periods of all of them.
//
// The trace's time goes on: where a life's own clock began anew, at a reboot, its times are moved by as many ticks as
// passed in real time. What a life left in recording.json stays in `lives`.
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
	    0; // when threads that were there before began, for readers: the first life since the boot
	std::vector<recording_file::Life> lives;   // in recording.json, the oldest first
	std::vector<RealTimeStep> real_time_steps; // of all of them, and between two within one boot
	bool same_boot = false;                    // as the newest
	std::map<std::uint64_t, std::string> cgroups;
	std::set<std::uint64_t> ambiguous_cgroups; // whose number another one had in another life

	// Of the clock in which this life's times are moved.
	ClockDescription moved(ClockDescription own) const;
	// As it is written.
	recording_file::Contents recording(recording_file::Contents own) const;
	// Numbers of streams: no two lives' are the same.
	std::uint32_t first_stream() const { return static_cast<std::uint32_t>(lives.size()) << 20; }

	// What another life replaces, as it was, and the files of periods that there were.
	std::string recording_text, description_text, names_text;
	std::map<std::string, std::int64_t> periods; // how long ago each ended, in ns: see period_ages.h
	void put_back(const std::string &directory) const;
};

// Whether there is a trace of statistics, so that a recording of them may go on there.
bool has_statistics(const std::string &directory);

// Locks the directory. Throws Error: another recorder has it, it is a symbolic link, or what was recorded there has
// other periods or another form.
Fd go_on_in(const std::string &directory, const StatisticsOptions &options, EarlierLives &lives);

} // namespace monitor::record
