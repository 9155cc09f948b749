// SPDX-License-Identifier: MIT
#include "record_layout.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace monitor::trace {
namespace {

constexpr std::uint64_t selector_limit = 4096; // values below this are looked up

constexpr std::array<std::uint32_t, 256> make_crc_table()
{
	std::array<std::uint32_t, 256> table{};
	for (std::uint32_t i = 0; i < 256; ++i) {
		std::uint32_t value = i;
		for (int bit = 0; bit < 8; ++bit)
			value = value & 1 ? value >> 1 ^ 0xEDB88320u : value >> 1;
		table[i] = value;
	}
	return table;
}

// The CRC-32 of zlib, Ethernet and PNG.
std::uint32_t crc32(const std::byte *bytes, std::uint64_t size_bytes)
{
	static constexpr auto table = make_crc_table();
	std::uint32_t crc = ~0u;
	for (std::uint64_t i = 0; i < size_bytes; ++i)
		crc = crc >> 8 ^ table[(crc ^ std::to_integer<std::uint32_t>(bytes[i])) & 255];
	return ~crc;
}

bool is_read_alike(const RecordPart &a, const RecordPart &b)
{
	return a.slot == b.slot && a.at_bits == b.at_bits && a.size_bits == b.size_bits && a.is_signed == b.is_signed &&
	       a.big_endian == b.big_endian;
}

bool is_within(const RecordTest &inner, const RecordTest &outer)
{
	const auto is_covered = [&](const LabelRange &range) {
		return std::ranges::any_of(outer.test.values, [&](const LabelRange &all) {
			return range.first - all.first <= all.last - all.first &&
			       range.last - range.first <= all.last - range.first;
		});
	};
	return is_read_alike(inner.part, outer.part) && inner.test.mask == outer.test.mask &&
	       std::ranges::all_of(inner.test.values, is_covered);
}

} // namespace

std::uint64_t RecordSize::bits(const View &view) const
{
	constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();
	std::uint64_t size = has_part ? part.read(view) : 0;
	if (__builtin_mul_overflow(size, times, &size) || __builtin_add_overflow(size, plus, &size) ||
	    size > endless - multiple)
		return endless;
	return (size + multiple - 1) / multiple * multiple;
}

std::string RecordConstant::mismatch(const char *block, std::uint64_t found) const
{
	const auto in_base = [this](std::uint64_t number) {
		if (base == 10)
			return is_signed ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number);
		char text[max_number_chars];
		return std::string(text, put_hex(text, number));
	};
	return std::string("the ") + block + "'s " + (name.empty() ? "filler" : name) + " is " + in_base(found) +
	       ", but must always be " + in_base(value);
}

std::uint64_t checksum_of(ChecksumMethod method, const std::byte *bytes, std::uint64_t size_bytes)
{
	if (method == ChecksumMethod::crc32)
		return crc32(bytes, size_bytes);
	std::uint64_t sum = 0, all = 0;
	for (std::uint64_t i = 0; i < size_bytes; ++i) {
		sum += std::to_integer<std::uint64_t>(bytes[i]);
		all ^= std::to_integer<std::uint64_t>(bytes[i]);
	}
	switch (method) {
	case ChecksumMethod::xor8:
		return all;
	case ChecksumMethod::sum8:
		return sum & 0xff;
	case ChecksumMethod::sum16:
		return sum & 0xffff;
	default:
		return sum & 0xffffffff;
	}
}

bool RecordForm::is_within(const RecordForm &other) const
{
	return std::ranges::all_of(other.tests, [this](const RecordTest &outer) {
		return std::ranges::any_of(tests,
					   [&](const RecordTest &inner) { return trace::is_within(inner, outer); });
	});
}

void RecordLayout::index()
{
	first_form.clear();
	if (forms.size() < 2 || forms.front().tests.empty())
		return;
	const RecordTest &first = forms.front().tests.front();
	const auto is_selected = [&](const RecordForm &form) {
		return !form.tests.empty() && is_read_alike(form.tests.front().part, first.part);
	};
	selector = first.part;
	first_form.assign(selector_limit + 1, static_cast<std::uint32_t>(forms.size()));
	for (std::size_t i = forms.size(); i-- > 0;)
		for (std::uint64_t value = 0; value <= selector_limit; ++value)
			if (value == selector_limit || !is_selected(forms[i]) ||
			    forms[i].tests.front().test.accepts(value))
				first_form[value] = static_cast<std::uint32_t>(i);
}

} // namespace monitor::trace
