// SPDX-License-Identifier: MIT
#include "exit_search.h"

#include <algorithm>
#include <array>
#include <optional>

#include "control_flow.h"

#ifdef MONITOR_HAS_CAPSTONE
#include <capstone/capstone.h>

#include "jump_table_x86.h"
#endif

namespace monitor::functions {
#if defined(MONITOR_HAS_CAPSTONE) && defined(__x86_64__)
namespace {

// A jump's condition: 0 always, else 1 + the condition code of the instruction; nullopt: depends on a register (jrcxz,
// loop).
std::optional<std::uint8_t> condition_of(const cs_x86 &instruction)
{
	const std::uint8_t first = instruction.opcode[0], second = instruction.opcode[1];
	if (first == 0xe9 || first == 0xeb)
		return std::uint8_t{0};
	if (first >= 0x70 && first <= 0x7f)
		return static_cast<std::uint8_t>(1 + (first & 15));
	if (first == 0x0f && second >= 0x80 && second <= 0x8f)
		return static_cast<std::uint8_t>(1 + (second & 15));
	return {};
}

// Whether the kernel accepts a probe there: arch/x86/kernel/uprobes.c refuses these prefixes and encodings.
bool can_be_probed(const cs_insn &instruction)
{
	// lock is 0xf0, EVEX 0x62, VEX 0xc4 and 0xc5
	constexpr std::array prefixes = {0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3};
	constexpr std::array refused = {0x26, 0x2e, 0x36, 0x3e, 0xf0, 0x62, 0xc4, 0xc5, 0xcc};
	for (const int byte : std::span(instruction.bytes, instruction.size))
		if (!std::ranges::count(prefixes, byte))
			return !std::ranges::count(refused, byte);
	return false;
}

class X86Decoder : public Decoder {
public:
	X86Decoder()
	{
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK)
			return;
		cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
		instruction_ = cs_malloc(handle_);
	}
	~X86Decoder() override
	{
		if (instruction_)
			cs_free(instruction_, 1);
		if (handle_)
			cs_close(&handle_);
	}

	bool is_ready() const { return instruction_ != nullptr; }

	bool decode(std::uint64_t address, std::span<const std::byte> bytes, Instruction &into) override
	{
		if (!disassemble(address, bytes))
			return false;
		into.size = instruction_->size;
		into.can_be_probed = can_be_probed(*instruction_);
		set_flow(into);
		into.can_be_passed_over = into.flow == Instruction::Flow::next;
		if (!into.can_be_probed)
			into.no_exit = "the kernel accepts no probe at an instruction that leaves it";
		set_data(into);
		return true;
	}

	bool is_padding(std::uint64_t address, std::span<const std::byte> bytes) override
	{
		while (!bytes.empty()) {
			if (!disassemble(address, bytes) || !does_nothing())
				return false;
			address += instruction_->size;
			bytes = bytes.subspan(instruction_->size);
		}
		return true;
	}

	JumpTable table_of(const std::vector<std::uint64_t> &path, const FunctionCode &code) override
	{
		JumpTableSearch search(handle_);
		for (const std::uint64_t address : path)
			for (const CodePart &part : code.parts)
				if (part.contains(address) &&
				    disassemble(address, std::span(part.bytes).subspan(address - part.address)))
					search.step(*instruction_);
		return search.table(code);
	}

private:
	bool disassemble(std::uint64_t address, std::span<const std::byte> bytes)
	{
		const auto *code = reinterpret_cast<const std::uint8_t *>(bytes.data());
		std::size_t left = bytes.size();
		return cs_disasm_iter(handle_, &code, &left, &address, instruction_);
	}

	bool is_in(unsigned group) const { return cs_insn_group(handle_, instruction_, group); }

	// Padding, including xchg %ax,%ax and int3.
	bool does_nothing() const
	{
		return instruction_->id == X86_INS_NOP || instruction_->id == X86_INS_INT3 ||
		       (instruction_->id == X86_INS_XCHG && instruction_->bytes[instruction_->size - 1] == 0x90);
	}

	void set_flow(Instruction &into) const
	{
		using Flow = Instruction::Flow;
		const cs_x86 &detail = instruction_->detail->x86;
		const bool has_target = detail.op_count == 1 && detail.operands[0].type == X86_OP_IMM;
		if (has_target)
			into.target = static_cast<std::uint64_t>(detail.operands[0].imm);
		if (is_in(CS_GRP_RET) || is_in(CS_GRP_IRET)) {
			into.flow = Flow::leave;
		} else if (is_in(CS_GRP_CALL)) {
			into.flow = Flow::call;
		} else if (instruction_->id == X86_INS_XBEGIN) { // jumps there when the transaction aborts
			into.flow = Flow::branch;
			into.no_exit = not_followed;
		} else if (is_in(CS_GRP_JUMP) || is_in(CS_GRP_BRANCH_RELATIVE)) {
			const auto condition = condition_of(detail);
			into.flow = !has_target ? Flow::indirect : condition == 0 ? Flow::jump : Flow::branch;
			into.condition = condition.value_or(0);
			into.no_exit = condition ? nullptr : not_followed;
		} else if (instruction_->id == X86_INS_UD2 || instruction_->id == X86_INS_HLT ||
			   instruction_->id == X86_INS_INT3) {
			into.flow = Flow::stop;
		}
		if (into.flow == Flow::next)
			into.target = 0;
	}

	// RIP-relative operands, and absolute ones in programs with a fixed address.
	void set_data(Instruction &into) const
	{
		const cs_x86 &detail = instruction_->detail->x86;
		if (instruction_->id == X86_INS_MOV && detail.operands[1].type == X86_OP_IMM)
			into.data = static_cast<std::uint64_t>(detail.operands[1].imm);
		for (unsigned i = 0; i < detail.op_count; ++i) {
			const cs_x86_op &operand = detail.operands[i];
			if (operand.type != X86_OP_MEM)
				continue;
			if (operand.mem.base == X86_REG_RIP)
				into.data = instruction_->address + instruction_->size +
					    static_cast<std::uint64_t>(operand.mem.disp);
			else if (operand.mem.base == X86_REG_INVALID && operand.mem.segment == X86_REG_INVALID)
				into.data = static_cast<std::uint64_t>(operand.mem.disp);
			into.data_bytes = std::max<std::uint64_t>(operand.size, 1);
		}
	}

	csh handle_ = 0;
	cs_insn *instruction_ = nullptr;
};

} // namespace

Exits find_exits(const FunctionCode &code)
{
	X86Decoder decoder;
	if (decoder.is_ready())
		return ControlFlow(code, decoder).run();
	return {0, {}, "the disassembler cannot be started", {}, {}};
}

bool is_padding(std::uint64_t address, std::span<const std::byte> bytes)
{
	X86Decoder decoder;
	return decoder.is_ready() && decoder.is_padding(address, bytes);
}
#else

Exits find_exits([[maybe_unused]] const FunctionCode &code)
{
#if defined(__aarch64__)
	return find_exits_arm64(code);
#elif defined(__x86_64__)
	return {0, {}, "this monitor was built without the library capstone", {}, {}};
#else
	return {0, {}, "functions can be recorded on x86-64 and arm64 only", {}, {}};
#endif
}

bool is_padding(std::uint64_t, std::span<const std::byte>)
{
	return false;
}
#endif

} // namespace monitor::functions
