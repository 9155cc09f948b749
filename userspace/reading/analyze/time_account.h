// SPDX-License-Identifier: MIT
// The CPUs of a fold (thread_fold.h) and the times that it adds up: what of a time is within the window, whose it is,
// and in which mode. Delivers each to TimeObservers (observer.h). Time is added when it has passed, with the state that
// the CPU had until then; of a wait or a sleep when it ends.
//
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
	// `attached`: all probes were, as far as that is known.
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

	std::uint64_t first() const { return first_; } // all probes were attached
	std::uint64_t last() const { return last_; }
	std::uint64_t begin() const { return begin_; } // of the window
	std::uint64_t end() const { return end_; }
	bool is_followed(std::uint64_t time) const { return time >= first_ && time <= last_; }
	bool is_whole() const { return begin_ == first_ && end_ == last_; }
	void set_last(std::uint64_t time);
	// Of events without a time nothing is known but what they say: the recording began with the first that has one.
	void begin_at(std::uint64_t time);

	// How the time of a CPU whose running thread is known is spent.
	Mode mode_on(const Cpu &cpu) const;

	// Adds what has passed on the CPU since the last time.
	void account(Cpu &cpu, std::uint64_t time);
	// It turned out who had the CPU in the time without a thread so far.
	void found(Thread &thread, Cpu &cpu);
	// Nobody will be found to have had it.
	void leave_unfound(Cpu &cpu) const;
	// As if it was in a gap from the last time until `to`.
	void skip(Cpu &cpu, std::uint64_t to);
	void waited(Thread &thread, std::uint64_t from, std::uint64_t to, bool is_throttled) const;
	void slept(Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker) const;
	// What it used until now it used in the cgroup that it leaves; a wait or a sleep is divided when it ends.
	// `before`: the cgroup that it was in.
	void move(Thread &thread, std::uint64_t before, std::uint64_t cgroup, std::uint64_t time);

	// Corrections of what was added.
	// For the time from a fault's entry, without a completion, to a token that shows the thread elsewhere: when it
	// returned to user mode is unknown.
	void fault_never_completed(Thread &thread, Cpu &cpu) const;
	// It has been in the kernel since it was switched in: a call or a fault since then would have a token.
	void was_in_kernel(Thread &thread, Cpu &cpu) const;
	// The kernel's path from the last exit to user mode, and from there to this entry's token, is outside all
	// brackets: it is not user time.
	void take_edge(Thread &thread, Cpu &cpu, std::uint64_t edge_ticks) const;

	void end_window(std::uint64_t time, ThreadTable &threads, const Throttles &throttles);
	void begin_window(ThreadTable &threads);
	// Sleeps and waits that are added later go on at the end.
	void finish();

	// Of a copy: its CPUs have these threads, and it has no observers.
	void separate(const ThreadTable::Copies &copies);

private:
	static constexpr std::uint32_t largest_cpu = 8192;

	void add_cpus(std::uint32_t number);
	Mode mode_of(const Thread &thread) const;
	Ticks ticks(std::uint64_t from, std::uint64_t to) const;
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
