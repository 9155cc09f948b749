// SPDX-License-Identifier: MIT
// The sample fold: what the CPUs were doing when all of them were sampled (record --sample-every), by process and by
// CPU; how many samples are missing; and how far apart in time the samples of a round were. An Observer of ThreadFold.
// Samples are counted, not times: a share is of the samples taken, with the uncertainty of any sampling. A round is the
// samples of one number. Numbers are consecutive: if a CPU lacks one, its sample was not taken, or was lost. Memory is
// bounded: a round in which not all CPUs have answered is closed after `max_open` later ones have started.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "thread_fold.h"

namespace monitor::analyze {

struct SampledProcess {
	const Thread *leader = nullptr; // tid 0: the CPU was idle
	std::uint64_t user = 0, kernel = 0, idle = 0;

	std::uint64_t samples() const { return user + kernel + idle; }
};

struct SampledCpu {
	std::uint64_t samples = 0, idle = 0;
	std::uint64_t first = 0, last = 0; // numbers of rounds
	std::uint64_t rounds = 0;          // in which the CPU answered
};

// Times from the first to the last answer of a round, in ticks.
struct Spreads {
	std::uint64_t min = ~0ull, max = 0;
	Histogram histogram;

	void add(std::uint64_t ticks);
};

class SampleFold : public Observer {
public:
	// Throws Error if the trace has no class of samples.
	explicit SampleFold(const ThreadFold &fold);

	void sample(const Cpu &cpu, const Thread &thread, const Sample &sample) override;
	// After the last event.
	void finish();

	std::uint64_t samples() const { return samples_; } // of single CPUs
	std::uint64_t rounds() const { return rounds_; }
	std::uint64_t complete() const { return complete_; } // rounds with the largest number of answers
	// Spreads of the complete rounds. Empty: no round has two CPUs.
	const Spreads &spreads() const { return spreads_; }
	// By descending samples.
	std::vector<SampledProcess> processes() const;
	// nullptr: it was never sampled.
	const SampledCpu *cpu(std::uint32_t number) const;
	// Rounds between the first and the last one of the trace without an answer of this CPU. The first and the last
	// are excluded: they may be incomplete because the recording, or the selected time, begins or ends there.
	std::uint64_t missing(const SampledCpu &cpu) const;
	std::uint64_t missing() const; // of all CPUs that were ever sampled

private:
	struct Round {
		std::uint64_t first = 0, last = 0;
		std::uint32_t cpus = 0;
	};
	static constexpr std::size_t max_open = 64;

	void close(const Round &round);

	const ThreadFold &fold_;
	std::unordered_map<const Thread *, SampledProcess> by_thread_;
	std::map<std::uint32_t, SampledCpu> by_cpu_;
	std::map<std::uint64_t, Round> open_;
	Spreads spreads_;
	std::uint32_t cpus_ = 0; // the largest number of CPUs in a round
	std::uint64_t samples_ = 0, rounds_ = 0, complete_ = 0, first_ = ~0ull, last_ = 0;
};

} // namespace monitor::analyze
