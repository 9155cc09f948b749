// SPDX-License-Identifier: MIT
// How long something took each time in a part of the trace, and the times that took longest: system calls, sleeps, or
// waits for a CPU; waits are cut at the edges of the part. A table's row leads to them, and each of them to its place
// in the lanes. Fed by a fold with a scope (picture.cpp).
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

// Which of them.
struct CasesWanted {
	enum class Of { calls, sleeps, waits } of = Of::waits;
	std::optional<std::int32_t> pid, tid;
	std::optional<std::string> call; // as EventKinds::syscall_label() names it; of sleeps also "-": in none
	std::uint64_t min_ticks = 0, max_ticks = ~std::uint64_t(0);
};

class Cases final : public activities::Observer, public analyze::TimeObserver {
public:
	static constexpr std::size_t max_longest = 20;

	// `begin`: of the picture, which the answer's times count from.
	Cases(const analyze::ThreadFold &fold, CasesWanted wanted, std::uint64_t begin)
	    : fold_(fold), wanted_(std::move(wanted)), begin_(begin)
	{
	}

	void finished(const activities::Finished &activity) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void throttled(const analyze::Thread &, std::uint64_t, std::uint64_t) override {}

	// After the last event.
	void finish();
	// {count, total, bars: [[from, to, count]], longest: [{from, to, thread, tid, pid, name, call}]}, in ticks; the
	// longest first. `thread` is its place in ThreadFold::threads().
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
	std::vector<Case> longest_;            // a heap, the shortest first
	std::vector<Case> of_unknown_process_; // until a token names it, at the latest when all threads were listed
};

} // namespace monitor::view
