// SPDX-License-Identifier: MIT
#include "eh_frame.h"

#include <string>

namespace monitor::eh {
namespace {

std::uint64_t lsda_of(Bytes data, std::uint64_t address, const Cie &cie)
{
	Numbers plain(data, address), encoded(data, address);
	const bool has_one = plain.pointer(cie.lsda_encoding & 0x0f) != 0 && !plain.is_bad();
	return cie.lsda_encoding != absent && has_one ? encoded.pointer(cie.lsda_encoding) : 0;
}

} // namespace

std::vector<Fde> Section::fdes()
{
	std::vector<Fde> all;
	for (std::size_t at = 0; at + 4 <= bytes_.size();) {
		const Entry entry = entry_at(at);
		if (entry.next <= at)
			break;
		at = entry.next;
		if (entry.is_empty || entry.is_cie || entry.cie >= bytes_.size())
			continue; // is_empty: a terminator, which may be within the section
		const Cie &cie = cie_of(entry.cie);
		if (cie.is_bad)
			continue;
		Numbers numbers(bytes_.first(entry.next), address_);
		numbers.go_to(entry.content + 4);
		const std::uint64_t first = numbers.pointer(cie.encoding);
		const std::uint64_t size = numbers.pointer(cie.encoding & 0x0f);
		std::uint64_t lsda = 0;
		if (cie.is_augmented) {
			const Bytes data = numbers.block();
			lsda = lsda_of(data, address_of(data), cie);
		}
		if (!numbers.is_bad() && first && size && first + size > first)
			all.push_back({first, first + size, &cie, numbers.rest(), lsda});
	}
	std::ranges::sort(all, {}, &Fde::first);
	return all;
}

Section::Entry Section::entry_at(std::size_t at) const
{
	Numbers numbers(bytes_, address_);
	numbers.go_to(at);
	std::uint64_t length = numbers.fixed<std::uint32_t>();
	if (length == 0)
		return {0, at + 4, 0, true, false};
	if (length == 0xffffffff)
		length = numbers.fixed<std::uint64_t>();
	Entry entry;
	entry.content = numbers.at();
	if (numbers.is_bad() || length < 4 || length > bytes_.size() - entry.content)
		return {};
	entry.next = entry.content + length;
	// .eh_frame counts back from here, .debug_frame from the start of the section.
	const auto id = numbers.fixed<std::uint32_t>();
	entry.is_cie = id == (kind_ == SectionKind::eh_frame ? 0 : 0xffffffff);
	entry.cie = kind_ == SectionKind::eh_frame ? entry.content - id : id;
	return entry;
}

const Cie &Section::cie_of(std::size_t at)
{
	const auto [found, is_new] = cies_.try_emplace(at);
	if (is_new)
		found->second = read_cie(at);
	return found->second;
}

Cie Section::read_cie(std::size_t at) const
{
	Cie cie;
	const Entry entry = entry_at(at);
	cie.is_bad = true;
	if (entry.next <= at || entry.is_empty || !entry.is_cie)
		return cie;
	Numbers numbers(bytes_.first(entry.next), address_);
	numbers.go_to(entry.content + 4);
	const auto version = numbers.fixed<std::uint8_t>();
	std::string augmentation;
	for (char c; (c = static_cast<char>(numbers.fixed<std::uint8_t>())) != 0 && augmentation.size() < 16;)
		augmentation += c;
	constexpr std::uint8_t version_with_sizes = 4;
	if (kind_ == SectionKind::debug_frame && version >= version_with_sizes &&
	    (numbers.fixed<std::uint8_t>() != 8 || numbers.fixed<std::uint8_t>() != 0))
		return cie; // sizes of addresses and of segment selectors
	cie.code_factor = numbers.unsigned_leb();
	cie.data_factor = numbers.signed_leb();
	cie.return_register = numbers.unsigned_leb();
	if (augmentation.starts_with('z')) {
		cie.is_augmented = true;
		const std::size_t from = numbers.at();
		Numbers data(numbers.block(), address_ + from); // the personality's address is ignored
		for (const char c : augmentation.substr(1)) {
			if (c == 'R')
				cie.encoding = data.fixed<std::uint8_t>();
			else if (c == 'P')
				data.pointer(data.fixed<std::uint8_t>() & 0x0f);
			else if (c == 'L')
				cie.lsda_encoding = data.fixed<std::uint8_t>();
			else if (c == 'S')
				cie.is_signal_frame = true;
		}
	} else if (!augmentation.empty()) {
		return cie;
	}
	cie.instructions = numbers.rest();
	cie.is_bad = numbers.is_bad();
	return cie;
}

} // namespace monitor::eh
