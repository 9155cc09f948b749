// SPDX-License-Identifier: MIT
// The files of a recording of statistics (record --statistics): one for each period, written whole and then given its
// name, and removed when it is older than what is to be kept, whichever recording into the directory wrote it. In a
// thread of its own, so that a slow disk does not hold up who makes the periods.
//
// Ages are those of clocks that nobody sets. None goes on while a machine is off, so that time makes no period older.
//
//     PeriodFiles files(directory, keep_ns, ages);
//     files.add({...});        // throws Error if an earlier one could not be written
//     files.finish();          // all are written
//
// Next in the flow: any reader of the trace, also while it grows.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace monitor::record {

// --statistics: sums of periods instead of events.
struct StatisticsOptions {
	std::uint64_t period_ns = 0;
	std::uint64_t keep_ns = 0; // 0: all periods
	bool counts_only = false;  // --count-only: the numbers of events, by class
};

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

	// Of the files that are there, by name: how long ago their periods ended.
	using Ages = std::map<std::string, std::int64_t>;

	// `keep_ns`: 0: all.
	PeriodFiles(std::string directory, std::uint64_t keep_ns, const Ages &ages = {});
	~PeriodFiles() { stop(); }

	void add(Period period);
	void finish();

private:
	static constexpr std::size_t max_waiting = 16;

	struct File {
		std::string path;
		std::int64_t end_ns; // of an earlier recording's file, before the first period: from now on
	};

	void remove_unfinished() const;
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
