// SPDX-License-Identifier: MIT
// Packets of monitor's own traces: blocks of 4 KiB, found by their number (include/monitor/ring.h).
#include "packets.h"

#include <algorithm>

#include "base/limits.h"
#include "event.h"

namespace monitor::trace {
namespace {

constexpr std::uint64_t block_bits = EDC_BLOCK_SIZE * 8;
constexpr std::uint64_t header_bits = EDC_BLOCK_HEADER * 8;

// The error in a header, or nullptr.
const char *check(const edc_block &block, const std::array<std::uint8_t, 16> &uuid)
{
	if (block.magic != EDC_BLOCK_MAGIC)
		return "no packet begins here (its magic is missing)";
	if (!std::ranges::equal(uuid, block.uuid))
		return "the packet belongs to another trace (its uuid differs)";
	if (block.stream_id != 0)
		return "the packet is of an unknown stream class";
	if (block.packet_size != block_bits)
		return "the packet is not 4096 bytes long";
	if (block.content_size < header_bits || block.content_size > block_bits || block.content_size % 64 != 0)
		return "the packet's content is not inside it";
	if (block.cpu_id >= max_cpu_numbers && block.cpu_id != EDC_CPU_UNKNOWN)
		return "the packet's CPU has a number that none has";
	if (block.timestamp_begin > block.timestamp_end)
		return "the packet ends before it begins";
	return nullptr;
}

class TokenPackets : public Packets {
public:
	TokenPackets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid)
	    : bytes_(bytes), uuid_(uuid)
	{
	}
	std::uint64_t count() const override { return bytes_.size() / EDC_BLOCK_SIZE; }
	std::uint64_t offset(std::uint64_t number) const override { return number * EDC_BLOCK_SIZE; }
	const char *read(std::uint64_t number, PacketHead &head) const override
	{
		return read_token_packet(bytes_, number * EDC_BLOCK_SIZE, uuid_, head);
	}

private:
	std::span<const std::byte> bytes_;
	std::array<std::uint8_t, 16> uuid_;
};

} // namespace

const char *read_token_packet(std::span<const std::byte> bytes, std::uint64_t offset,
			      const std::array<std::uint8_t, 16> &uuid, PacketHead &head)
{
	const auto block = load<edc_block>(bytes.data() + offset);
	if (const char *sentence = check(block, uuid))
		return sentence;
	head.offset_bytes = offset;
	head.size_bytes = EDC_BLOCK_SIZE;
	head.first_bits = header_bits;
	head.content_bits = block.content_size;
	head.begin = block.timestamp_begin;
	head.end = block.timestamp_end;
	head.sequence = block.packet_seq_num;
	head.discarded = block.events_discarded;
	head.has_begin = head.has_end = head.has_sequence = head.has_discarded = true;
	head.cpu = block.cpu_id;
	head.level = block.level;
	return nullptr;
}

std::unique_ptr<Packets> token_packets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid)
{
	return std::make_unique<TokenPackets>(bytes, uuid);
}

} // namespace monitor::trace
