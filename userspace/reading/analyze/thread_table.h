// SPDX-License-Identifier: MIT
// The threads of a fold (thread_fold.h): by number, the idle threads by CPU, and who leads whose process. It also says
// of which threads the state is still known: a loss ends that of all that do not run.
//
// Invariants: a thread keeps its address until it is given up, after which its slot is another's. All numbers that no
// thread can have share one thread.
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
	// A thread that was never named is its own process until a token says otherwise.
	Thread &get(std::int32_t tid)
	{
		Thread *thread = find(tid);
		return thread ? *thread : add(tid);
	}
	// It has the number from now on.
	Thread &add(std::int32_t tid);
	// A row of no number, for what several threads used.
	Thread &add_sum(Sum sum, std::string name);
	Thread &idle(const Cpu &cpu);
	// Null: it never had the CPU.
	const Thread *find_idle(const Cpu &cpu) const
	{
		return cpu.number < idle_.size() ? idle_[cpu.number] : nullptr;
	}
	// As a switch names it.
	Thread &runner(const Cpu &cpu, std::int32_t tid) { return tid == 0 ? idle(cpu) : get(tid); }

	// The first thread of its process, or the thread itself if that is unknown.
	const Thread &leader(const Thread &thread) const;
	// Its process has others than its leader.
	void note_leader(const Thread &thread);
	std::unordered_set<const Thread *> scheduled() const;
	std::uint64_t hidden() const;
	// The list of threads has one that the kernel hides.
	bool lists_hidden() const { return lists_hidden_; }
	void set_lists_hidden() { lists_hidden_ = true; }

	// Id of the cgroup that a thread is in; 0: unknown.
	std::uint64_t cgroup_of(const Thread &thread) const
	{
		return thread.cgroup ? thread.cgroup : leader(thread).cgroup;
	}
	// By the scope, in the cgroup that it is in.
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

	// Its tokens since the last loss report what it is doing.
	bool is_known(const Thread &thread) const { return thread.epoch == epoch_ && thread.state != State::unknown; }
	bool has_lost() const { return epoch_ != 1; }
	// What was known before a loss no longer holds.
	void renew(Thread &thread) const;
	static void forget_ring(Thread &thread);
	static void forget(Thread &thread) { thread.epoch = 0; }
	// Only what runs on a CPU remains known.
	void lose_others(const std::vector<Cpu> &cpus);
	// It is runnable since its creation.
	void set_created(Thread &thread, std::uint64_t time) const;
	// Of a snapshot's thread without a token so far: it was in this state since `first`, as its first token says,
	// or that there is none. One that was created later has a token of that.
	void set_since_first(Thread &thread, State state, std::uint64_t first) const;

	// Indices of those that have ended, or of which is_gone() says so; a leader stays as long as its process.
	std::vector<std::uint32_t> ended(const std::vector<Cpu> &cpus,
					 const std::function<bool(const Thread &)> &is_gone) const;
	void give_up(const std::vector<std::uint32_t> &indices);

	// Of a copy: it points to its own threads from now on. Returns these by the original's.
	using Copies = std::unordered_map<const Thread *, Thread *>;
	Copies separate_from(const ThreadTable &original);
	std::size_t bytes() const { return threads_.size() * sizeof(Thread) + by_tid_.bytes(); }

private:
	std::shared_ptr<const FoldSettings> settings_;
	std::deque<Thread> threads_;
	std::vector<std::uint32_t> free_; // indices of those that were given up
	TidTable<Thread *> by_tid_;
	std::vector<Thread *> idle_; // by CPU
	std::uint32_t epoch_ = 1;    // one more with each loss
	bool lists_hidden_ = false;
};

} // namespace monitor::analyze
