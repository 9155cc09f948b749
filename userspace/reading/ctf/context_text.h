// SPDX-License-Identifier: MIT
// The contexts of generic CTF events as text or as JSON: mostly the same as in the previous event of that class.
//
// Used like FieldText (field_text.h), for one class by one thread. For contexts of fixed size, the bytes that were
// printed last are kept; if the next event has the same bytes, their text is reused.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "field_text.h"

namespace monitor::trace {

class ContextText {
public:
	ContextText(const FieldClass &scope, bool json);

	void put(const View &view, std::uint64_t &at_bits, LineBuffer &out);

private:
	FieldText text_;
	std::uint32_t align_bits_;
	std::vector<std::byte> bytes_; // of the context's size; empty if that varies
	std::string printed_;          // "" at first
};

} // namespace monitor::trace
