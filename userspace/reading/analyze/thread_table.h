// SPDX-License-Identifier: MIT
// The threads of a fold (thread_fold.h) by number, the idle threads by CPU, and the leaders of processes. Also which
// threads have known states: a loss invalidates the states of all that do not run.
// Invariants: a thread keeps its address until it is removed; then the slot is reused. All numbers that no thread can
// have share one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fold_settings.h"
#include "thread.h"
#include "tid_table.h"

namespace monitor::analyze {

class ThreadTable {
public:
	explicit ThreadTable(std::shared_ptr<const FoldSettings> settings) : settings_(std::move(settings)) {}

	std::deque<Thread> &all() { return threads_; }
	const std::deque<Thread> &all() const { return threads_; }

	Thread *find(std::int32_t tid) const { return by_tid_.find(tid); } // null: no token named it
	// A thread that no token has introduced is its own process for now.
	Thread &get(std::int32_t tid)
	{
		Thread *thread = find(tid);
		return thread ? *thread : add(tid);
	}
	// A new thread has the number from now on.
	Thread &add(std::int32_t tid);
	// A row without a number, for the sum of several threads.
	Thread &add_sum(Sum sum, std::string name);
	Thread &idle(const Cpu &cpu);
	// Null: it never had the CPU.
	const Thread *find_idle(const Cpu &cpu) const
	{
		return cpu.number < idle_.size() ? idle_[cpu.number] : nullptr;
	}
	// The thread that a switch names.
	Thread &runner(const Cpu &cpu, std::int32_t tid) { return tid == 0 ? idle(cpu) : get(tid); }

	// The first thread of its process, or the thread itself if that is unknown.
	const Thread &leader(const Thread &thread) const;
	// The process of this thread has more than its leader.
	void note_leader(const Thread &thread);
	std::unordered_set<const Thread *> scheduled() const;
	std::uint64_t hidden() const;
	// The list of threads includes hidden ones.
	bool lists_hidden() const { return lists_hidden_; }
	void set_lists_hidden() { lists_hidden_ = true; }

	// Id of the thread's cgroup; 0: unknown.
	std::uint64_t cgroup_of(const Thread &thread) const
	{
		return thread.cgroup ? thread.cgroup : leader(thread).cgroup;
	}
	// By the scope, in its current cgroup.
	bool is_selected(const Thread &thread) const
	{
		const Scope &scope = settings_->scope;
		return thread.selected && (!scope.cgroups || scope.includes_cgroup(cgroup_of(thread)));
	}
	template <class Visit> void visit_cgroups(const Thread &thread, Visit &&visit) const
	{
		Usage before;
		const auto visit_until = [&](std::uint64_t cgroup, Usage usage) {
			const Usage until = usage;
			usage -= std::exchange(before, until);
			if (settings_->scope.includes_cgroup(cgroup))
				visit(cgroup, usage);
		};
		for (const CgroupStay &stay : thread.left)
			visit_until(stay.cgroup, stay.so_far);
		visit_until(cgroup_of(thread), thread.usage);
	}

	// Whether the thread's state is known: it has had a token since the last loss.
	bool is_known(const Thread &thread) const { return thread.epoch == epoch_ && thread.state != State::unknown; }
	bool has_lost() const { return epoch_ != 1; }
	// Called at a token of the thread: resets what a loss since its last one invalidated.
	void renew(Thread &thread) const;
	static void forget_ring(Thread &thread);
	static void forget(Thread &thread) { thread.epoch = 0; }
	// Only threads on a CPU keep known states.
	void lose_others(const std::vector<Cpu> &cpus);
	// The thread is runnable since its creation.
	void set_created(Thread &thread, std::uint64_t time) const;
	// A snapshot's thread without a token so far: it was in this state since `first`, as its first token, or the
	// lack of one, shows. One that was created later would have a creation token.
	void set_since_first(Thread &thread, State state, std::uint64_t first) const;

	// Indices of threads that have ended, or for which is_gone() is true; a leader stays as long as its process.
	std::vector<std::uint32_t> ended(const std::vector<Cpu> &cpus,
					 const std::function<bool(const Thread &)> &is_gone) const;
	void remove(const std::vector<std::uint32_t> &indices);

	// For a copy: points it to its own threads from now on; returns them by the original's.
	using Copies = std::unordered_map<const Thread *, Thread *>;
	Copies separate_from(const ThreadTable &original);
	std::size_t bytes() const { return threads_.size() * sizeof(Thread) + by_tid_.bytes(); }

private:
	std::shared_ptr<const FoldSettings> settings_;
	std::deque<Thread> threads_;
	std::vector<std::uint32_t> free_; // indices of removed threads
	TidTable<Thread *> by_tid_;
	std::vector<Thread *> idle_; // by CPU
	std::uint32_t epoch_ = 1;    // incremented at each loss
	bool lists_hidden_ = false;
};

} // namespace monitor::analyze
