// SPDX-License-Identifier: MIT
// The contexts of described events as text or as JSON: mostly what the event before of that class had.
//
// Used like FieldText (field_text.h), for one class by one thread. Of contexts whose size never varies the bytes that
// were printed last are kept; where they stand again, so does the text.
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
	std::vector<std::byte> bytes_; // of its size; none if that varies
	std::string printed_;          // "" at first
};

} // namespace monitor::trace
