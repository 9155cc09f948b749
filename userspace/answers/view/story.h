// SPDX-License-Identifier: MIT
// What one thread did in a part of the time, and why: where it ran, when it waited for a CPU, in which call it slept,
// and who woke it. Whoever woke it has a story too: going from one to the next leads to the cause of a delay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reading/analyze/machine.h"

namespace monitor::view {

class Story final : public analyze::Observer, public analyze::TimeObserver {
public:
	static constexpr std::size_t max_rows = 1000;

	// Fed by this machine; times are told as ticks since `begin`.
	Story(const analyze::Machine &machine, std::int32_t tid, std::uint64_t begin)
	    : machine_(machine), tid_(tid), begin_(begin)
	{
	}

	void spent(const analyze::Cpu &cpu, const analyze::Stretch &stretch) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void found(const analyze::Cpu &, const analyze::Thread &) override {}
	void moved(const analyze::Cpu &, analyze::Mode, analyze::Mode, std::uint64_t) override {}
	void lost(const analyze::Cpu &, std::uint64_t, std::uint64_t) override {}

	// {tid, pid, name, rows: [{from, to, what: runs | waits | sleeps, ...}], left_out}. Of `runs`: cpu, and its
	// ticks in user and kernel mode and in interrupts; of `sleeps`: call, waker, waker_tid, what is not known being
	// null.
	nlohmann::ordered_json told() const;

private:
	struct Row {
		enum class What { runs, waits, sleeps } what;
		std::uint64_t from, to;
		std::uint32_t cpu = 0, call = 0;
		std::uint64_t user = 0, kernel = 0, interrupts = 0;
		analyze::Waker waker = {};
	};

	bool is_full();

	const analyze::Machine &machine_;
	std::int32_t tid_;
	std::uint64_t begin_, left_out_ = 0;
	std::vector<Row> rows_; // in the order in which they ended
};

} // namespace monitor::view
