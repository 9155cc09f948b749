// SPDX-License-Identifier: MIT
#include "thread_table.h"

#include <algorithm>

#include "base/grow.h"

namespace monitor::analyze {

Thread &ThreadTable::add(std::int32_t tid)
{
	tid = tid < 0 || tid > largest_tid ? largest_tid : tid;
	Thread &thread = free_.empty() ? threads_.emplace_back() : threads_[free_.back()];
	thread.selected = settings_->scope.includes_thread(free_.empty() ? threads_.size() - 1 : free_.back());
	if (!free_.empty())
		free_.pop_back();
	thread.tid = thread.tgid = tid;
	thread.filtered = settings_->is_filtering;
	by_tid_[tid] = &thread;
	return thread;
}

Thread &ThreadTable::add_sum(Sum sum, std::string name)
{
	Thread &thread = threads_.emplace_back();
	thread.selected = settings_->scope.includes_thread(threads_.size() - 1);
	thread.tid = thread.tgid = -1;
	thread.sum = sum;
	thread.name = std::move(name);
	return thread;
}

Thread &ThreadTable::idle(const Cpu &cpu)
{
	Thread *&thread = grow_to(idle_, cpu.number);
	if (!thread) {
		thread = &threads_.emplace_back();
		thread->name = "idle";
		thread->is_kernel = true;
		thread->selected = settings_->scope.includes_thread(threads_.size() - 1);
		thread->cpu = cpu.number;
	}
	return *thread;
}

const Thread &ThreadTable::leader(const Thread &thread) const
{
	if (thread.tid == thread.tgid)
		return thread; // another thread may have its number by now
	const Thread *leader = find(std::max(thread.tgid, 0));
	return leader && thread.tid != 0 && leader->tgid == thread.tgid ? *leader : thread;
}

void ThreadTable::note_leader(const Thread &thread)
{
	if (Thread *leader = thread.tid != thread.tgid ? find(thread.tgid) : nullptr)
		leader->leads_others = true;
}

std::unordered_set<const Thread *> ThreadTable::scheduled() const
{
	std::unordered_set<const Thread *> found;
	for (const Thread &thread : threads_)
		if (thread.so_far.cpu != 0)
			found.insert({&thread, &leader(thread)});
	return found;
}

std::uint64_t ThreadTable::hidden() const
{
	return static_cast<std::uint64_t>(std::ranges::count_if(threads_, &Thread::hidden));
}

void ThreadTable::renew(Thread &thread) const
{
	if (thread.epoch == epoch_)
		return;
	thread.epoch = epoch_;
	thread.state = State::unknown;
	thread.early_waking = 0;
	forget_ring(thread);
}

void ThreadTable::forget_ring(Thread &thread)
{
	thread.ring = thread.is_kernel ? Ring::kernel : Ring::unknown;
	thread.syscall = EDC_NO_SYSCALL;
	thread.syscall_known = false;
}

void ThreadTable::lose_others(const std::vector<Cpu> &cpus)
{
	++epoch_;
	for (const Cpu &cpu : cpus)
		if (cpu.current && cpu.current->epoch == epoch_ - 1)
			cpu.current->epoch = epoch_;
}

void ThreadTable::set_created(Thread &thread, std::uint64_t time) const
{
	thread.epoch = epoch_;
	thread.ring = Ring::kernel; // until it first returns to user mode
	thread.state = State::runnable;
	thread.since = time;
}

void ThreadTable::set_since_first(Thread &thread, State state, std::uint64_t first) const
{
	if (!settings_->is_snapshot || !settings_->has_wakings || has_lost() || thread.epoch != 0 || thread.born != 0 ||
	    thread.tid == 0 || thread.hidden || thread.filtered)
		return;
	renew(thread);
	thread.state = state;
	thread.since = first;
}

std::vector<std::uint32_t> ThreadTable::ended(const std::vector<Cpu> &cpus,
					      const std::function<bool(const Thread &)> &is_gone) const
{
	std::unordered_set<const Thread *> kept;
	for (const Cpu &cpu : cpus)
		kept.insert(cpu.current);
	std::vector<std::uint32_t> ended;
	std::unordered_set<std::int32_t> processes; // that still have threads
	for (std::uint32_t index = 0; index < threads_.size(); ++index) {
		const Thread &thread = threads_[index];
		if (thread.tid != 0 && (thread.state == State::dead || (!is_known(thread) && is_gone(thread))) &&
		    !kept.contains(&thread))
			ended.push_back(index);
		else
			processes.insert(thread.tgid);
	}
	std::erase_if(ended, [&](std::uint32_t index) { // its name is that of the process
		return threads_[index].tid == threads_[index].tgid && processes.contains(threads_[index].tgid);
	});
	return ended;
}

void ThreadTable::remove(const std::vector<std::uint32_t> &indices)
{
	for (const std::uint32_t index : indices) {
		Thread &thread = threads_[index];
		if (find(thread.tid) == &thread)
			by_tid_[thread.tid] = nullptr;
		thread = {};
		thread.selected = false;
		free_.push_back(index);
	}
}

ThreadTable::Copies ThreadTable::separate_from(const ThreadTable &original)
{
	Copies copies = {{nullptr, nullptr}};
	for (std::size_t i = 0; i < threads_.size(); ++i)
		copies.emplace(&original.threads_[i], &threads_[i]);
	by_tid_.visit([&](Thread *&thread) {
		if (thread)
			thread = copies.at(thread);
	});
	for (Thread *&thread : idle_)
		thread = copies.at(thread);
	return copies;
}

} // namespace monitor::analyze
