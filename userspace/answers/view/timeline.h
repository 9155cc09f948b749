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

// The modes of a CPU in a picture: those of the fold, and idle.
constexpr std::size_t mode_idle = analyze::modes;
constexpr std::size_t picture_modes = analyze::modes + 1;

// In the order of the modes.
inline std::vector<std::string> mode_names()
{
	static_assert(picture_modes == 7);
	return {"user", "kernel", "irq", "softirq", "unattributed", "unknown", "idle"};
}

// Keys in a CPU's lane that are not threads.
constexpr std::uint32_t key_unknown = 0xffffffff, key_offline = 0xfffffffe;

struct Group;

// Where a thread ran while it was in a cgroup.
struct Stay {
	std::uint64_t first = 0;  // ticks: start of its lane
	std::uint64_t cgroup = 0; // its ID; 0: unknown
	Lane runs{0};             // the key is the CPU
};

struct ThreadLanes {
	std::int32_t tid = 0, tgid = 0;
	std::size_t number = 0;    // index in ThreadFold::threads(), as TIDs are reused
	std::uint64_t first = 0;   // ticks: start of its lanes
	std::uint32_t cpu = 0;     // for idle threads, of which each CPU has one
	std::string name, command; // command: the name of its process
	bool in_tree = false;
	std::vector<Stay> stays = {}; // in the order of time; usually one
	Lane waits{0};                // for a CPU

	std::uint64_t ran() const; // ticks
	// The slices of all stays, or of those in the group (groups.h), as in a lane.
	std::vector<Slice> runs(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
				const Group *group = nullptr) const;
};

struct CpuLane {
	std::uint32_t number = 0;
	Lane threads; // the key is the index of the thread's lanes, or key_unknown, key_offline; nothing: idle
	// The ticks in each mode, per bin of Timeline::mode_bin_ticks().
	std::vector<std::array<std::uint64_t, picture_modes>> modes;
	// Of the last stretch, as the next one is often in the same bin, and of the same thread.
	std::uint64_t bin = 0, bin_begin = 0;
	const analyze::Thread *thread = nullptr;
	std::uint32_t thread_index = 0;
};

class Timeline final : public analyze::TimeObserver {
public:
	// Approximate number of bins of the finest level: finer levels are read again when requested (window.h).
	static constexpr std::uint64_t usual_bins = 1 << 18;

	// From `begin` to `end`, in ticks of the trace's clock. `max_bytes`: limit of the slices of threads; half as
	// much for those of CPUs, which a page shows first. Beyond a limit, fine levels are dropped.
	Timeline(std::uint64_t begin, std::uint64_t end, std::size_t cpus, std::size_t max_bytes,
		 std::uint64_t bins = usual_bins);
	// For a part of another timeline: from this level on, without modes. `of_threads`: false: only CPUs.
	Timeline(const Timeline &whole, unsigned first_level, std::size_t max_bytes, bool of_threads);

	// From the cache (picture_cache.h), after finish().
	explicit Timeline(CacheReader &reader);
	void save(CacheWriter &writer) const;

	void spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode,
		   bool is_idle) override;
	void found(const analyze::Cpu &cpu, const analyze::Thread &thread) override;
	void offline(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	void moved(const analyze::Cpu &cpu, analyze::Mode from, analyze::Mode to, std::uint64_t ticks) override;
	void waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	// Called after the fold's finish().
	void finish(const analyze::ThreadFold &fold);

	// A copy with the modes of all CPUs so far, without lanes.
	Timeline modes_only() const;

	const std::vector<CpuLane> &cpus() const { return cpus_; }
	const std::vector<ThreadLanes> &threads() const { return threads_; }
	std::uint64_t begin() const { return begin_; }
	std::uint64_t ticks() const { return ticks_; }
	std::uint64_t base_ticks() const { return base_ticks_; }
	std::uint64_t mode_bin_ticks() const { return mode_bin_ticks_; }
	// The fraction of the timeline before this time of the trace's clock, from 0 to 1.
	double fraction_before(std::uint64_t time) const
	{
		return static_cast<double>(std::clamp(time, begin_, begin_ + ticks_) - begin_) /
		       static_cast<double>(ticks_);
	}
	// The index of a thread's lanes, by its number: of several threads the one that began last at this time; of
	// idle threads this CPU's. no_index: there is none.
	static constexpr std::uint32_t no_index = ~std::uint32_t(0);
	std::uint32_t find(std::int32_t tid, std::uint32_t cpu, std::uint64_t ticks) const;
	// TIDs of hidden threads that ran.
	const std::vector<std::int32_t> &hidden() const { return hidden_; }
	// The finest level with all slices: of CPUs, of threads, of both.
	unsigned cpus_level() const { return cpus_level_; }
	unsigned threads_level() const { return threads_level_; }
	unsigned first_level() const { return std::max(cpus_level_, threads_level_); }

private:
	struct Interval {
		std::uint64_t from, to;
	};

	std::size_t index_of(const analyze::Cpu &cpu)
	{
		return cpu.number < cpu_index_.size() && cpu_index_[cpu.number] != no_index ? cpu_index_[cpu.number]
											    : add_cpu(cpu.number);
	}
	std::size_t add_cpu(std::uint32_t number);
	Lane &runs_of(std::uint32_t index, const analyze::Thread &thread, std::uint64_t ticks);
	std::uint32_t thread_index_of(const analyze::Thread &thread, std::uint32_t cpu, std::uint64_t ticks);
	template <class Add> void each_bin(CpuLane &lane, std::uint64_t from, std::uint64_t to, const Add &add) const;
	void add_run(CpuLane &lane, const analyze::Thread &thread, std::uint64_t from, std::uint64_t to);
	void add_hidden_run(CpuLane &lane, const analyze::Thread &thread, std::uint64_t from, std::uint64_t to);
	void coarsen_modes();
	void sort_by_tid();
	void add_unfound_as_unknown(std::size_t cpu);
	std::size_t bytes_of_cpus() const;
	std::size_t bytes_of_threads() const;
	void limit_memory();

	std::uint64_t begin_, ticks_, base_ticks_, mode_bin_ticks_;
	std::size_t max_bytes_, adds_ = 0;
	unsigned cpus_level_ = 0, threads_level_ = 0;
	bool of_threads_ = true;
	std::vector<CpuLane> cpus_;
	std::vector<ThreadLanes> threads_;
	std::unordered_map<const analyze::Thread *, std::uint32_t> thread_indices_;
	// A cache of the last threads looked up, by number.
	std::array<std::pair<const analyze::Thread *, std::uint32_t>, 1024> recent_{};
	std::vector<std::int32_t> hidden_;
	std::vector<std::uint32_t> by_tid_;          // indices, sorted by number, CPU if idle, and first
	std::vector<std::uint32_t> cpu_index_;       // by CPU number
	std::vector<std::vector<Interval>> unfound_; // by CPU: intervals whose thread is not known yet
};

} // namespace monitor::view
