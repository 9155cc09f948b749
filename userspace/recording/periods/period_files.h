// SPDX-License-Identifier: MIT
// The files of record --statistics: one per period, written atomically, and removed when too old, also those of earlier
// recordings in the directory. Works in its own thread, so that a slow disk does not delay the producer.
//
// Ages are by clocks that cannot be set. These stop while a machine is off, so that time does not count.
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
#include <optional>
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
		std::int64_t end_ns = 0;        // by a clock that cannot be set; decides when to remove
		std::vector<std::byte> blocks;
		std::string description;           // new metadata of the trace; "": unchanged
		std::function<void()> after_write; // called in the writing thread after the file exists
	};

	// Existing files by name: how long ago their periods ended.
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
		std::int64_t end_ns; // of an earlier recording's file, relative to the start
	};

	void remove_unfinished() const;
	std::optional<Period> wait_for_next();
	void run();
	void write(const Period &period);
	void remove_old(std::int64_t now_ns);
	void stop();

	const std::string directory_;
	const std::uint64_t keep_ns_;
	std::deque<File> files_; // the oldest first
	bool is_first_ = true;   // before the first period
	std::mutex lock_;        // of:
	std::condition_variable changed_;
	std::deque<Period> waiting_;
	std::string failure_; // a message; "": none
	bool is_over_ = false;
	std::thread thread_; // last: it uses all of the above
};

} // namespace monitor::record
