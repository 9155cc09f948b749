// SPDX-License-Identifier: MIT
#include "control_flow.h"

#include <algorithm>

namespace monitor::functions {
namespace {

constexpr std::size_t max_path = 4096;
constexpr unsigned longest_instruction = 15;

} // namespace

Exits ControlFlow::run()
{
	jump_to(start(), 0);
	for (const std::uint64_t pad : code_.landing_pads)
		if (part_of(pad)) // else in an unnamed part, which counts as another function
			jump_to(pad, 0);
	follow_all();
	if (found_.why_not.empty())
		check_result();
	if (found_.why_not.empty())
		find_entry();
	std::ranges::sort(found_.exits, {}, &card::FunctionExit::offset);
	std::ranges::sort(found_.refers_to);
	found_.refers_to.erase(std::unique(found_.refers_to.begin(), found_.refers_to.end()), found_.refers_to.end());
	for (const auto &[address, unused] : reached_)
		found_.starts.insert(address);
	return std::move(found_);
}

// Jump tables last: most paths to an indirect jump are known once everything else was followed.
void ControlFlow::follow_all()
{
	while (found_.why_not.empty() && (!waiting_.empty() || !indirect_.empty())) {
		if (!waiting_.empty()) {
			const auto [address, from] = waiting_.back();
			waiting_.pop_back();
			follow(address, from);
		} else {
			const std::uint64_t jump = indirect_.back();
			indirect_.pop_back();
			follow_table(jump);
		}
	}
}

void ControlFlow::follow(std::uint64_t address, std::uint64_t from)
{
	while (found_.why_not.empty() && !reached_.contains(address) && follow_instruction(address, from)) {
		from = address;
		address += reached_.at(address).instruction.size;
	}
}

// Handles one instruction. Whether execution falls through.
bool ControlFlow::follow_instruction(std::uint64_t address, std::uint64_t from)
{
	using Flow = Instruction::Flow;
	const CodePart *part = part_of(address);
	if (!part) {
		if (!is_after_call(address, from))
			refuse(not_followed);
		return false;
	}
	Instruction instruction;
	if (!decoder_.decode(address, std::span(part->bytes).subspan(address - part->address), instruction)) {
		refuse(not_followed);
		return false;
	}
	reached_.emplace(address, Reached{instruction, from});
	if (instruction.data)
		found_.refers_to.push_back(instruction.data);
	if (instruction.data_bytes && part_of(instruction.data))
		data_.emplace_back(instruction.data, instruction.data_bytes);
	switch (instruction.flow) {
	case Flow::next:
		return true;
	case Flow::call: // a call into the function itself: a return there is not an exit
		if (instruction.target != start() && part_of(instruction.target))
			refuse(not_followed);
		return true;
	case Flow::branch:
		add_jump(address, instruction);
		return true;
	case Flow::jump:
		add_jump(address, instruction);
		return false;
	case Flow::indirect:
		indirect_.push_back(address);
		return false;
	case Flow::leave:
		add_exit(address, instruction);
		return false;
	case Flow::stop:
		return false;
	}
	return false;
}

// Code that ends in a call: the callee does not return (noreturn).
bool ControlFlow::is_after_call(std::uint64_t end, std::uint64_t from) const
{
	while (reached_.at(from).instruction.flow == Instruction::Flow::next && reached_.at(from).from)
		from = reached_.at(from).from;
	const Instruction &last = reached_.at(from).instruction;
	const std::uint64_t after_call = from + last.size;
	const CodePart *part = part_of(from);
	return last.flow == Instruction::Flow::call &&
	       end - after_call <= part->address + part->bytes.size() - after_call &&
	       decoder_.is_padding(after_call,
				   std::span(part->bytes).subspan(after_call - part->address, end - after_call));
}

void ControlFlow::add_jump(std::uint64_t address, const Instruction &instruction)
{
	if (instruction.target == start())
		refuse("a loop in it begins at its first instruction");
	else if (part_of(instruction.target))
		jump_to(instruction.target, address);
	else
		add_exit(address, instruction);
}

void ControlFlow::jump_to(std::uint64_t target, std::uint64_t from)
{
	targets_.push_back(target);
	waiting_.emplace_back(target, from);
}

void ControlFlow::add_exit(std::uint64_t address, const Instruction &instruction)
{
	if (instruction.no_exit)
		refuse(instruction.no_exit);
	found_.exits.push_back({address, instruction.condition});
}

void ControlFlow::follow_table(std::uint64_t jump)
{
	std::vector<std::uint64_t> path;
	for (std::uint64_t at = jump; at && path.size() < max_path; at = reached_.at(at).from)
		path.push_back(at);
	std::ranges::reverse(path);
	const JumpTable table = decoder_.table_of(path, code_);
	const bool is_known = !table.targets.empty() && std::ranges::all_of(table.targets, [&](std::uint64_t target) {
		return part_of(target) != nullptr;
	});
	if (!is_known) {
		is_unresolved_ = true;
		return;
	}
	tables_.emplace_back(table.address, table.bytes);
	for (const std::uint64_t target : table.targets)
		if (target == start())
			refuse("a loop in it begins at its first instruction");
		else
			jump_to(target, jump);
}

bool ControlFlow::is_reached(std::uint64_t begin, std::uint64_t end) const
{
	for (std::uint64_t at = begin - std::min<std::uint64_t>(begin, longest_instruction); at < end; ++at)
		if (const auto found = reached_.find(at);
		    found != reached_.end() && at + found->second.instruction.size > begin)
			return true;
	return false;
}

bool ControlFlow::is_part_reached(const CodePart &part) const
{
	const std::uint64_t end = part.address + part.bytes.size();
	std::uint64_t gap = part.address; // start of the unreached gap
	for (std::uint64_t at = gap;;) {
		std::uint64_t next = at + 1;
		bool is_known = at >= end;
		if (const auto found = reached_.find(at); found != reached_.end()) {
			next = at + found->second.instruction.size;
			is_known = true;
		}
		for (const auto &[table, bytes] : tables_)
			if (at - table < bytes) {
				next = table + bytes;
				is_known = true;
			}
		if (is_known && gap < at &&
		    !decoder_.is_padding(gap, std::span(part.bytes).subspan(gap - part.address, at - gap)))
			return false;
		if (at >= end)
			return true;
		at = next;
		if (is_known)
			gap = next;
	}
}

// Whether all code was reached. A part without any reached code is another function of the same name.
bool ControlFlow::is_all_reached() const
{
	return std::ranges::all_of(code_.parts, [&](const CodePart &part) {
		return !is_reached(part.address, part.address + part.bytes.size()) || is_part_reached(part);
	});
}

void ControlFlow::check_result()
{
	// An unresolved jump may go anywhere: accept only if all other code was reached.
	if (is_unresolved_ && !is_all_reached())
		refuse(not_followed);
	// Bytes both read as data and reached as code, for example after a call that does not return.
	for (const auto &[address, bytes] : data_)
		if (address != start() && is_reached(address, address + bytes))
			refuse(not_followed);
	for (const auto &[address, bytes] : tables_)
		if (is_reached(address, address + bytes))
			refuse(not_followed);
	// A jump past a prefix: a breakpoint there would change the prefixed instruction.
	for (const card::FunctionExit &exit : found_.exits)
		for (std::uint64_t before = 1; before < longest_instruction; ++before)
			if (const auto other = reached_.find(exit.offset - before);
			    other != reached_.end() && other->second.instruction.size > before)
				refuse(not_followed);
}

// If the kernel refuses a uprobe at the first instruction, uses the next one: such instructions do not move the stack
// pointer.
void ControlFlow::find_entry()
{
	std::uint64_t at = start();
	for (;;) {
		const auto found = reached_.find(at);
		if (found == reached_.end() || std::ranges::any_of(targets_, [&](std::uint64_t target) {
			    return target > start() && target <= at;
		    }))
			break;
		const Instruction &instruction = found->second.instruction;
		if (instruction.can_be_probed) {
			found_.entry = at;
			return;
		}
		if (!instruction.can_be_passed_over)
			break;
		at += instruction.size;
	}
	refuse("the kernel accepts no probe at its first instruction");
}

void ControlFlow::refuse(const char *why)
{
	if (found_.why_not.empty())
		found_.why_not = why;
}

const CodePart *ControlFlow::part_of(std::uint64_t address) const
{
	const auto found =
	    std::ranges::find_if(code_.parts, [&](const CodePart &part) { return part.contains(address); });
	return found == code_.parts.end() ? nullptr : &*found;
}

} // namespace monitor::functions
