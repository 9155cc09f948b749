// SPDX-License-Identifier: MIT
// The files of a recording of statistics (record --statistics): one for each period, written whole and then given its
// name, and removed when it is older than what is to be kept, whichever recording into the directory wrote it. In a
// thread of its own, so that a slow disk does not hold up who makes the periods.
//
//     PeriodFiles files(directory, keep_ns);
//     files.add({...});        // throws Error if an earlier one could not be written
//     files.finish();          // all are written
//
// Called by answers/live/live_statistics.cpp. Next in the flow: any reader of the trace, also while it grows.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace monitor::record {

class PeriodFiles {
public:
	static constexpr const char *prefix = "statistics_";

	struct Period {
		std::int64_t begin_wall_ns = 0; // for the name
		std::int64_t end_ns = 0;        // of a clock that nobody sets: by it is kept
		std::vector<std::byte> blocks;
		std::string description;    // the trace's metadata as it is now; "": as it was
		std::function<void()> also; // called in the thread that writes, once the period is there
	};

	// `keep_ns`: 0: all.
	PeriodFiles(std::string directory, std::uint64_t keep_ns);
	~PeriodFiles();

	void add(Period period);
	void finish();

private:
	static constexpr std::size_t max_waiting = 16;

	struct File {
		std::string path;
		std::int64_t end_ns; // of an earlier recording's file, before the first period: from now on
	};

	static std::deque<File> files_of(const std::string &directory);
	void run();
	void write(const Period &period);
	void remove_old(std::int64_t now_ns);
	void stop();

	const std::string directory_;
	const std::uint64_t keep_ns_;
	std::deque<File> files_; // the oldest first
	bool is_first_ = true;   // no period has been written yet
	std::mutex lock_;        // of:
	std::condition_variable changed_;
	std::deque<Period> waiting_;
	std::string failure_; // a sentence; "": none
	bool is_over_ = false;
	std::thread thread_; // last: it uses all of the above
};

} // namespace monitor::record
