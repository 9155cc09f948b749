// SPDX-License-Identifier: MIT
// The body of a role as instructions that a thread of a replay executes one after the other, and names as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reading/model/model.h"

namespace monitor::simulation {

enum class Code : std::uint8_t {
	cpu,
	sleep,
	put,
	signal,
	await,
	lock,
	unlock,
	call,
	await_reply,
	reply,
	wake,
	wait,
	barrier,
	branch, // to `target` if it is not taken
	jump,   // to `target`
	fork,   // starts a thread for each of `blocks`, and goes on
	join,   // waits until they have ended
	end,    // of the iteration, or of a forked block
};

struct Instruction {
	Code code = Code::end;
	// By code: activity, lock, semaphore or barrier by number; role; of await, how many signals the item needs.
	std::uint32_t number = 0;
	const model::Operation *operation = nullptr; // where time and probability are from
	std::size_t target = 0;
	std::vector<std::size_t> blocks{};
};

// Equal names of one kind have one number, from 0.
class Names {
public:
	std::uint32_t number(const std::string &name)
	{
		const auto [found, is_new] = numbers_.emplace(name, names_.size());
		if (is_new)
			names_.push_back(name);
		return static_cast<std::uint32_t>(found->second);
	}
	const std::string &name(std::uint32_t number) const { return names_[number]; }
	std::size_t size() const { return names_.size(); }

private:
	std::map<std::string, std::size_t> numbers_;
	std::vector<std::string> names_;
};

struct Program {
	explicit Program(const model::Model &model);

	Names activities; // 0: in none
	Names locks, semaphores, barriers;
	std::vector<std::vector<Instruction>> roles; // by role; the first one starts an iteration

	// Each once, by its number
	const std::vector<std::uint32_t> &barriers_of(std::size_t role) const { return barriers_of_[role]; }

private:
	void add(std::vector<Instruction> &code, const model::Block &block);
	void add(std::vector<Instruction> &code, const model::Operation &operation);
	void add_branch(std::vector<Instruction> &code, const model::Operation &operation);
	void add_fork(std::vector<Instruction> &code, const model::Operation &operation);

	void find_barriers();

	std::vector<std::vector<std::uint32_t>> barriers_of_;
	std::uint32_t awaits_ = 0; // of this role
};

} // namespace monitor::simulation
