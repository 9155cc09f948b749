// SPDX-License-Identifier: MIT
// What one thread did in a part of the time, and why: where it ran, when it waited for a CPU, in which call it slept,
// and what woke it. Following wakers' stories leads to the cause of a delay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "reading/analyze/recorded.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::view {

class Story final : public analyze::TimeObserver {
public:
	static constexpr std::size_t max_rows = 1000;

	// For the thread at this index of ThreadFold::threads(), an observer of this fold; times are ticks since
	// `begin`.
	Story(const analyze::ThreadFold &fold, std::size_t thread, std::uint64_t begin)
	    : fold_(fold), thread_(thread), begin_(begin)
	{
	}

	void spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode,
		   bool is_idle) override;
	void found(const analyze::Cpu &cpu, const analyze::Thread &thread) override;
	void moved(const analyze::Cpu &cpu, analyze::Mode from, analyze::Mode to, std::uint64_t ticks) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void throttled(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	void slept(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker,
		   bool is_over) override;

	// {tid, pid, name, rows: [{from, to, what: runs | waits | throttled | sleeps, ...}], left_out}. `runs` has cpu,
	// and ticks by mode, null if not recorded; `sleeps` has call, waker, waker_tid and waker_thread, null if
	// unknown; and whether it is over.
	nlohmann::ordered_json json(const analyze::Recorded &recorded) const;

private:
	struct Interval {
		enum class What { runs, waits, throttled, sleeps } what;
		std::uint64_t from, to;
		std::uint32_t cpu = 0, call = 0;
		std::array<std::uint64_t, analyze::modes> modes{};
		analyze::Waker waker = {};
		bool is_over = true;
	};
	struct Unfound {
		std::uint32_t cpu;
		std::uint64_t from, to;
	};

	bool is_ours(const analyze::Thread &thread) const;
	void run(std::uint32_t cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode);
	void add(Interval row);

	const analyze::ThreadFold &fold_;
	std::size_t thread_;
	std::uint64_t begin_, left_out_ = 0;
	std::vector<Interval> rows_;                     // in the order of their ends
	Interval last_run_{Interval::What::waits, 0, 0}; // even if it was left out
	bool last_run_kept_ = false;
	std::vector<Unfound> unfound_;
};

} // namespace monitor::view
