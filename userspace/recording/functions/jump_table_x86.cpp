// SPDX-License-Identifier: MIT
#if defined(MONITOR_HAS_CAPSTONE) && defined(__x86_64__)
#include "jump_table_x86.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace monitor::functions {
namespace {

constexpr std::uint64_t max_entries = 1 << 16, max_by_width = 256;

// The names of each register, the one of all its 64 bits first.
constexpr unsigned registers[][5] = {
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0},
};

// The 64-bit register of a partial one; 0: not a general-purpose register.
unsigned full_register(unsigned reg)
{
	for (const auto &parts : registers)
		if (reg && std::ranges::find(parts, reg) != std::end(parts))
			return parts[0];
	return 0;
}

} // namespace

void JumpTableSearch::step(const cs_insn &instruction)
{
	learn_bound(instruction);
	const cs_x86 &detail = instruction.detail->x86;
	ends_with_jump_ =
	    instruction.id == X86_INS_JMP && detail.op_count == 1 && detail.operands[0].type != X86_OP_IMM;
	if (ends_with_jump_)
		last_ = read(detail.operands[0], instruction);
	else if (instruction.id == X86_INS_CMP)
		compare(instruction);
	else
		assign(instruction);
	if (instruction.id == X86_INS_JA || instruction.id == X86_INS_JAE || instruction.id == X86_INS_JB ||
	    instruction.id == X86_INS_JBE) {
		has_branched_ = has_compared_;
		branch_ = instruction.id;
		branch_target_ = static_cast<std::uint64_t>(detail.operands[0].imm);
	}
}

// Whether the previous conditional jump was taken follows from the next instruction.
void JumpTableSearch::learn_bound(const cs_insn &next)
{
	if (!has_branched_)
		return;
	has_branched_ = false;
	const bool was_taken = next.address == branch_target_;
	const bool is_below = branch_ == X86_INS_JB || branch_ == X86_INS_JBE;
	const bool may_be_equal = branch_ == X86_INS_JBE || branch_ == X86_INS_JA;
	if (was_taken != is_below || (!may_be_equal && compared_constant_ == 0))
		return;
	const std::uint64_t max = may_be_equal ? compared_constant_ : compared_constant_ - 1;
	const auto [bound, is_new] = bounds_.try_emplace(compared_number_, max);
	bound->second = std::min(bound->second, max);
}

void JumpTableSearch::compare(const cs_insn &instruction)
{
	const cs_x86 &detail = instruction.detail->x86;
	has_compared_ = detail.op_count == 2 && detail.operands[1].type == X86_OP_IMM && detail.operands[1].imm >= 0;
	if (!has_compared_)
		return;
	const Value value = read(detail.operands[0], instruction);
	has_compared_ = value.kind == Value::Kind::number && value.factor == 1;
	compared_number_ = value.number;
	compared_constant_ = static_cast<std::uint64_t>(detail.operands[1].imm);
}

JumpTableSearch::Value JumpTableSearch::new_number(std::uint64_t max)
{
	Value value;
	value.number = ++numbers_;
	value.max = max;
	return value;
}

const JumpTableSearch::Value &JumpTableSearch::value_of(x86_reg reg)
{
	const auto [found, is_new] = registers_.try_emplace(full_register(reg));
	if (is_new)
		found->second = new_number();
	return found->second;
}

JumpTableSearch::Address JumpTableSearch::address_of(const cs_x86_op &operand, const cs_insn &instruction)
{
	const x86_op_mem &memory = operand.mem;
	Address address;
	address.base = static_cast<std::uint64_t>(memory.disp);
	address.is_known = memory.segment == X86_REG_INVALID;
	if (memory.base == X86_REG_RIP)
		address.base += instruction.address + instruction.size;
	const auto add = [&](x86_reg reg, std::uint64_t scale) {
		if (reg == X86_REG_INVALID || reg == X86_REG_RIP)
			return;
		Value value = full_register(reg) ? value_of(reg) : new_number();
		if (value.kind == Value::Kind::constant) {
			address.base += value.base * scale;
		} else if (value.kind == Value::Kind::number && !address.has_number) {
			address.has_number = true;
			value.factor *= scale;
			address.number = value;
		} else {
			address.is_known = false;
		}
	};
	add(memory.base, 1);
	add(memory.index, static_cast<std::uint64_t>(memory.scale));
	return address;
}

JumpTableSearch::Value JumpTableSearch::loaded(const cs_x86_op &operand, const cs_insn &instruction)
{
	const x86_op_mem &memory = operand.mem;
	const Address address = address_of(operand, instruction);
	if (address.is_known && address.has_number && address.base && (operand.size == 4 || operand.size == 8) &&
	    address.number.factor == operand.size && memory.base != X86_REG_RSP && memory.base != X86_REG_RBP) {
		Value value = address.number;
		value.kind = Value::Kind::entry;
		value.base = address.base;
		value.entry_bytes = operand.size;
		return value;
	}
	if (!full_register(memory.base) || memory.index != X86_REG_INVALID || memory.segment != X86_REG_INVALID)
		return new_number();
	const auto [found, is_new] =
	    memory_.try_emplace(MemoryOperand(full_register(memory.base), memory.disp, operand.size));
	if (is_new)
		found->second = new_number();
	return found->second;
}

JumpTableSearch::Value JumpTableSearch::read(const cs_x86_op &operand, const cs_insn &instruction)
{
	if (operand.type == X86_OP_MEM)
		return loaded(operand, instruction);
	if (operand.type == X86_OP_REG && full_register(operand.reg))
		return value_of(operand.reg);
	Value value = new_number();
	if (operand.type == X86_OP_IMM) {
		value.kind = Value::Kind::constant;
		value.base = static_cast<std::uint64_t>(operand.imm);
	}
	return value;
}

// Pointers into a table, and offsets relative to it.
JumpTableSearch::Value JumpTableSearch::sum(const Value &a, const Value &b)
{
	using ValueKind = Value::Kind;
	Value value = new_number();
	if (a.kind == ValueKind::constant && b.kind == ValueKind::constant) {
		value.kind = ValueKind::constant;
		value.base = a.base + b.base;
	} else if (a.kind == ValueKind::entry && b.kind == ValueKind::constant && a.entry_bytes == 4) {
		value = a;
		value.kind = ValueKind::relative;
		value.target_base = b.base;
	} else if (a.kind == ValueKind::constant && b.kind == ValueKind::entry) {
		return sum(b, a);
	}
	return value;
}

JumpTableSearch::Value JumpTableSearch::result_of(const cs_insn &instruction)
{
	using ValueKind = Value::Kind;
	const cs_x86 &detail = instruction.detail->x86;
	const cs_x86_op &to = detail.operands[0], &from = detail.operands[1];
	switch (instruction.id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVSXD:
		return read(from, instruction);
	case X86_INS_MOVZX:
	case X86_INS_MOVSX: {
		Value value = read(from, instruction);
		if (value.kind != ValueKind::number || value.factor != 1 || from.size > 2)
			return new_number();
		if (instruction.id == X86_INS_MOVZX)
			value.max = std::min(value.max, (std::uint64_t{1} << 8 * from.size) - 1);
		return value;
	}
	case X86_INS_LEA: {
		const Address address = address_of(from, instruction);
		Value value = new_number();
		if (address.is_known && !address.has_number) {
			value.kind = ValueKind::constant;
			value.base = address.base;
		} else if (address.is_known && address.base == 0) {
			value = address.number;
		}
		return value;
	}
	case X86_INS_ADD:
		return sum(read(to, instruction), read(from, instruction));
	case X86_INS_AND:
		return from.type == X86_OP_IMM && from.imm >= 0 ? new_number(static_cast<std::uint64_t>(from.imm))
								: new_number();
	default:
		return new_number();
	}
}

void JumpTableSearch::assign(const cs_insn &instruction)
{
	const cs_x86 &detail = instruction.detail->x86;
	if (instruction.id == X86_INS_CDQE) // sign-extends an offset or an index
		return;
	const bool is_to_register = detail.op_count == 2 && detail.operands[0].type == X86_OP_REG &&
				    full_register(detail.operands[0].reg) && detail.operands[0].size >= 4;
	const Value value = is_to_register ? result_of(instruction) : Value();
	const unsigned to = is_to_register ? full_register(detail.operands[0].reg) : 0;
	forget_written(instruction);
	if (is_to_register && instruction.id != X86_INS_TEST)
		registers_[to] = value;
}

void JumpTableSearch::forget_written(const cs_insn &instruction)
{
	const cs_x86 &detail = instruction.detail->x86;
	cs_regs read, written;
	std::uint8_t reads = 0, writes = 0;
	const bool is_call = cs_insn_group(handle_, &instruction, CS_GRP_CALL);
	if (is_call || instruction.id == X86_INS_SYSCALL ||
	    cs_regs_access(handle_, &instruction, read, &reads, written, &writes) != CS_ERR_OK) {
		for (const unsigned reg : {X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RSI, X86_REG_RDI, X86_REG_R8,
					   X86_REG_R9, X86_REG_R10, X86_REG_R11})
			registers_.erase(reg);
		memory_.clear();
	}
	bool has_flags = false;
	for (unsigned i = 0; i < writes; ++i) {
		has_flags = has_flags || written[i] == X86_REG_EFLAGS;
		registers_.erase(full_register(written[i]));
		std::erase_if(memory_,
			      [&](const auto &entry) { return std::get<0>(entry.first) == full_register(written[i]); });
	}
	for (unsigned i = 0; i < detail.op_count; ++i)
		if (detail.operands[i].type == X86_OP_MEM && detail.operands[i].access & CS_AC_WRITE)
			memory_.clear();
	if (has_flags || is_call)
		has_compared_ = false;
}

std::uint64_t JumpTableSearch::bound_of(const Value &number) const
{
	const auto bound = bounds_.find(number.number);
	return bound == bounds_.end() ? number.max : std::min(number.max, bound->second);
}

JumpTable JumpTableSearch::table(const FunctionCode &code) const
{
	using ValueKind = Value::Kind;
	JumpTable table;
	const bool is_table =
	    ends_with_jump_ && code.read &&
	    ((last_.kind == ValueKind::entry && last_.entry_bytes == 8) || last_.kind == ValueKind::relative);
	const bool is_compared = is_table && bounds_.contains(last_.number);
	const std::uint64_t max = is_table ? bound_of(last_) : 0;
	if (!is_table || max >= (is_compared ? max_entries : max_by_width))
		return table;
	std::vector<std::byte> bytes((max + 1) * last_.entry_bytes);
	if (!code.read(last_.base, bytes))
		return table;
	table.address = last_.base;
	table.bytes = bytes.size();
	for (std::size_t at = 0; at < bytes.size(); at += last_.entry_bytes) {
		std::uint64_t target = 0;
		std::memcpy(&target, bytes.data() + at, last_.entry_bytes);
		if (last_.kind == ValueKind::relative)
			target = last_.target_base +
				 static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(target)});
		table.targets.push_back(target);
	}
	return table;
}

} // namespace monitor::functions
#endif
