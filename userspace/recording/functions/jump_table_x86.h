// SPDX-License-Identifier: MIT
// Resolves x86-64 jump tables (switch statements) by symbolic execution of one path to the jump. A table is accepted
// only if a comparison on the path, or the width of a number, bounds its index.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include <capstone/capstone.h>

#include "control_flow.h"

namespace monitor::functions {

class JumpTableSearch {
public:
	explicit JumpTableSearch(csh handle) : handle_(handle) {}

	void step(const cs_insn &instruction);           // the next instruction on the path
	JumpTable table(const FunctionCode &code) const; // of the last instruction

private:
	struct Value {
		enum class Kind : std::uint8_t {
			number,   // unknown, times `factor`
			constant, // `base`
			entry,    // an entry of the table at `base`, indexed by a number
			relative  // such an entry + `target_base`
		} kind = Kind::number;
		std::uint64_t number = 0; // identifies the unknown number
		std::uint64_t max = ~std::uint64_t{0};
		std::uint64_t factor = 1, base = 0, target_base = 0;
		unsigned entry_bytes = 0;
	};
	struct Address { // a constant plus at most one number
		bool is_known = false, has_number = false;
		std::uint64_t base = 0;
		Value number;
	};
	using MemoryOperand = std::tuple<unsigned, std::int64_t, unsigned>; // in memory: register, distance, bytes

	Value new_number(std::uint64_t max = ~std::uint64_t{0});
	const Value &value_of(x86_reg reg);
	Address address_of(const cs_x86_op &operand, const cs_insn &instruction);
	Value loaded(const cs_x86_op &operand, const cs_insn &instruction);
	Value read(const cs_x86_op &operand, const cs_insn &instruction);
	void learn_bound(const cs_insn &next);
	void compare(const cs_insn &instruction);
	void assign(const cs_insn &instruction);
	Value result_of(const cs_insn &instruction);
	Value sum(const Value &a, const Value &b);
	void forget_written(const cs_insn &instruction);
	std::uint64_t bound_of(const Value &number) const;

	csh handle_;
	std::map<unsigned, Value> registers_;           // by the number of the 64-bit register
	std::map<MemoryOperand, Value> memory_;         // until possibly overwritten
	std::map<std::uint64_t, std::uint64_t> bounds_; // of numbers
	std::uint64_t numbers_ = 0;

	// The last comparison and its conditional jump, until it is known whether that was taken.
	bool has_compared_ = false, has_branched_ = false;
	std::uint64_t compared_number_ = 0, compared_constant_ = 0, branch_target_ = 0;
	unsigned branch_ = 0;
	Value last_;
	bool ends_with_jump_ = false;
};

} // namespace monitor::functions
