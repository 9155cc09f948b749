// SPDX-License-Identifier: MIT
#include "landing_pads.h"

#include <algorithm>

#include "base/eh_frame.h"

namespace monitor::functions {
namespace {

constexpr std::size_t max_frames_bytes = 256 << 20;

} // namespace

LandingPads::LandingPads(const ElfImage &image)
{
	const ElfSection *frames = image.section(".eh_frame"), *tables = image.section(".gcc_except_table");
	if (!frames || !tables)
		return;
	const std::vector<std::byte> bytes = image.content(*frames, max_frames_bytes);
	tables_ = image.content(*tables, max_frames_bytes);
	tables_address_ = tables->address;
	eh::Section section(bytes, frames->address);
	for (const eh::Fde &fde : section.fdes())
		if (fde.lsda)
			functions_.push_back({fde.first, fde.end, fde.lsda});
}

bool LandingPads::add_to(std::vector<std::uint64_t> &pads, const CodePart &part) const
{
	const std::uint64_t end = part.address + part.bytes.size();
	auto function = std::ranges::partition_point(
	    functions_, [&](const Function &before) { return before.end <= part.address; });
	for (; function != functions_.end() && function->first < end; ++function)
		if (!add_pads_of(*function, pads))
			return false;
	return true;
}

// The table of C++'s personality routine: libsupc++/eh_personality.cc, parse_lsda_header().
bool LandingPads::add_pads_of(const Function &function, std::vector<std::uint64_t> &pads) const
{
	const std::uint64_t at = function.table - tables_address_;
	if (at >= tables_.size())
		return false;
	eh::Numbers numbers(tables_, tables_address_);
	numbers.go_to(at);
	const auto start_encoding = numbers.fixed<std::uint8_t>();
	const std::uint64_t start = start_encoding == eh::absent ? function.first : numbers.pointer(start_encoding);
	if (numbers.fixed<std::uint8_t>() != eh::absent)
		numbers.unsigned_leb();
	const auto encoding = numbers.fixed<std::uint8_t>();
	const std::uint64_t bytes = numbers.unsigned_leb();
	const std::uint64_t end = numbers.at() + bytes;
	if (bytes > tables_.size() || end > tables_.size())
		return false;
	while (!numbers.is_bad() && numbers.at() < end) {
		numbers.pointer(encoding);
		numbers.pointer(encoding);
		const std::uint64_t pad = numbers.pointer(encoding);
		numbers.unsigned_leb(); // action
		if (pad)
			pads.push_back(start + pad);
	}
	return !numbers.is_bad();
}

} // namespace monitor::functions
