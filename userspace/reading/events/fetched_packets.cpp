// SPDX-License-Identifier: MIT
#include "fetched_packets.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/fd.h"
#include "trace.h"

namespace monitor::trace {

const char *const why_not_fetched = "the packets were not fetched from their host";

namespace {

constexpr std::size_t max_fetched_bytes = 64 << 20;

class FetchedPackets : public Packets {
public:
	FetchedPackets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid,
		       const FetchedStream &fetched)
	    : bytes_(bytes), uuid_(uuid)
	{
		const std::uint64_t size = bytes_.size() / EDC_BLOCK_SIZE;
		std::uint64_t block = 0;
		for (const auto &[first, end] : fetched.present.ranges()) {
			if (first > block)
				add(block, 0, why_not_fetched);
			if (first < size)
				add(first, std::min(end, size) - first, nullptr);
			if (end > size)
				add(size, 0, "the file ends before the end of what was fetched");
			block = end;
		}
		if (block < fetched.blocks || stretches_.empty())
			add(std::min(block, size), 0, why_not_fetched);
	}

	std::uint64_t count() const override { return count_; }
	std::uint64_t offset(std::uint64_t number) const override
	{
		const Stretch &stretch = stretch_of(number);
		const std::uint64_t within = std::min(number - stretch.first_packet, stretch.blocks);
		return std::min((stretch.first_block + within) * EDC_BLOCK_SIZE, std::uint64_t(bytes_.size()));
	}
	const char *read(std::uint64_t number, PacketHead &head) const override
	{
		const char *const why = stretch_of(number).why;
		return why ? why : read_token_packet(bytes_, offset(number), uuid_, head);
	}

private:
	// Consecutive packets in the file, or one packet for a stretch that is missing.
	struct Stretch {
		std::uint64_t first_packet = 0, first_block = 0, blocks = 0;
		const char *why = nullptr; // nullptr: they are in the file
	};

	void add(std::uint64_t first_block, std::uint64_t blocks, const char *why)
	{
		stretches_.push_back({count_, first_block, blocks, why});
		count_ += why ? 1 : blocks;
	}
	// The one with this packet; for count(), the last one.
	const Stretch &stretch_of(std::uint64_t number) const
	{
		static constexpr Stretch none;
		const auto next = std::ranges::upper_bound(stretches_, number, {}, &Stretch::first_packet);
		return next == stretches_.begin() ? none : *std::prev(next);
	}

	std::span<const std::byte> bytes_;
	std::array<std::uint8_t, 16> uuid_;
	std::vector<Stretch> stretches_;
	std::uint64_t count_ = 0;
};

} // namespace

std::unique_ptr<Packets> fetched_packets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid,
					 const FetchedStream &fetched)
{
	return std::make_unique<FetchedPackets>(bytes, uuid, fetched);
}

std::optional<FetchedPart> read_fetched_part(const std::string &directory)
{
	auto fetched = FetchedTrace::parse(read_text(directory + '/' + fetched_file, max_fetched_bytes));
	if (!fetched || fetched->is_whole())
		return {};
	return FetchedPart{directory, std::move(*fetched)};
}

std::vector<FetchedPart> fetched_parts(const Trace &trace)
{
	std::vector<std::string> directories = {trace.directory()};
	const std::filesystem::path above = std::filesystem::path(trace.directory()).parent_path();
	std::error_code ignored;
	if (trace.is_generic_ctf() && std::filesystem::exists(above / ".monitor" / "collection.json", ignored))
		directories = Trace::recordings_in(above.string());
	std::vector<FetchedPart> parts;
	for (const std::string &directory : directories)
		if (auto part = read_fetched_part(directory))
			parts.push_back(std::move(*part));
	return parts;
}

std::string FetchedPart::text() const
{
	std::string windows;
	for (const FetchedTrace::Window &window : fetched.windows)
		windows += (windows.empty() ? ", " : " and ") + window_text(window);
	const std::uint64_t here = fetched.blocks_present();
	if (here == 0)
		return directory + ": nothing of this trace was fetched from its host: monitor fleet fetch";
	return directory + ": a part of this trace was fetched from its host" + windows + ": " + std::to_string(here) +
	       " of " + std::to_string(fetched.blocks()) + " blocks";
}

} // namespace monitor::trace
