// SPDX-License-Identifier: MIT
// The threads of a simulation (simulation.cpp): drain thread and writer, which decide as those in recording/rings, and
// the load of a CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "arrivals.h"
#include "base/buffering/drain_pace.h"
#include "pool_model.h"
#include "reading/simulation/machine.h"
#include "ring_model.h"
#include "service_times.h"

namespace monitor::plan {

struct SimulatedRing {
	RingModel blocks;
	std::uint32_t cpu, level;
	std::uint32_t program;  // 0: the kernel's
	bool has_woken = false; // since the last pass
};

// What all threads of a simulation share.
struct SharedState {
	SharedState(const Arrivals &all, const ServiceTimes &service, const simulation::SchedulerSettings &scheduler,
		    std::uint32_t pool_blocks, std::uint32_t seed)
	    : arrivals(all), times(service), machine(scheduler), pool(pool_blocks), random(seed)
	{
	}

	// From a wake-up until the thread runs.
	Nanoseconds latency();
	// The work that this CPU has done for its programs so far.
	double work_of(std::uint32_t cpu) const { return static_cast<double>(machine.cpu_time(loads[cpu])); }
	bool has_waiting_blocks() const;

	const Arrivals &arrivals;
	const ServiceTimes &times;
	simulation::Machine machine;
	PoolModel pool;
	std::mt19937 random;
	std::vector<SimulatedRing> rings;            // the kernel's first
	std::vector<simulation::ThreadNumber> loads; // by CPU
};

class WriterModel : public simulation::Thread {
public:
	// `disk_ns`: to write a block; negative: as recorded.
	WriterModel(SharedState &shared, double disk_ns) : shared_(shared), disk_ns_(disk_ns) {}

	void add(std::uint64_t cpus) { number_ = shared_.machine.add(*this, cpus, 1); }
	Nanoseconds next() override;
	void wake();
	Nanoseconds cpu_time() const { return shared_.machine.cpu_time(number_); }
	std::uint64_t writes() const { return writes_; }

private:
	enum class Stage { waiting, working, on_disk };

	Nanoseconds next_write();
	Nanoseconds disk_time(Nanoseconds work) const;

	SharedState &shared_;
	double disk_ns_;
	simulation::ThreadNumber number_ = 0;
	Stage stage_ = Stage::waiting;
	std::vector<PooledBlocks> batch_; // the last one is written next
	bool was_whole_ = false;          // the last batch was as large as one can be
	bool is_posted_ = false;          // the semaphore
	Nanoseconds on_disk_ = 0;
	std::uint64_t writes_ = 0;
};

class DrainModel : public simulation::Thread {
public:
	DrainModel(SharedState &shared, WriterModel &writer) : shared_(shared), writer_(writer), pace_(time()) {}

	void add(std::uint64_t cpus) { number_ = shared_.machine.add(*this, cpus, 1); }
	void start() { wait(); }
	Nanoseconds next() override;
	// A ring has become half full, of the kernel or of a program.
	void wake_for(bool of_program);
	// The load has ended.
	void stop();
	Nanoseconds cpu_time() const { return shared_.machine.cpu_time(number_); }
	unsigned fullest() const { return fullest_; }
	std::uint64_t passes() const { return passes_; }

private:
	static constexpr std::uint32_t max_copied_at_once = 8; // blocks; then they are free for the load

	buffering::DrainPace::Time time() const
	{
		return buffering::DrainPace::Time(std::chrono::nanoseconds(shared_.machine.now()));
	}
	Nanoseconds begin_pass();
	Nanoseconds copy_next();
	std::uint64_t plan_ring(const SimulatedRing &ring);
	void release_copied();
	void end_pass();
	bool is_pass_requested() const;
	void wait();
	void wake_at(buffering::DrainPace::Time when);

	SharedState &shared_;
	WriterModel &writer_;
	buffering::DrainPace pace_;
	simulation::ThreadNumber number_ = 0;
	bool is_waiting_ = false, is_stopping_ = false;
	bool kernel_woke_ = false, program_woke_ = false; // since the pass began
	bool stalled_ = false; // the last pass left blocks of the kernel in their rings: the pool was full
	std::uint64_t wait_number_ = 0;
	// Of the pass in progress:
	std::size_t ring_ = 0;               // planned next, or copied from
	std::uint64_t left_ = 0;             // blocks of it to copy
	bool is_ring_planned_ = false;       // at ring_
	std::uint32_t copied_ = 0;           // blocks that are being copied
	std::uint64_t left_of_programs_ = 0; // blocks that may still be taken of all, and of each
	std::vector<std::uint64_t> left_of_program_;
	unsigned pass_fill_ = 0; // the highest fill, by fill_for_pace() for the kernel's rings

	unsigned fullest_ = 0;
	std::uint64_t passes_ = 0;
};

class LoadModel : public simulation::Thread {
public:
	// Its work is `pace` times as long as recorded.
	LoadModel(SharedState &shared, DrainModel &drain, const std::vector<Step> &steps, double pace,
		  std::function<void()> on_end)
	    : shared_(shared), drain_(drain), steps_(steps), pace_(pace), on_end_(std::move(on_end))
	{
	}

	void start(simulation::ThreadNumber number);
	Nanoseconds next() override;

private:
	Nanoseconds work_of(const Step &step);
	void close(const Step &step);

	SharedState &shared_;
	DrainModel &drain_;
	const std::vector<Step> &steps_;
	double pace_;
	std::function<void()> on_end_;
	simulation::ThreadNumber number_ = 0;
	std::size_t at_ = 0;
	bool has_begun_ = false; // the step at_
	double saved_ = 0;       // by events that were discarded, in ns as recorded: the next step is shorter
};

} // namespace monitor::plan
