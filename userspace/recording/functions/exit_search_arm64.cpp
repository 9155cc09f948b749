// SPDX-License-Identifier: MIT
// The instructions that leave a function on arm64: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1.
// All are four bytes long, so it takes no disassembler. Compiled everywhere, so that it is tested everywhere.
#include <algorithm>
#include <cstring>
#include <optional>

#include "exit_search.h"

namespace monitor::functions {
namespace {

constexpr std::size_t instruction_size = 4;

bool is(std::uint32_t instruction, std::uint32_t mask, std::uint32_t value)
{
	return (instruction & mask) == value;
}

// Of the field of `bits` bits from `first` on, in instructions.
std::uint64_t target(std::uint64_t address, std::uint32_t instruction, unsigned first, unsigned bits)
{
	const std::int64_t high = static_cast<std::int64_t>(std::uint64_t{instruction} << (64 - first - bits));
	return address +
	       static_cast<std::uint64_t>((high >> (64 - bits)) * static_cast<std::int64_t>(instruction_size));
}

bool is_return(std::uint32_t instruction)
{
	return is(instruction, 0xfffffc1f, 0xd65f0000);
}

bool is_authenticated_return(std::uint32_t instruction)
{
	return is(instruction, 0xfffffbff, 0xd65f0bff); // retaa, retab
}

// b.cond and bc.cond, cbz and cbnz, tbz and tbnz
std::optional<std::uint64_t> conditional_target(std::uint64_t address, std::uint32_t instruction)
{
	if (is(instruction, 0xff000000, 0x54000000) || is(instruction, 0x7e000000, 0x34000000))
		return target(address, instruction, 5, 19);
	if (is(instruction, 0x7e000000, 0x36000000))
		return target(address, instruction, 5, 14);
	return {};
}

// ldr (literal) and adr: what they address within the function is data, which must not be taken for instructions.
std::optional<std::uint64_t> literal(std::uint64_t address, std::uint32_t instruction)
{
	if (is(instruction, 0x3b000000, 0x18000000))
		return target(address, instruction, 5, 19);
	if (!is(instruction, 0x9f000000, 0x10000000))
		return {};
	const std::uint64_t high = target(0, instruction, 5, 19); // 4 times the upper 19 of 21 bits
	return address + high + (instruction >> 29 & 3);
}

// Load and store exclusive, which a probe's exception would break: arch/arm64/kernel/probes/decode-insn.c.
bool can_be_probed(std::uint32_t instruction)
{
	return !is(instruction, 0x3f000000, 0x08000000);
}

class Arm64Search {
public:
	explicit Arm64Search(const std::vector<CodePart> &parts) : parts_(parts) {}

	Exits run()
	{
		for (const CodePart &part : parts_)
			for (std::size_t at = 0; found_.why_not.empty() && at < part.bytes.size();
			     at += instruction_size)
				take(part, at);
		if (found_.why_not.empty() && found_.entry == 0)
			found_.why_not = "the kernel accepts no probe at its first instruction";
		return std::move(found_);
	}

private:
	bool is_inside(std::uint64_t address) const
	{
		return std::ranges::any_of(parts_, [&](const CodePart &part) { return part.contains(address); });
	}

	void take(const CodePart &part, std::size_t at)
	{
		const std::uint64_t address = part.address + at;
		std::uint32_t instruction = 0;
		if (part.bytes.size() - at < instruction_size || address % instruction_size) {
			found_.why_not = not_followed;
			return;
		}
		std::memcpy(&instruction, part.bytes.data() + at, instruction_size);
		found_.starts.insert(address);
		const auto data = literal(address, instruction);
		if (instruction >> 16 == 0 || (data && is_inside(*data))) { // udf, and constants
			found_.why_not = not_followed;
			return;
		}
		if (address == parts_.front().address && can_be_probed(instruction))
			found_.entry = address;
		if (is_return(instruction))
			found_.exits.push_back({address, 0});
		else if (is_authenticated_return(instruction))
			found_.why_not = "the kernel accepts no probe at an instruction that leaves it";
		else if (is(instruction, 0xfc000000, 0x14000000))
			jump(address, target(address, instruction, 0, 26), false);
		else if (const auto to = conditional_target(address, instruction))
			jump(address, *to, true);
	}

	// One through a register goes to a case of a switch, or is a tail call: unknown, so it is no exit.
	void jump(std::uint64_t address, std::uint64_t to, bool is_conditional)
	{
		if (to == parts_.front().address)
			found_.why_not = "a loop in it begins at its first instruction";
		else if (is_inside(to))
			found_.targets.push_back(to);
		else if (is_conditional)
			found_.why_not = "it leaves to another function on a condition";
		else
			found_.exits.push_back({address, 0});
	}

	const std::vector<CodePart> &parts_;
	Exits found_;
};

} // namespace

Exits find_exits_arm64(const std::vector<CodePart> &parts)
{
	return Arm64Search(parts).run();
}

} // namespace monitor::functions
