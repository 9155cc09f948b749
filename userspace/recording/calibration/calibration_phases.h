// SPDX-License-Identifier: MIT
// record --calibrate: what an event costs in the recorded command itself. A thread detaches all probes for 8 to 32 ms
// at a time, 2 % of the time, and measures the command's progress during, directly before and after each such phase.
//
// Constructed by Recording after privileges are dropped; start() when the command may run, stop() before the probes are
// detached for good, finish() when all blocks are drained. Each phase is a gap in the streams of the CPUs
// (BpfCard::resume()).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/recording_file/calibration.h"
#include "phase_estimate.h"
#include "phase_events.h"
#include "recording/card/bpf_card.h"
#include "recording/rings/clock.h"
#include "recording/rings/failure.h"
#include "tree_progress.h"

namespace monitor::record {

using recording_file::PhaseCost;

class CalibrationPhases {
public:
	// `after_phase` is called in the thread. Detaches and attaches the probes once; throws Error if the kernel
	// refuses.
	CalibrationPhases(card::BpfCard &card, bool invariant_tsc, pid_t command, Failure &failure,
			  std::function<void()> after_phase);
	~CalibrationPhases() { stop(); }

	void start()
	{
		thread_ = failure_.watched([this] { run(); });
	}
	void stop(); // leaves the probes attached
	// From the drain thread: a closed block of a CPU's first ring.
	void count_block(const std::byte *block) { events_.count_block(block); }
	PhaseCost finish(std::uint64_t lost) const;

private:
	using Clock = std::chrono::steady_clock;
	// The interval between two readings.
	struct Part {
		TreeProgress begin, end;
		std::size_t number = 0; // in events_
		bool is_whole = false;
	};
	struct Parts {
		Part before, without, after;
		std::unordered_set<std::int32_t> threads;
	};

	void run();
	bool wait_until(Clock::time_point time); // false: the recording ends
	std::uint64_t now() const { return read_sync(invariant_tsc_).time; }
	Part measure(Clock::time_point until, bool with_probes, std::unordered_set<std::int32_t> &threads);
	Clock::duration make_phase(Clock::duration length); // returns the time without probes
	void resume(std::uint64_t since);
	void show_quiet_cpus(std::uint64_t since) const;
	PhasePart part_of(const Part &part, const std::unordered_set<std::int32_t> &threads, PhaseCost *sums) const;

	card::BpfCard &card_;
	const bool invariant_tsc_;
	const pid_t command_;
	Failure &failure_;
	const std::function<void()> after_phase_;
	std::mt19937 random_{std::random_device()()};
	std::mutex lock_; // of:
	std::condition_variable stops_;
	bool stopping_ = false;
	std::thread thread_;
	PhaseEvents events_;
	std::vector<Parts> phases_; // the thread's until stop()
	PhaseCost account_;
	Clock::duration cpu_of_reading_{};
};

} // namespace monitor::record
