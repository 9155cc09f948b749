// SPDX-License-Identifier: MIT
// Windows of a fold that goes on, one after the other: of a recording that is still running (answers/live/).
#include <algorithm>
#include <unordered_set>

#include "machine.h"

namespace monitor::analyze {

void Machine::end_window(std::uint64_t time)
{
	end_ = std::max(time, begin_);
	for (Cpu &cpu : cpus_) {
		account(cpu, end_);
		add_unknown_runner(cpu, cpu.before_first.within);
	}
	for (Thread &thread : threads_) {
		if (!is_known(thread))
			continue;
		const std::uint64_t from = std::max(thread.since, first_);
		if (thread.state == State::runnable)
			add_interval(thread, &Usage::waiting, from, std::max(from, end_));
		else if (thread.state == State::blocked)
			add_interval(thread, &Usage::blocked, from, std::max(from, end_));
	}
}

void Machine::begin_window()
{
	begin_ = end_;
	end_ = last_;
	for (Cpu &cpu : cpus_) {
		cpu.usage = {};
		cpu.idle = cpu.offline = cpu.runner_unknown = cpu.fault_ticks = cpu.unknown_ticks = 0;
		cpu.user_ticks.leave();
		cpu.before_first.leave();
	}
	for (Thread &thread : threads_) {
		thread.usage = {};
		thread.left.clear();
	}
	calls_of_unknown_.clear();
	functions_of_unknown_ = 0;
}

void Machine::forget(const std::function<bool(const Thread &)> &is_gone)
{
	std::unordered_set<const Thread *> kept;
	for (const Cpu &cpu : cpus_)
		kept.insert(cpu.current);
	std::vector<std::uint32_t> ended;
	for (std::uint32_t place = 0; place < threads_.size(); ++place) {
		const Thread &thread = threads_[place];
		if (thread.tid != 0 && (thread.state == State::dead || (!is_known(thread) && is_gone(thread))) &&
		    !kept.contains(&thread))
			ended.push_back(place);
	}
	if (ended.empty())
		return;
	std::unordered_set<std::int32_t> processes; // that still have a thread
	for (std::uint32_t place = 0; place < threads_.size(); ++place)
		if (!std::ranges::binary_search(ended, place))
			processes.insert(threads_[place].tgid);
	std::erase_if(ended, [&](std::uint32_t place) { // its name is that of the process
		return threads_[place].tid == threads_[place].tgid && processes.contains(threads_[place].tgid);
	});
	for (const std::uint32_t place : ended)
		for (Observer *observer : observers_)
			observer->forgotten(threads_[place]);
	for (const std::uint32_t place : ended) {
		Thread &thread = threads_[place];
		if (by_tid_.find(thread.tid) == &thread)
			by_tid_[thread.tid] = nullptr;
		thread = {};
		thread.selected = false;
		free_.push_back(place);
	}
}

} // namespace monitor::analyze
