// SPDX-License-Identifier: MIT
// The bodies of a model's roles, compiled to instructions for the replay; names become numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
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
	branch, // jumps to `target` if it is not taken
	jump,
	fork, // starts a thread at each of `blocks`
	join, // waits until these have ended
	end,  // of the iteration, or of a forked block
};

struct Instruction {
	Code code = Code::end;
	// By code: of the activity, lock, semaphore, barrier or role; await: how many signals the item needs.
	std::uint32_t number = 0;
	const model::Operation *operation = nullptr; // that it is made from; null: of none
	std::size_t target = 0;
	std::vector<std::size_t> blocks{};
};

// Numbers names from 0.
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

	Names activities; // 0 is "", computing outside of activities
	Names locks, semaphores, barriers;
	std::vector<std::vector<Instruction>> roles;

	// The numbers of those in its body.
	const std::vector<std::uint32_t> &barriers_of(std::size_t role) const { return barriers_of_[role]; }

private:
	void add(std::vector<Instruction> &code, const model::Block &block);
	void add(std::vector<Instruction> &code, const model::Operation &operation);
	void add_branch(std::vector<Instruction> &code, const model::Operation &operation);
	void add_fork(std::vector<Instruction> &code, const model::Operation &operation);

	void find_barriers();

	std::vector<std::vector<std::uint32_t>> barriers_of_;
	std::uint32_t awaits_ = 0; // so far in the role being added
};

} // namespace monitor::simulation
