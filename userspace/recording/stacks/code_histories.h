// SPDX-License-Identifier: MIT
// What the processes of a command have mapped since their exec, of which nobody is told before a process was sampled
// (stack_recorder.cpp): most processes of a build or of a script end before that.
//
// A new process starts with what its parent has, so that nothing of a parent is needed any more when a child is told.
// Changes may arrive out of order by some milliseconds: each has its time.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "side_band.h"

namespace monitor::stacks {

class CodeHistories {
public:
	static constexpr std::size_t max_changes = 4096; // of a process; what made code as it ran loses the earliest

	// Of any kind.
	void add(Change change);
	// In the order of time; empty: nothing is known of it.
	std::vector<Change> of(std::int32_t process) const;
	// Some changes were lost: what is known of processes may be wrong.
	void clear() { by_process_.clear(); }
	std::size_t size() const { return by_process_.size(); }

private:
	using Changes = std::shared_ptr<std::vector<Change>>; // of a process, and as its own of those that it created

	void create(const Change &created);
	std::vector<Change> &own(std::int32_t process);

	std::unordered_map<std::int32_t, Changes> by_process_;
};

} // namespace monitor::stacks
