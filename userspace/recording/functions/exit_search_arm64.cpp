// SPDX-License-Identifier: MIT
// Function exits on arm64: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1. Fixed-size instructions
// need no disassembler library. Compiled, and so tested, on all machines.
#include <algorithm>
#include <cstring>
#include <optional>

#include "control_flow.h"

namespace monitor::functions {
namespace {

constexpr std::size_t instruction_size = 4;

bool is(std::uint32_t instruction, std::uint32_t mask, std::uint32_t value)
{
	return (instruction & mask) == value;
}

// A branch target from a signed field of `bits` bits from `first` on, in units of 4 bytes.
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

// ldr (literal) and adr
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

bool is_indirect(std::uint32_t instruction)
{
	return is(instruction, 0xfffffc1f, 0xd61f0000) || is(instruction, 0xfefff800, 0xd61f0800); // br; braa, brab
}

class Arm64Decoder : public Decoder {
public:
	bool decode(std::uint64_t address, std::span<const std::byte> bytes, Instruction &into) override
	{
		std::uint32_t instruction = 0;
		if (bytes.size() < instruction_size || address % instruction_size)
			return false;
		std::memcpy(&instruction, bytes.data(), instruction_size);
		if (instruction >> 16 == 0) // udf
			return false;
		into.size = instruction_size;
		into.can_be_probed = can_be_probed(instruction);
		if (const auto data = literal(address, instruction)) {
			into.data = *data;
			into.data_bytes = instruction_size;
		}
		set_flow(address, instruction, into);
		return true;
	}

	bool is_padding(std::uint64_t, std::span<const std::byte> bytes) override
	{
		for (std::size_t at = 0; at < bytes.size(); at += instruction_size) {
			std::uint32_t instruction = 0;
			std::memcpy(&instruction, bytes.data() + at, std::min(instruction_size, bytes.size() - at));
			if (instruction != nop && instruction != 0)
				return false;
		}
		return true;
	}

	// Jump tables are not supported: functions with a switch by table are refused.
	JumpTable table_of(const std::vector<std::uint64_t> &, const FunctionCode &) override { return {}; }

private:
	static constexpr std::uint32_t nop = 0xd503201f;

	static void set_flow(std::uint64_t address, std::uint32_t instruction, Instruction &into)
	{
		using Flow = Instruction::Flow;
		if (is_return(instruction) || is_authenticated_return(instruction)) {
			into.flow = Flow::leave;
			if (is_authenticated_return(instruction))
				into.no_exit = "the kernel accepts no probe at an instruction that leaves it";
		} else if (is(instruction, 0xfc000000, 0x14000000)) {
			into.flow = Flow::jump;
			into.target = target(address, instruction, 0, 26);
		} else if (is(instruction, 0xfc000000, 0x94000000)) {
			into.flow = Flow::call;
			into.target = target(address, instruction, 0, 26);
		} else if (const auto to = conditional_target(address, instruction)) {
			into.flow = Flow::branch;
			into.target = *to;
			into.no_exit = "it leaves to another function on a condition";
		} else if (is_indirect(instruction)) {
			into.flow = Flow::indirect;
		} else if (is(instruction, 0xfefff800, 0xd63f0800) || is(instruction, 0xfffffc1f, 0xd63f0000)) {
			into.flow = Flow::call; // blraa, blrab, blr
		} else if (is(instruction, 0xffe0001f, 0xd4200000)) {
			into.flow = Flow::stop; // brk
		}
	}
};

} // namespace

Exits find_exits_arm64(const FunctionCode &code)
{
	Arm64Decoder decoder;
	return ControlFlow(code, decoder).run();
}

} // namespace monitor::functions
