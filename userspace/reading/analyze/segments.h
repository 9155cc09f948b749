// SPDX-License-Identifier: MIT
// The segment fold: counts from one selective reset (record --reset-on, or a trigger) to the next one of the same
// thread, wherever it ran and without other threads' counts; or of the same CPU, whatever ran there. An Observer of
// ThreadFold, fed after the CounterFold.
// A segment that spans a loss is in no row: a reset within it may have been lost.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "counter_fold.h"
#include "thread_fold.h"

namespace monitor::analyze {

enum class SegmentBy : std::uint8_t { process, thread, cpu };

struct SegmentRow {
	std::string from, to;     // names of the resets
	std::string name;         // of the process or thread
	std::uint64_t number = 0; // pid, tid or CPU
	bool in_tree = false;     // of the recorded command
	std::uint64_t count = 0;
	std::uint64_t total = 0, mean = 0, p50 = 0, p99 = 0, max = 0; // ticks from reset to reset
	CounterSums counted;
};

class SegmentFold : public Observer {
public:
	// Throws Error if the trace has no resets. The same ThreadFold feeds `counters` before this.
	SegmentFold(SegmentBy by, const trace::Description &description, const ThreadFold &fold,
		    const CounterFold &counters);

	void counters(const Cpu &cpu, const trace::Event &event) override;

	SegmentBy by() const { return by_; }
	std::uint64_t resets() const { return resets_; }
	// Segments in no row because they span a loss.
	std::uint64_t interrupted() const { return interrupted_; }
	// Resets for which the running thread is unknown.
	std::uint64_t unknown() const { return unknown_; }
	// By descending total.
	std::vector<SegmentRow> rows() const;

private:
	struct Open {
		std::uint64_t reset = 0, time = 0, gaps = 0;
		CounterSums counted; // counts up to the reset
	};
	struct Group {
		const Thread *thread = nullptr; // the first thread seen in the row
		std::uint64_t count = 0, total = 0, max = 0;
		CounterSums counted;
		Histogram histogram;
	};
	// Ids of the resets at start and end; address of a leader or thread, or a CPU.
	using SegmentKey = std::array<std::uint64_t, 3>;

	std::uint64_t owner_of(const Cpu &cpu) const;

	SegmentBy by_;
	const ThreadFold &fold_;
	const CounterFold &counters_;
	std::uint32_t id_ = 0; // class id of the resets
	trace::FieldRef reset_;
	std::unordered_map<std::uint64_t, Open> open_; // by thread's address, or CPU
	std::map<SegmentKey, Group> groups_;
	std::uint64_t resets_ = 0, interrupted_ = 0, unknown_ = 0;
};

} // namespace monitor::analyze
