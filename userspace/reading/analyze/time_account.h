// SPDX-License-Identifier: MIT
// The CPUs of a fold (thread_fold.h) and the times that are added up: how much of a time is within the window, which
// thread's it is, and in which mode. Delivers each time to TimeObservers (observer.h). Time is added when it has
// passed, with the CPU's state until then; a wait or a sleep when it ends.
// Invariant: the sum of a CPU's times is that of the window up to Cpu::accounted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "fold_settings.h"
#include "observer.h"
#include "reading/events/merge.h"
#include "scope.h"
#include "thread.h"
#include "thread_table.h"
#include "throttles.h"

namespace monitor::analyze {

class TimeAccount {
public:
	// `attached`: the time while all probes were attached, as far as known.
	TimeAccount(std::shared_ptr<const FoldSettings> settings, trace::TimeRange attached);

	void add(TimeObserver &observer) { observers_.push_back(&observer); }

	Cpu &cpu(std::uint32_t number)
	{
		number = std::min(number, largest_cpu);
		if (number >= cpus_.size()) [[unlikely]]
			add_cpus(number);
		return cpus_[number];
	}
	std::vector<Cpu> &cpus() { return cpus_; }
	const std::vector<Cpu> &cpus() const { return cpus_; }

	std::uint64_t first() const { return first_; } // from here on all probes were attached
	std::uint64_t last() const { return last_; }
	std::uint64_t begin() const { return begin_; } // of the window
	std::uint64_t end() const { return end_; }
	// Whether states are followed at this time: all probes were attached.
	bool is_followed(std::uint64_t time) const { return time >= first_ && time <= last_; }
	bool is_whole() const { return begin_ == first_ && end_ == last_; }
	void set_last(std::uint64_t time);
	// Events without a time only list states: the recording began with the first that has one.
	void begin_at(std::uint64_t time);

	// The mode of a CPU whose running thread is known.
	Mode mode_on(const Cpu &cpu) const;

	// Adds the CPU's time since the last call.
	void account(Cpu &cpu, std::uint64_t time);
	// It turned out which thread had the CPU in the time so far that has no thread.
	void found(Thread &thread, Cpu &cpu);
	// No thread will be found for that time.
	void leave_unfound(Cpu &cpu) const;
	// Treats the time until `to` like a gap.
	void skip(Cpu &cpu, std::uint64_t to);
	void waited(Thread &thread, std::uint64_t from, std::uint64_t to, bool is_throttled) const;
	void slept(Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker) const;
	// The thread's usage until now belongs to the cgroup `before`, which it leaves; a wait or a sleep is divided
	// when it ends.
	void move(Thread &thread, std::uint64_t before, std::uint64_t cgroup, std::uint64_t time);

	// Corrections of times already added.
	// The fault never completed: when the thread returned to user mode, before a token that shows it elsewhere, is
	// unknown.
	void fault_never_completed(Thread &thread, Cpu &cpu) const;
	// The thread has been in the kernel since it was switched in: a call or a fault since then would have a token.
	void was_in_kernel(Thread &thread, Cpu &cpu) const;
	// Kernel code runs between the last exit token and user mode, and between that and this entry token: that much
	// of the user time becomes unattributed.
	void unattribute_edge(Thread &thread, Cpu &cpu, std::uint64_t edge_ticks) const;

	void end_window(std::uint64_t time, ThreadTable &threads, const Throttles &throttles);
	void begin_window(ThreadTable &threads);
	// Sleeps and waits that are added later continue at the end.
	void finish();

	// For a copy: its CPUs refer to these threads, and it has no observers.
	void separate(const ThreadTable::Copies &copies);

private:
	static constexpr std::uint32_t largest_cpu = 8192;

	void add_cpus(std::uint32_t number);
	Mode mode_of(const Thread &thread) const;
	// Into what is before, within and after the window.
	Ticks divide(std::uint64_t from, std::uint64_t to) const;
	static void add_unknown_runner(Cpu &cpu, std::uint64_t ticks);
	static void ran(Thread &thread, const Cpu &cpu, Mode mode, const Ticks &ticks);
	void add_interval(Thread &thread, std::uint64_t Usage::*figure, std::uint64_t from, std::uint64_t to) const;
	void notify_lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to) const;
	void notify_spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool is_idle) const;
	void notify_moved(const Cpu &cpu, Mode from, Mode to, std::uint64_t ticks) const;

	std::shared_ptr<const FoldSettings> settings_;
	std::vector<TimeObserver *> observers_;
	std::vector<Cpu> cpus_;
	std::uint64_t first_, last_, begin_, end_;
	bool is_finishing_ = false;
};

} // namespace monitor::analyze
