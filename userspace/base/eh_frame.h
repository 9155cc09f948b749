// SPDX-License-Identifier: MIT
// Parses .eh_frame (Linux Standard Base 5.0, 10.6.1) and .debug_frame (DWARF 5, 6.4.1): an FDE per function, and CIEs
// that FDEs share.
//
// The file is untrusted: invalid parts are skipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

namespace monitor::eh {

using Bytes = std::span<const std::byte>;

constexpr unsigned max_leb_bits = 112; // compilers pad numbers, but not beyond 64 bits

// Pointer encodings of the Linux Standard Base, 10.5.1
constexpr unsigned absent = 0xff, relative_to_itself = 0x10;

// Reads numbers one after the other; past the end it becomes bad and reads 0.
class Numbers {
public:
	Numbers(Bytes bytes, std::uint64_t address) : bytes_(bytes), address_(address) {}

	bool is_bad() const { return is_bad_; }
	bool at_end() const { return at_ >= bytes_.size() || is_bad_; }
	std::size_t at() const { return at_; }
	void go_to(std::size_t at) { at_ = std::min(at, bytes_.size()); }
	Bytes rest() const { return bytes_.subspan(at_); }

	template <class T> T fixed()
	{
		T value{};
		if (bytes_.size() - at_ < sizeof value) {
			is_bad_ = true;
			return 0;
		}
		std::memcpy(&value, bytes_.data() + at_, sizeof value);
		at_ += sizeof value;
		return value;
	}

	std::uint64_t unsigned_leb()
	{
		std::uint64_t value = 0;
		for (unsigned shift = 0; shift < max_leb_bits; shift += 7) {
			const auto byte = fixed<std::uint8_t>();
			if (shift < 64)
				value |= std::uint64_t{byte & 0x7fu} << shift;
			if (!(byte & 0x80))
				return value;
		}
		is_bad_ = true;
		return 0;
	}

	std::int64_t signed_leb()
	{
		std::uint64_t value = 0;
		for (unsigned shift = 0; shift < max_leb_bits;) {
			const auto byte = fixed<std::uint8_t>();
			if (shift < 64)
				value |= std::uint64_t{byte & 0x7fu} << shift;
			shift += 7;
			if (byte & 0x80)
				continue;
			if (byte & 0x40 && shift < 64)
				value |= ~std::uint64_t{0} << shift;
			return static_cast<std::int64_t>(value);
		}
		is_bad_ = true;
		return 0;
	}

	std::uint64_t pointer(unsigned encoding)
	{
		if (encoding == absent)
			return 0;
		const std::uint64_t here = address_ + at_;
		std::uint64_t value = 0;
		switch (encoding & 0x0f) {
		case 0x00: // DW_EH_PE_absptr
		case 0x04: // udata8
		case 0x0c: // sdata8
			value = fixed<std::uint64_t>();
			break;
		case 0x01: // uleb128
			value = unsigned_leb();
			break;
		case 0x02: // udata2
			value = fixed<std::uint16_t>();
			break;
		case 0x03: // udata4
			value = fixed<std::uint32_t>();
			break;
		case 0x09: // sleb128
			value = static_cast<std::uint64_t>(signed_leb());
			break;
		case 0x0a: // sdata2
			value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int16_t>()});
			break;
		case 0x0b: // sdata4
			value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int32_t>()});
			break;
		default:
			is_bad_ = true;
		}
		return (encoding & 0x70) == relative_to_itself ? value + here : value;
	}

	// Bytes after their length.
	Bytes block()
	{
		const std::uint64_t size = unsigned_leb();
		if (size > bytes_.size() - at_) {
			is_bad_ = true;
			return {};
		}
		at_ += size;
		return bytes_.subspan(at_ - size, size);
	}

private:
	Bytes bytes_;
	std::uint64_t address_;
	std::size_t at_ = 0;
	bool is_bad_ = false;
};

struct Cie {
	std::uint64_t code_factor = 1, return_register = 0;
	std::int64_t data_factor = 1;
	unsigned encoding = 0, lsda_encoding = absent;
	bool is_augmented = false, is_signal_frame = false;
	Bytes instructions;
	bool is_bad = false;
};

struct Fde {
	std::uint64_t first, end;
	const Cie *cie;
	Bytes instructions;
	std::uint64_t lsda; // address of the table of its landing pads; 0: none
};

enum class SectionKind : std::uint8_t { eh_frame, debug_frame };

class Section {
public:
	Section(Bytes bytes, std::uint64_t address, SectionKind kind = SectionKind::eh_frame)
	    : bytes_(bytes), address_(address), kind_(kind)
	{
	}

	std::vector<Fde> fdes(); // by address
	std::uint64_t address_of(Bytes part) const
	{
		return address_ + static_cast<std::uint64_t>(part.data() - bytes_.data());
	}

private:
	struct Entry {
		std::size_t content = 0, next = 0; // content: of the CIE pointer
		std::size_t cie = 0;               // of an FDE: where its CIE is
		bool is_empty = false, is_cie = false;
	};

	Entry entry_at(std::size_t at) const;
	const Cie &cie_of(std::size_t at);
	Cie read_cie(std::size_t at) const;

	Bytes bytes_;
	std::uint64_t address_;
	SectionKind kind_;
	std::map<std::size_t, Cie> cies_;
};

} // namespace monitor::eh
