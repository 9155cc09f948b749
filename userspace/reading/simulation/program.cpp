// SPDX-License-Identifier: MIT
#include "program.h"

namespace monitor::simulation {

using model::Kind;
using model::Operation;

Program::Program(const model::Model &model)
{
	activities.number("");
	for (const model::Role &role : model.roles) {
		awaits_ = 0;
		std::vector<Instruction> &code = roles.emplace_back();
		add(code, role.body);
		code.push_back({Code::end});
	}
	find_barriers();
}

void Program::add(std::vector<Instruction> &code, const model::Block &block)
{
	for (const Operation &operation : block)
		add(code, operation);
}

void Program::add(std::vector<Instruction> &code, const Operation &operation)
{
	const auto emit = [&](Code what, std::size_t number = 0) {
		code.push_back({what, static_cast<std::uint32_t>(number), &operation});
	};
	switch (operation.kind) {
	case Kind::cpu:
		return emit(Code::cpu, activities.number(operation.name));
	case Kind::sleep:
		return emit(Code::sleep);
	case Kind::take: // done when an iteration starts
		return;
	case Kind::put:
		return emit(Code::put, operation.role);
	case Kind::signal:
		return emit(Code::signal, operation.role);
	case Kind::await:
		return emit(Code::await, ++awaits_);
	case Kind::lock: {
		const std::uint32_t number = locks.number(operation.name);
		emit(Code::lock, number);
		add(code, operation.blocks[0]);
		return emit(Code::unlock, number);
	}
	case Kind::call:
		emit(Code::call, operation.role);
		for (const model::Block &block : operation.blocks)
			add(code, block);
		return emit(Code::await_reply);
	case Kind::reply:
		return emit(Code::reply);
	case Kind::wake:
		return emit(Code::wake, semaphores.number(operation.name));
	case Kind::wait:
		return emit(Code::wait, semaphores.number(operation.name));
	case Kind::barrier:
		return emit(Code::barrier, barriers.number(operation.name));
	case Kind::branch:
		return add_branch(code, operation);
	case Kind::fork:
		return add_fork(code, operation);
	}
}

void Program::add_branch(std::vector<Instruction> &code, const Operation &operation)
{
	const std::size_t branch = code.size();
	code.push_back({Code::branch, 0, &operation});
	add(code, operation.blocks[0]);
	if (operation.blocks.size() < 2) {
		code[branch].target = code.size();
		return;
	}
	const std::size_t jump = code.size();
	code.push_back({Code::jump});
	code[branch].target = code.size();
	add(code, operation.blocks[1]);
	code[jump].target = code.size();
}

// The forking thread executes the first block itself.
void Program::add_fork(std::vector<Instruction> &code, const Operation &operation)
{
	const std::size_t fork = code.size();
	code.push_back({Code::fork});
	add(code, operation.blocks[0]);
	const std::size_t join = code.size();
	code.push_back({Code::join});
	code.push_back({Code::jump});
	for (std::size_t i = 1; i < operation.blocks.size(); ++i) {
		code[fork].blocks.push_back(code.size());
		add(code, operation.blocks[i]);
		code.push_back({Code::end});
	}
	code[join + 1].target = code.size();
}

void Program::find_barriers()
{
	for (const std::vector<Instruction> &code : roles) {
		std::vector<std::uint32_t> &numbers = barriers_of_.emplace_back();
		std::vector<bool> is_known(barriers.size());
		for (const Instruction &instruction : code)
			if (instruction.code == Code::barrier && !is_known[instruction.number]) {
				is_known[instruction.number] = true;
				numbers.push_back(instruction.number);
			}
	}
}

} // namespace monitor::simulation
