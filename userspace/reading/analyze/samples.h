// SPDX-License-Identifier: MIT
// The sample fold: what the CPUs were doing when all of them were sampled at once (record --sample-every), by process;
// and how far apart in time the answers of one round were. Fed by Machine as an Observer; read by
// answers/report/samples_table.cpp.
//
// Samples are counted, not times: a share is of all samples of the recording, with the uncertainty of any sampling.
// Memory is bounded: a round in which not all CPUs have answered is closed after `max_open` later ones have started.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "machine.h"

namespace monitor::analyze {

struct SampledProcess {
	const Thread *leader = nullptr; // tid 0: the CPU was idle
	std::uint64_t user = 0, kernel = 0, idle = 0;

	std::uint64_t samples() const { return user + kernel + idle; }
};

class SampleFold : public Observer {
public:
	// Throws Error if the trace has no class of samples.
	explicit SampleFold(const Machine &machine);

	void sample(const Cpu &cpu, const Thread &thread, const Sample &sample) override;
	// After the last event.
	void finish();

	std::uint64_t samples() const { return samples_; } // of single CPUs
	std::uint64_t rounds() const { return spreads_.total(); }
	std::uint64_t complete() const { return complete_; } // rounds in which the largest number of CPUs answered
	const Histogram &spreads() const { return spreads_; }
	std::uint64_t largest_spread() const { return largest_spread_; }
	// By descending samples.
	std::vector<SampledProcess> processes() const;

private:
	struct Round {
		std::uint64_t first = 0, last = 0;
		std::uint32_t cpus = 0;
	};
	static constexpr std::size_t max_open = 64;

	void close(const Round &round);

	const Machine &machine_;
	std::unordered_map<const Thread *, SampledProcess> by_thread_;
	std::map<std::uint64_t, Round> open_;
	std::map<std::uint32_t, std::uint64_t> rounds_by_cpus_;
	Histogram spreads_; // ticks
	std::uint64_t samples_ = 0, complete_ = 0, largest_spread_ = 0;
};

} // namespace monitor::analyze
