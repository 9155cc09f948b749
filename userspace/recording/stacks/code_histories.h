// SPDX-License-Identifier: MIT
// The mappings of a command's processes since their exec, kept until a process is first sampled and then published
// (stack_recorder.cpp). Most processes of a build or script end before that.
//
// A new process starts with a copy of its parent's, so that it does not depend on the parent later. Changes may arrive
// out of order by some milliseconds; each has a time.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "side_band.h"

namespace monitor::stacks {

class CodeHistories {
public:
	static constexpr std::size_t max_changes = 4096; // of a process; a JIT's earliest changes are dropped

	// Adds a change of any kind.
	void add(Change change);
	// Sorted by time; empty: unknown process.
	std::vector<Change> changes_of(std::int32_t process) const;
	// Called when changes were lost, so that histories may be wrong.
	void clear() { by_process_.clear(); }
	std::size_t size() const { return by_process_.size(); }

private:
	using Changes = std::shared_ptr<std::vector<Change>>; // of a process, and as its own of those that it created

	void create(const Change &created);
	void execute(Change executed);
	std::vector<Change> &private_list(std::int32_t process);

	std::unordered_map<std::int32_t, Changes> by_process_;
};

} // namespace monitor::stacks
