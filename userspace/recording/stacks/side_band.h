// SPDX-License-Identifier: MIT
// perf's side-band records of all processes on all CPUs: mappings of code, exec, fork and exit. perf_event_open(2):
// PERF_RECORD_MMAP2, COMM, FORK, EXIT of a dummy event. Opened with privileges, read without.
//
// Records of different CPUs are unordered: use their times.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "base/fd.h"

namespace monitor::stacks {

struct Change {
	enum class Kind : std::uint8_t { mapped, executed, created, ended } kind = Kind::mapped;
	std::int32_t process = 0;
	std::int32_t parent = 0; // for `created`
	std::uint64_t monotonic_ns = 0;
	// for `mapped`:
	std::uint64_t start = 0, end = 0, offset = 0;
	std::string path; // or [vdso], //anon ...
	std::uint64_t device = 0, inode = 0, generation = 0;
};

class SideBand {
public:
	static constexpr unsigned at_once = 1, late = 64 << 10; // values for `wakeup_bytes` (wakeup_watermark)

	// Throws Error.
	SideBand(unsigned cpus, unsigned wakeup_bytes);
	// Attributes of the per-CPU event.
	static perf_event_attr attributes(unsigned wakeup_bytes);
	// Adds the event of a CPU that came online. Any thread. Throws Error.
	void add(unsigned cpu, Fd event);

	std::vector<int> fds() const; // readable when there are records
	// All new records, sorted by time.
	std::vector<Change> take();
	std::uint64_t lost() const { return lost_; }

private:
	struct Ring {
		unsigned cpu = 0;
		Fd fd;
		Mapping memory;
	};
	void take(Ring &ring, std::vector<Change> &changes);
	void take_record(const std::vector<std::byte> &record, std::vector<Change> &changes);

	mutable std::mutex lock_;
	std::vector<Ring> rings_;
	std::uint64_t lost_ = 0;
};

} // namespace monitor::stacks
