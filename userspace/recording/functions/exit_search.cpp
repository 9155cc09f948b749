// SPDX-License-Identifier: MIT
#include "exit_search.h"

#include <algorithm>
#include <optional>

#ifdef MONITOR_HAS_CAPSTONE
#include <capstone/capstone.h>
#endif

namespace monitor::functions {
#if defined(MONITOR_HAS_CAPSTONE) && defined(__x86_64__)
namespace {

// Of a jump: 0 always, else 1 + the condition, as in the instruction; nullopt: a counter or a register decides.
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
	for (unsigned i = 0; i < instruction.size; ++i) {
		switch (instruction.bytes[i]) {
		case 0x64:
		case 0x65:
		case 0x66:
		case 0x67:
		case 0xf2:
		case 0xf3:
			continue;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0: // lock
		case 0x62: // EVEX
		case 0xc4: // VEX
		case 0xc5:
		case 0xcc:
			return false;
		default:
			return true;
		}
	}
	return false;
}

class Search {
public:
	explicit Search(const std::vector<CodePart> &parts) : parts_(parts)
	{
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK) {
			found_.why_not = "the disassembler cannot be started";
			return;
		}
		cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
		instruction_ = cs_malloc(handle_);
	}
	~Search()
	{
		if (instruction_)
			cs_free(instruction_, 1);
		if (handle_)
			cs_close(&handle_);
	}
	Search(const Search &) = delete;
	Search &operator=(const Search &) = delete;

	Exits run()
	{
		for (const CodePart &part : parts_)
			if (found_.why_not.empty())
				follow(part);
		for (const std::uint64_t target : found_.targets)
			if (found_.why_not.empty() && !found_.starts.contains(target))
				found_.why_not = not_followed;
		if (found_.why_not.empty() &&
		    (found_.entry == 0 || std::ranges::find_if(found_.targets, [&](std::uint64_t target) {
						  return target > parts_.front().address && target <= found_.entry;
					  }) != found_.targets.end()))
			found_.why_not = "the kernel accepts no probe at its first instruction";
		return std::move(found_);
	}

private:
	void follow(const CodePart &part)
	{
		const auto *code = reinterpret_cast<const std::uint8_t *>(part.bytes.data());
		std::size_t left = part.bytes.size();
		std::uint64_t address = part.address;
		while (left > 0) {
			found_.starts.insert(address);
			if (!cs_disasm_iter(handle_, &code, &left, &address, instruction_)) {
				found_.why_not = not_followed;
				return;
			}
			const bool returns = is_in(CS_GRP_RET), calls = is_in(CS_GRP_CALL);
			const bool jumps = !calls && (is_in(CS_GRP_JUMP) || is_in(CS_GRP_BRANCH_RELATIVE));
			if (!is_past_entry_)
				take_entry(returns || calls || jumps);
			if (returns)
				take_exit(0);
			else if (jumps)
				take_jump();
		}
	}

	bool is_in(unsigned group) const { return cs_insn_group(handle_, instruction_, group); }

	// An instruction with a prefix or encoding that the kernel refuses moves no stack pointer: the next will do.
	void take_entry(bool leaves)
	{
		is_past_entry_ = leaves || can_be_probed(*instruction_);
		if (can_be_probed(*instruction_))
			found_.entry = instruction_->address;
	}

	// One through a register or memory goes to a case of a switch, or is a tail call: unknown, so it is no exit.
	void take_jump()
	{
		const cs_x86 &detail = instruction_->detail->x86;
		if (detail.op_count != 1 || detail.operands[0].type != X86_OP_IMM)
			return;
		const auto target = static_cast<std::uint64_t>(detail.operands[0].imm);
		const bool is_inside =
		    std::ranges::any_of(parts_, [&](const CodePart &part) { return part.contains(target); });
		if (target == parts_.front().address)
			found_.why_not = "a loop in it begins at its first instruction";
		else if (is_inside)
			found_.targets.push_back(target);
		else if (const auto condition = condition_of(detail))
			take_exit(*condition);
		else
			found_.why_not = not_followed;
	}

	void take_exit(std::uint8_t condition)
	{
		if (!can_be_probed(*instruction_))
			found_.why_not = "the kernel accepts no probe at an instruction that leaves it";
		found_.exits.push_back({instruction_->address, condition});
	}

	const std::vector<CodePart> &parts_;
	csh handle_ = 0;
	cs_insn *instruction_ = nullptr;
	bool is_past_entry_ = false;
	Exits found_;
};

} // namespace

Exits find_exits(const std::vector<CodePart> &parts)
{
	return Search(parts).run();
}
#else

Exits find_exits([[maybe_unused]] const std::vector<CodePart> &parts)
{
#if defined(__aarch64__)
	return find_exits_arm64(parts);
#elif defined(__x86_64__)
	return {0, {}, "this monitor was built without the library capstone", {}, {}};
#else
	return {0, {}, "functions can be recorded on x86-64 and arm64 only", {}, {}};
#endif
}
#endif

} // namespace monitor::functions
