// SPDX-License-Identifier: MIT
// The contexts of generic CTF events as text or as JSON. They are mostly the same as in the previous event of the
// class: for contexts of fixed size the last bytes and their text are kept, and reused if the bytes are the same. One
// object per class and thread.
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
	std::vector<std::byte> bytes_; // of fixed size; empty if it varies
	std::string printed_;          // initially ""
};

} // namespace monitor::trace
