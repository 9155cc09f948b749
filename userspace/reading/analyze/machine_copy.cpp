// SPDX-License-Identifier: MIT
// Copies of Machine at one point of the fold: an animation goes back to the last one before a time instead of folding
// from the start (answers/play/player.cpp). Invariant: a copy that is fed the same events ends in the same states.
#include <unordered_map>

#include "machine.h"

namespace monitor::analyze {

std::unique_ptr<Machine> Machine::copy() const
{
	std::unique_ptr<Machine> made(new Machine(*this));
	made->observers_.clear();
	made->time_observers_.clear();
	std::unordered_map<const Thread *, Thread *> copies = {{nullptr, nullptr}};
	for (std::size_t i = 0; i < threads_.size(); ++i)
		copies.emplace(&threads_[i], &made->threads_[i]);
	made->by_tid_.visit([&](Thread *&thread) {
		if (thread)
			thread = copies.at(thread);
	});
	for (Thread *&thread : made->idle_)
		thread = copies.at(thread);
	for (Cpu &cpu : made->cpus_)
		cpu.current = copies.at(cpu.current);
	for (Thread *&row : made->period_.rows)
		row = copies.at(row);
	made->period_.of = copies.at(period_.of);
	made->period_.waker.thread = copies.at(period_.waker.thread);
	for (auto &[key, sum] : made->sums_)
		sum = copies.at(sum);
	return made;
}

std::size_t Machine::copy_bytes() const
{
	return threads_.size() * sizeof(Thread) + by_tid_.bytes() + cpus_.size() * sizeof(Cpu);
}

} // namespace monitor::analyze
