// SPDX-License-Identifier: MIT
// The picture of a trace: which thread each CPU ran, where each thread ran and when it waited for a CPU, and in which
// mode the CPUs were. Made from the fold (reading/analyze/thread_fold.h), so its sums are those of `monitor report`.
// Next in the flow: tile.cpp, for the page.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lane.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::view {

// How a CPU's time is spent in a picture: the modes of the fold, and idle.
constexpr std::size_t mode_idle = analyze::modes;
constexpr std::size_t picture_modes = analyze::modes + 1;

// In their order.
inline std::vector<std::string> mode_names()
{
	static_assert(picture_modes == 7);
	return {"user", "kernel", "irq", "softirq", "unattributed", "unknown", "idle"};
}

// Keys of a CPU's lane that are no thread.
constexpr std::uint32_t key_unknown = 0xffffffff, key_offline = 0xfffffffe;

struct Group;

// Where a thread ran while it was in a cgroup.
struct Stay {
	std::uint64_t first = 0;  // ticks: what is in its lane begins then
	std::uint64_t cgroup = 0; // its ID; 0: unknown
	Lane runs{0};             // the key is the CPU
};

struct ThreadLanes {
	std::int32_t tid = 0, tgid = 0;
	std::size_t number = 0;    // its place in ThreadFold::threads(): numbers of threads are used again
	std::uint64_t first = 0;   // ticks: what is in its lanes begins then
	std::uint32_t cpu = 0;     // of the idle thread: each CPU has one
	std::string name, command; // command: the name of its process
	bool in_tree = false;
	std::vector<Stay> stays = {}; // in the order of time, most often one
	Lane waits{0};                // for a CPU

	std::uint64_t ran() const; // ticks
	// Of all stays, or those that the group has (groups.h), as of a lane.
	std::vector<Slice> runs(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
				const Group *group = nullptr) const;
};

struct CpuLane {
	std::uint32_t number = 0;
	Lane threads; // the key is the place of the thread's lanes, or key_unknown, key_offline; nothing: idle
	// Of each bin of Timeline::mode_bin_ticks() the ticks in each mode.
	std::vector<std::array<std::uint64_t, picture_modes>> modes;
	// The last stretch's: the next one is often in the same bin, and of the same thread.
	std::uint64_t bin = 0, bin_begin = 0;
	const analyze::Thread *thread = nullptr;
	std::uint32_t place = 0;
};

class Timeline final : public analyze::TimeObserver {
public:
	// Bins of the finest level, about: what is finer is read again when it is asked for (window.h).
	static constexpr std::uint64_t usual_bins = 1 << 18;

	// From `begin` to `end`, ticks of the trace's clock. `max_bytes`: of the slices of threads, and half as much of
	// those of CPUs, which is what a page shows first; further levels of the ones or of the others are given up for
	// it.
	Timeline(std::uint64_t begin, std::uint64_t end, std::size_t cpus, std::size_t max_bytes,
		 std::uint64_t bins = usual_bins);
	// For a part of another one: from this level on, without modes. `of_threads`: else only of CPUs.
	Timeline(const Timeline &whole, unsigned first_level, std::size_t max_bytes, bool of_threads);

	// As it was kept (picture_cache.h), after finish().
	explicit Timeline(KeptReader &reader);
	void keep(KeptWriter &writer) const;

	void spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode,
		   bool is_idle) override;
	void found(const analyze::Cpu &cpu, const analyze::Thread &thread) override;
	void offline(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	void moved(const analyze::Cpu &cpu, analyze::Mode from, analyze::Mode to, std::uint64_t ticks) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	// After the fold's own.
	void finish(const analyze::ThreadFold &fold);

	// The same without lanes: of all CPUs the modes so far.
	Timeline modes_only() const;

	const std::vector<CpuLane> &cpus() const { return cpus_; }
	const std::vector<ThreadLanes> &threads() const { return threads_; }
	std::uint64_t begin() const { return begin_; }
	std::uint64_t ticks() const { return ticks_; }
	std::uint64_t base_ticks() const { return base_ticks_; }
	std::uint64_t mode_bin_ticks() const { return mode_bin_ticks_; }
	// From 0 to 1: which part of it is before this time of the trace's clock.
	double part_before(std::uint64_t time) const
	{
		return static_cast<double>(std::clamp(time, begin_, begin_ + ticks_) - begin_) /
		       static_cast<double>(ticks_);
	}
	// The lanes of a thread, by its number, and of several those that began last at this time; of an idle thread
	// those of this CPU. no_place: there are none.
	static constexpr std::uint32_t no_place = ~std::uint32_t(0);
	std::uint32_t find(std::int32_t tid, std::uint32_t cpu, std::uint64_t ticks) const;
	// The numbers of threads that the kernel hides, of those that ran.
	const std::vector<std::int32_t> &hidden() const { return hidden_; }
	// The finest level of which all slices were kept: of CPUs, of threads, of both.
	unsigned cpus_level() const { return cpus_level_; }
	unsigned threads_level() const { return threads_level_; }
	unsigned first_level() const { return std::max(cpus_level_, threads_level_); }

private:
	struct Interval {
		std::uint64_t from, to;
	};

	std::size_t index_of(const analyze::Cpu &cpu)
	{
		return cpu.number < cpu_index_.size() && cpu_index_[cpu.number] != no_place ? cpu_index_[cpu.number]
											    : add_cpu(cpu.number);
	}
	std::size_t add_cpu(std::uint32_t number);
	Lane &runs_of(std::uint32_t place, const analyze::Thread &thread, std::uint64_t ticks);
	std::uint32_t place_of(const analyze::Thread &thread, std::uint32_t cpu, std::uint64_t ticks);
	template <class Add> void each_bin(CpuLane &lane, std::uint64_t from, std::uint64_t to, const Add &add) const;
	void had(CpuLane &lane, const analyze::Thread &thread, std::uint64_t from, std::uint64_t to);
	void had_hidden(CpuLane &lane, const analyze::Thread &thread, std::uint64_t from, std::uint64_t to);
	void coarsen_modes();
	void sort_by_tid();
	void leave_unfound(std::size_t cpu);
	std::size_t bytes_of_cpus() const;
	std::size_t bytes_of_threads() const;
	void keep_within();

	std::uint64_t begin_, ticks_, base_ticks_, mode_bin_ticks_;
	std::size_t max_bytes_, adds_ = 0;
	unsigned cpus_level_ = 0, threads_level_ = 0;
	bool of_threads_ = true;
	std::vector<CpuLane> cpus_;
	std::vector<ThreadLanes> threads_;
	std::unordered_map<const analyze::Thread *, std::uint32_t> places_;
	// Of the threads looked for last, by number.
	std::array<std::pair<const analyze::Thread *, std::uint32_t>, 1024> recent_{};
	std::vector<std::int32_t> hidden_;
	std::vector<std::uint32_t> by_tid_;          // places, by number, CPU if it is idle, and first
	std::vector<std::uint32_t> cpu_index_;       // by CPU number
	std::vector<std::vector<Interval>> unfound_; // by CPU: it is not known yet who had it
};

} // namespace monitor::view
