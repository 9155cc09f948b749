// SPDX-License-Identifier: MIT
#include "unwind_table.h"

#include <algorithm>
#include <unordered_map>

namespace monitor::stacks {
namespace {

using eh::Bytes, eh::Cie, eh::Fde, eh::Numbers;

// DWARF register numbers of x86-64
constexpr std::uint64_t frame_pointer = 6, stack_pointer = 7, return_address = 16;
constexpr std::size_t max_remembered = 64;
constexpr std::size_t max_cie_instructions = 256; // bytes; compilers write about ten

// The unwind state at one address.
struct State {
	enum class Cfa : std::uint8_t {
		unknown,
		stack_pointer,
		frame_pointer,
		plt,
		signal,
		indirect
	} cfa = Cfa::unknown;
	enum class Fp : std::uint8_t { same, at_cfa, at_frame_pointer, unknown } fp = Fp::same;
	std::int64_t offset = 0, fp_offset = 0;
	bool is_outermost = false, is_return_unknown = false;
};

std::int64_t scaled(std::uint64_t value, std::int64_t factor)
{
	return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(factor));
}

void set_register(State &state, std::uint64_t number, State::Fp how, std::int64_t offset = 0)
{
	if (number == frame_pointer) {
		state.fp = how;
		state.fp_offset = offset;
	}
	if (number == return_address)
		state.is_return_unknown = how != State::Fp::at_cfa || offset != -8;
}

void set_cfa(State &state, std::uint64_t number)
{
	state.cfa = number == stack_pointer   ? State::Cfa::stack_pointer
		    : number == frame_pointer ? State::Cfa::frame_pointer
					      : State::Cfa::unknown;
}

// Recognizes the expressions that compilers and libraries use; others are unknown.
void set_cfa_expression(State &state, Bytes expression, bool is_signal_frame)
{
	const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(expression[i]); };
	constexpr unsigned breg6 = 0x76, breg7 = 0x77, breg16 = 0x80, deref = 0x06, lit15 = 0x3f, lit0 = 0x30;
	state.cfa = State::Cfa::unknown;
	const std::size_t size = expression.size();
	if (is_signal_frame && size >= 3 && byte(0) == breg7) {
		state.cfa = State::Cfa::signal;
	} else if (size == 11 && byte(0) == breg7 && byte(1) == 8 && byte(2) == breg16 && byte(4) == lit15 &&
		   byte(6) >= lit0 && byte(6) <= lit15) { // the linker's for .plt: sp + 8 + ((ip & 15) >= n) * 8
		state.cfa = State::Cfa::plt;
		state.offset = byte(6) - lit0;
	} else if (size >= 3 && byte(0) == breg6 && byte(size - 1) == deref) { // a realigned stack
		Numbers offset(expression.subspan(1, size - 2), 0);
		state.offset = offset.signed_leb();
		if (offset.at_end() && !offset.is_bad())
			state.cfa = State::Cfa::indirect;
	}
}

bool fits(std::int64_t offset, std::int64_t low, std::int64_t high)
{
	return offset % 8 == 0 && offset / 8 >= low && offset / 8 <= high;
}

edc_unwind_row row_at(std::uint64_t address, const State &state)
{
	edc_unwind_row row{static_cast<std::uint32_t>(address), 0, 0, EDC_UNWIND_UNKNOWN};
	if (state.is_outermost) {
		row.rule = EDC_UNWIND_END;
		return row;
	}
	if (state.cfa == State::Cfa::signal) {
		row.rule = EDC_UNWIND_SIGNAL;
		return row;
	}
	const bool fp_at_cfa = state.fp == State::Fp::at_cfa && state.fp_offset != 8 && state.fp_offset != 0;
	if (state.is_return_unknown || state.fp == State::Fp::unknown ||
	    (state.fp == State::Fp::at_cfa && !(fp_at_cfa && fits(state.fp_offset, INT8_MIN, INT8_MAX))))
		return row;
	const auto set_rule = [&](std::uint8_t rule, std::int64_t cfa) {
		row.rule = rule;
		row.cfa = static_cast<std::int16_t>(cfa);
		row.fp = state.fp == State::Fp::same
			     ? std::int8_t{0}
			     : static_cast<std::int8_t>(fp_at_cfa ? state.fp_offset / 8 : EDC_UNWIND_FP_AT_FP);
	};
	if (state.cfa == State::Cfa::plt) {
		set_rule(EDC_UNWIND_PLT, state.offset);
	} else if (fits(state.offset, INT16_MIN, INT16_MAX)) {
		if (state.cfa == State::Cfa::stack_pointer)
			set_rule(EDC_UNWIND_SP, state.offset / 8);
		else if (state.cfa == State::Cfa::frame_pointer)
			set_rule(EDC_UNWIND_FP, state.offset / 8);
		else if (state.cfa == State::Cfa::indirect)
			set_rule(EDC_UNWIND_INDIRECT, state.offset / 8);
	}
	return row;
}

// Runs the instructions of a CIE (without rows) or of an FDE.
class Interpreter {
public:
	Interpreter(const Cie &cie, std::uint64_t address, std::uint64_t end, RowList *rows)
	    : cie_(cie), address_(address), end_(end), rows_(rows)
	{
	}

	// False at an unsupported instruction: the rest is unknown.
	bool run(Bytes instructions, std::uint64_t address_of_bytes, State &state, const State &initial)
	{
		Numbers numbers(instructions, address_of_bytes);
		while (!numbers.at_end()) {
			const auto code = numbers.fixed<std::uint8_t>();
			if (!(code & 0xc0 ? primary_opcode(code, numbers, state, initial)
					  : extended_opcode(code, numbers, state, initial)) ||
			    numbers.is_bad()) {
				state = State{};
				return false;
			}
		}
		return true;
	}
	std::uint64_t address() const { return address_; }

private:
	void advance(std::uint64_t steps, const State &state)
	{
		if (rows_ && address_ < end_)
			rows_->add(row_at(address_, state));
		const std::uint64_t by = steps * cie_.code_factor;
		address_ = by > end_ - std::min(address_, end_) ? end_ : address_ + by;
	}

	static void restore(std::uint64_t number, State &state, const State &initial)
	{
		if (number == frame_pointer) {
			state.fp = initial.fp;
			state.fp_offset = initial.fp_offset;
		}
		if (number == return_address) {
			state.is_outermost = initial.is_outermost;
			state.is_return_unknown = initial.is_return_unknown;
		}
	}

	bool primary_opcode(std::uint8_t code, Numbers &numbers, State &state, const State &initial)
	{
		const std::uint64_t operand = code & 0x3f;
		if (code >> 6 == 1)
			advance(operand, state);
		else if (code >> 6 == 2)
			set_register(state, operand, State::Fp::at_cfa,
				     scaled(numbers.unsigned_leb(), cie_.data_factor));
		else
			restore(operand, state, initial);
		return true;
	}

	void set_expression(std::uint64_t number, Bytes expression, State &state)
	{
		const bool at_frame_pointer = expression.size() == 2 && expression[0] == std::byte{0x76} &&
					      expression[1] == std::byte{0}; // breg6 0
		set_register(state, number, at_frame_pointer ? State::Fp::at_frame_pointer : State::Fp::unknown);
	}

	bool extended_opcode(std::uint8_t code, Numbers &numbers, State &state, const State &initial)
	{
		switch (code) {
		case 0x00: // nop
			return true;
		case 0x01: // set_loc
			return set_location(numbers.pointer(cie_.encoding), state);
		case 0x02: // advance_loc1
			advance(numbers.fixed<std::uint8_t>(), state);
			return true;
		case 0x03: // advance_loc2
			advance(numbers.fixed<std::uint16_t>(), state);
			return true;
		case 0x04: // advance_loc4
			advance(numbers.fixed<std::uint32_t>(), state);
			return true;
		case 0x0a: // remember_state
			if (remembered_.size() >= max_remembered)
				return false;
			remembered_.push_back(state);
			return true;
		case 0x0b: // restore_state
			if (remembered_.empty())
				return false;
			state = remembered_.back();
			remembered_.pop_back();
			return true;
		case 0x0c: // def_cfa
			set_cfa(state, numbers.unsigned_leb());
			state.offset = static_cast<std::int64_t>(numbers.unsigned_leb());
			return true;
		case 0x0d: // def_cfa_register
			set_cfa(state, numbers.unsigned_leb());
			return true;
		case 0x0e: // def_cfa_offset
			state.offset = static_cast<std::int64_t>(numbers.unsigned_leb());
			return true;
		case 0x0f: // def_cfa_expression
			set_cfa_expression(state, numbers.block(), cie_.is_signal_frame);
			return true;
		case 0x12: // def_cfa_sf
			set_cfa(state, numbers.unsigned_leb());
			state.offset = scaled(static_cast<std::uint64_t>(numbers.signed_leb()), cie_.data_factor);
			return true;
		case 0x13: // def_cfa_offset_sf
			state.offset = scaled(static_cast<std::uint64_t>(numbers.signed_leb()), cie_.data_factor);
			return true;
		case 0x2e: // GNU_args_size
			numbers.unsigned_leb();
			return true;
		default:
			return register_opcode(code, numbers, state, initial);
		}
	}

	bool register_opcode(std::uint8_t code, Numbers &numbers, State &state, const State &initial)
	{
		const std::uint64_t number = numbers.unsigned_leb();
		switch (code) {
		case 0x05: // offset_extended
			set_register(state, number, State::Fp::at_cfa,
				     scaled(numbers.unsigned_leb(), cie_.data_factor));
			return true;
		case 0x06: // restore_extended
			restore(number, state, initial);
			return true;
		case 0x07: // undefined: without a return address, the frame is the outermost
			if (number == return_address)
				state.is_outermost = true;
			else
				set_register(state, number, State::Fp::same); // not needed any more
			return true;
		case 0x08: // same_value
			set_register(state, number, State::Fp::same);
			return true;
		case 0x09: // register
		case 0x14: // val_offset
			numbers.unsigned_leb();
			set_register(state, number, State::Fp::unknown);
			return true;
		case 0x10: // expression
			set_expression(number, numbers.block(), state);
			return true;
		case 0x11: // offset_extended_sf
			set_register(state, number, State::Fp::at_cfa,
				     scaled(static_cast<std::uint64_t>(numbers.signed_leb()), cie_.data_factor));
			return true;
		case 0x15: // val_offset_sf
			numbers.signed_leb();
			set_register(state, number, State::Fp::unknown);
			return true;
		case 0x16: // val_expression
			numbers.block();
			set_register(state, number, State::Fp::unknown);
			return true;
		default:
			return false;
		}
	}

	bool set_location(std::uint64_t to, const State &state)
	{
		if (to < address_ || to > end_)
			return false;
		if (rows_)
			rows_->add(row_at(address_, state));
		address_ = to;
		return true;
	}

	const Cie &cie_;
	std::uint64_t address_, end_;
	RowList *rows_;
	std::vector<State> remembered_;
};

bool has_rows(const Fde &fde)
{
	return fde.end <= ~std::uint32_t{0} && fde.cie->return_register == return_address &&
	       fde.cie->instructions.size() <= max_cie_instructions;
}

} // namespace

std::vector<edc_unwind_row> unwind_table(std::span<const std::byte> bytes, std::uint64_t address, eh::SectionKind kind)
{
	eh::Section section(bytes, address, kind);
	RowList rows;
	std::unordered_map<const Cie *, State> initial_states;
	std::uint64_t end = 0, rules_end = 0; // of the last FDE's code, and of the addresses its rules apply to
	for (const Fde &fde : section.fdes()) {
		if (!has_rows(fde) || fde.first < end)
			continue; // the first FDE for an address wins
		if (end && fde.first > end)
			rows.add(without_rule(rules_end));
		const auto [of_cie, is_new] = initial_states.try_emplace(fde.cie);
		const State &initial = of_cie->second;
		if (is_new)
			Interpreter(*fde.cie, 0, ~0ull, nullptr)
			    .run(fde.cie->instructions, section.address_of(fde.cie->instructions), of_cie->second,
				 State{});
		State state = initial;
		Interpreter interpreter(*fde.cie, fde.first, fde.end, &rows);
		interpreter.run(fde.instructions, section.address_of(fde.instructions), state, initial);
		if (interpreter.address() < fde.end)
			rows.add(row_at(interpreter.address(), state));
		end = fde.end;
		// a signal's return code ends with a system call, during which a thread's address is fde.end
		rules_end = fde.end + fde.cie->is_signal_frame;
	}
	if (end)
		rows.add(without_rule(rules_end));
	return rows.take();
}

} // namespace monitor::stacks
