// SPDX-License-Identifier: MIT
// Where a jump of x86-64 goes that takes its target from a table: what compilers make of a switch. The instructions of
// one way to the jump are executed with values that are mostly unknown; the table is taken only if a comparison on that
// way, or the width of a number, bounds its index.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>

#include <capstone/capstone.h>

#include "control_flow.h"

namespace monitor::functions {

class JumpTableSearch {
public:
	explicit JumpTableSearch(csh handle) : handle_(handle) {}

	void step(const cs_insn &instruction);           // the next one of the way
	JumpTable table(const FunctionCode &code) const; // of the last one

private:
	struct Value {
		enum class Kind : std::uint8_t {
			number,   // any, times `factor`
			constant, // `base`
			entry,    // what stands in a table at `base`, at a number
			relative  // that and `target_base`
		} kind = Kind::number;
		std::uint64_t number = 0; // which, of those that are compared
		std::uint64_t most = ~std::uint64_t{0};
		std::uint64_t factor = 1, base = 0, target_base = 0;
		unsigned entry_bytes = 0;
	};
	struct Address { // a constant, and at most one number
		bool is_known = false, has_number = false;
		std::uint64_t base = 0;
		Value number;
	};
	using Place = std::tuple<unsigned, std::int64_t, unsigned>; // in memory: register, distance, bytes

	Value fresh(std::uint64_t most = ~std::uint64_t{0});
	const Value &value_of(x86_reg reg);
	Address address_of(const cs_x86_op &operand, const cs_insn &instruction);
	Value loaded(const cs_x86_op &operand, const cs_insn &instruction);
	Value read(const cs_x86_op &operand, const cs_insn &instruction);
	void take_bound(const cs_insn &next);
	void compare(const cs_insn &instruction);
	void assign(const cs_insn &instruction);
	Value result_of(const cs_insn &instruction);
	Value sum(const Value &a, const Value &b);
	void forget_written(const cs_insn &instruction);
	std::uint64_t bound_of(const Value &number) const;

	csh handle_;
	std::map<unsigned, Value> registers_;           // by the number of the 64-bit register
	std::map<Place, Value> memory_;                 // until it may be written
	std::map<std::uint64_t, std::uint64_t> bounds_; // of numbers
	std::uint64_t numbers_ = 0;

	// The last comparison, and the conditional jump that used it, until it is known where that went.
	bool has_compared_ = false, has_branched_ = false;
	std::uint64_t compared_ = 0, with_ = 0, branch_target_ = 0;
	unsigned branch_ = 0;
	Value last_;
	bool ends_with_jump_ = false;
};

} // namespace monitor::functions
