// SPDX-License-Identifier: MIT
// Parses the lines of a block that are fields: types, amounts, and the clauses after them.
//
// Base class of the parser of blocks (parser.cpp).
#pragma once

#include "token_reader.h"

namespace monitor::trace::tdl {

class FieldParser : public TokenReader {
public:
	using TokenReader::TokenReader;

	// Whether the `ahead`th word begins a type.
	bool is_type(std::size_t ahead) const;
	// NAME TYPE CLAUSE... ["meaning"], to the end of the line.
	Item field();
	// filler ..., after the word.
	Item filler();
	// NUMBER, or FIELD [times N] [plus N | minus N]
	Amount amount();
	// The same, but not 0.
	Amount positive_amount();
	// UNIT after `in`
	Unit unit();
	bool take_byte_order(std::optional<bool> &big_endian);
	// A group's repetition; false: none.
	bool repetition(Field &field);

private:
	void type(Field &field);
	std::uint32_t scalar_bits(bool is_real);
	void scalar(Field &field, bool &is_real);
	void extent(Field &field);
	void clause(Field &field);
	void checksum(Field &field);
};

} // namespace monitor::trace::tdl
