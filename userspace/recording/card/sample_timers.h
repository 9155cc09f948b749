// SPDX-License-Identifier: MIT
// The timers of record --sample-every with the BPF card: a perf event on each CPU, whose hrtimer bpf/sample.bpf.c
// recognizes, also while the CPU is idle. Owned by BpfCard, which attaches that program.
//
// No kernel timer interrupts all CPUs at once, so these are started at the same time, each by a thread on its CPU. They
// stay in step, because the kernel computes each expiry from the previous one, not from when that was handled.
#pragma once

#include <cstdint>
#include <functional>

#include "base/fd.h"
#include "cpu_events.h"
#include "rounds.h"

struct card;
struct bpf_program;

namespace monitor::card {

class SampleTimers {
public:
	// `every_ns`: 0: there are none.
	SampleTimers(::card *skeleton, std::uint64_t every_ns, unsigned cpus);

	// Between opening and loading.
	void configure();
	bool any() const { return every_ns_ != 0; }
	// The loaded variant of the program.
	bpf_program *program() const;
	// Starts sampling. Call after the program is attached. Throws Error.
	void start();
	// Starts the timer of a CPU that came online, in step with the others. Throws Error.
	void start_late(unsigned cpu, Fd timer);
	const CpuEvents &timers() const { return timers_; }
	void stop();
	// Measures the CPU time of a sample. Posts samples.
	CalibratedCost time_sample(const std::function<void()> &attach, const std::function<void()> &detach);

private:
	void open();

	::card *skeleton_;
	std::uint64_t every_ns_;
	bool shows_registers_ = true; // whether the kernel shows the interrupted registers
	unsigned cpus_;
	CpuEvents timers_;
	std::uint64_t start_ns_ = 0; // monotonic, of all
};

} // namespace monitor::card
