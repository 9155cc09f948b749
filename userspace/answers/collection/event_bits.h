// SPDX-License-Identifier: MIT
// The fields of a record of a TDL file, as the bits of its converted class (tsdl_text.h).
// One object for all events. A cursor has already walked the record, so its fields are inside it; the lengths in them
// are still untrusted. Invariant: at most max_bytes are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reading/events/event.h"

namespace monitor::collection {

class EventBits {
public:
	static constexpr std::size_t max_bytes = std::size_t(1) << 26;

	// Replaces the contents. False: the record needs more than max_bytes, or has too many elements.
	bool encode(const trace::Event &event, bool is_open);

	std::span<const std::byte> bytes() const { return bytes_; }
	// In the last byte.
	std::uint32_t unused_bits() const { return unused_bits_; }
	// Like Shape::present, if it is not open.
	const std::string &present() const { return present_; }

private:
	void put_member(const trace::FieldClass &type);
	void put(const trace::FieldClass &type);
	void put_scalar(const trace::FieldClass &type);
	void put_structure(const trace::FieldClass &type);
	// Returns the number of elements.
	std::uint32_t put_elements(const trace::FieldClass &type);
	void put_bytes(const void *from, std::size_t size_bytes);
	std::size_t put_length();
	void set_length(std::size_t at, std::uint32_t length);

	trace::View view_;
	std::uint64_t at_bits_ = 0; // in the record
	std::vector<std::byte> bytes_;
	std::uint32_t unused_bits_ = 0;
	std::size_t elements_ = 0;
	std::string present_;
	bool is_open_ = false, is_too_large_ = false;
};

} // namespace monitor::collection
