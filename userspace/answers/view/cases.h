// SPDX-License-Identifier: MIT
// The durations of system calls, sleeps, or waits for a CPU in a part of the trace, and the longest ones; waits are cut
// at the edges of the part. A table's row leads to them, and each of them to its place in the lanes. An observer of a
// fold with a scope (picture.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/histogram.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::view {

// Which durations.
struct CasesWanted {
	enum class Of { calls, sleeps, waits } of = Of::waits;
	std::optional<std::int32_t> pid, tid;
	std::optional<std::string> call; // as in EventKinds::syscall_label(); for sleeps also "-": in none
	std::uint64_t min_ticks = 0, max_ticks = ~std::uint64_t(0);
};

class Cases final : public activities::Observer, public analyze::TimeObserver {
public:
	static constexpr std::size_t max_longest = 20;

	// `begin`: of the picture; times in the answer count from there.
	Cases(const analyze::ThreadFold &fold, CasesWanted wanted, std::uint64_t begin)
	    : fold_(fold), wanted_(std::move(wanted)), begin_(begin)
	{
	}

	void finished(const activities::Finished &activity) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void throttled(const analyze::Thread &, std::uint64_t, std::uint64_t) override {}

	// After the last event.
	void finish();
	// {count, total, bars: [[from, to, count]], longest: [{from, to, thread, tid, pid, name, call}]}, in ticks,
	// longest first. `thread` is its index in ThreadFold::threads().
	nlohmann::ordered_json json() const;

private:
	struct Case {
		std::uint64_t from, to;
		const analyze::Thread *thread;
		std::uint32_t call;
	};

	void add(const Case &found);

	const analyze::ThreadFold &fold_;
	CasesWanted wanted_;
	std::uint64_t begin_, count_ = 0, total_ = 0;
	Histogram histogram_;
	std::vector<Case> longest_;            // a heap, shortest first
	std::vector<Case> of_unknown_process_; // until a token names the process, or all threads were listed
};

} // namespace monitor::view
