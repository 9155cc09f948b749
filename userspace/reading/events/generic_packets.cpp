// SPDX-License-Identifier: MIT
// Packets of any layout: each contains its length, so they are found by going from one to the next, or by the index
// that LTTng writes beside a stream.
#include "packets.h"

#include <algorithm>

#include "base/limits.h"
#include "event.h"

namespace monitor::trace {
namespace {

constexpr std::uint64_t ctf_magic = 0xC1FC1FC1;

// The index of LTTng 2.x, big endian: a header, then per packet offset, packet_size, content_size, timestamp_begin,
// timestamp_end, events_discarded, stream_id (, stream_instance_id, packet_seq_num), 8 bytes each.
constexpr std::uint64_t index_magic = 0xC1F1DCC1;
constexpr std::size_t index_header_bytes = 16, index_entry_bytes = 56, index_size_field = 8;

std::uint64_t big_endian(std::span<const std::byte> bytes, std::size_t offset, std::uint32_t size_bits)
{
	return read_bits(bytes.data() + offset, 0, size_bits, true);
}

class GenericPackets : public Packets {
public:
	GenericPackets(std::span<const std::byte> bytes, const Description &description,
		       std::span<const std::byte> untrusted_index)
	    : bytes_(bytes), description_(description)
	{
		if (!use_index(untrusted_index))
			find_all();
	}

	std::uint64_t count() const override { return index_count_ ? index_count_ : offsets_.size(); }
	std::uint64_t offset(std::uint64_t number) const override
	{
		if (number >= count())
			return bytes_.size();
		return index_count_ ? std::min<std::uint64_t>(entry(number, 0), bytes_.size()) : offsets_[number];
	}
	const char *read(std::uint64_t number, PacketHead &head) const override
	{
		return read_at(offset(number), head);
	}

private:
	std::uint64_t entry(std::uint64_t number, std::size_t field_offset) const
	{
		return big_endian(index_, index_header_bytes + number * index_entry_size_ + field_offset, 64);
	}

	// Uses the index only if it covers the whole file. Each packet is checked when it is read.
	bool use_index(std::span<const std::byte> untrusted)
	{
		if (untrusted.size() < index_header_bytes + index_entry_bytes ||
		    big_endian(untrusted, 0, 32) != index_magic || big_endian(untrusted, 4, 32) != 1)
			return false;
		index_entry_size_ = big_endian(untrusted, 12, 32);
		if (index_entry_size_ < index_entry_bytes || index_entry_size_ > 4096)
			return false;
		index_ = untrusted;
		const std::uint64_t entries = (untrusted.size() - index_header_bytes) / index_entry_size_;
		if (entries == 0)
			return false;
		const std::uint64_t size_bytes = entry(entries - 1, index_size_field) / 8;
		if (size_bytes > bytes_.size() || entry(entries - 1, 0) != bytes_.size() - size_bytes ||
		    entry(0, 0) != 0)
			return false;
		index_count_ = entries;
		return true;
	}

	// A bad packet is the last: where the next one begins is unknown.
	void find_all()
	{
		PacketHead head;
		for (std::uint64_t offset = 0; offset < bytes_.size(); offset += head.size_bytes) {
			offsets_.push_back(offset);
			if (read_at(offset, head))
				return;
		}
	}

	const char *read_at(std::uint64_t offset, PacketHead &head) const
	{
		const Layout &layout = *description_.layout;
		head.slots.assign(static_cast<std::size_t>(layout.slots), 0);
		head.slots[budget_slot] = head_budget;
		head.offset_bytes = offset;
		const std::uint64_t left_bits = (bytes_.size() - offset) * 8;
		const View view = {bytes_.data() + offset, left_bits, head.slots.data()};
		head.first_bits = 0;
		if (!skip(layout.packet_header, view, head.first_bits))
			return "the file ends in the middle of a packet's header";
		if (layout.magic >= 0 && head.slots[static_cast<std::size_t>(layout.magic)] != ctf_magic)
			return "no packet begins here (its magic is missing)";
		if (layout.uuid_path.size() > 0 && description_.has_uuid && !has_our_uuid(view))
			return "the packet belongs to another trace (its uuid differs)";
		head.has_instance = layout.instance >= 0;
		if (head.has_instance)
			head.instance = head.slots[static_cast<std::size_t>(layout.instance)];
		head.stream = layout.stream >= 0 ? layout.find(head.slots[static_cast<std::size_t>(layout.stream)])
			      : layout.streams.size() == 1 ? layout.streams.front().get()
							   : layout.find(0);
		if (!head.stream)
			return "the packet is of a stream class that is not described";
		if (!skip(head.stream->packet_context, view, head.first_bits))
			return "the file ends in the middle of a packet's header";
		return read_context(head, left_bits);
	}

	bool has_our_uuid(const View &view) const
	{
		std::uint64_t at_bits = 0;
		const FieldClass *type = &description_.layout->packet_header;
		for (const std::uint32_t number : description_.layout->uuid_path) {
			at_bits = aligned(at_bits, type->align_bits);
			for (std::uint32_t before = 0; before < number; ++before)
				skip(type->members[before].type, view, at_bits);
			type = &type->members[number].type;
		}
		at_bits = aligned(at_bits, type->align_bits);
		for (const std::uint8_t byte : description_.uuid) {
			if (read_bits(view.packet, at_bits, 8, false) != byte)
				return false;
			at_bits += 8;
		}
		return true;
	}

	// Reads the values that the walk over the packet's context saved in the slots.
	static const char *read_context(PacketHead &head, std::uint64_t left_bits)
	{
		const auto &context = head.stream->context;
		const auto read_slot = [&](std::int32_t slot, std::uint64_t &value) {
			if (slot >= 0)
				value = head.slots[static_cast<std::size_t>(slot)];
			return slot >= 0;
		};
		head.has_begin = read_slot(context.begin, head.begin);
		head.has_end = read_slot(context.end, head.end);
		head.has_sequence = read_slot(context.sequence, head.sequence);
		head.has_discarded = read_slot(context.discarded, head.discarded);
		head.sequence_bits = head.stream->sequence_bits;
		head.discarded_bits = head.stream->discarded_bits;
		std::uint64_t cpu = EDC_CPU_UNKNOWN, content_bits = left_bits, packet_bits = left_bits;
		read_slot(context.cpu, cpu);
		head.cpu = cpu < max_cpu_numbers ? static_cast<std::uint32_t>(cpu) : EDC_CPU_UNKNOWN;
		const bool has_content = read_slot(context.content, content_bits);
		if (!read_slot(context.packet, packet_bits) && has_content)
			packet_bits = content_bits;
		else if (!has_content)
			content_bits = packet_bits;
		if (packet_bits % 8 != 0 || packet_bits == 0)
			return "the packet's size is not a whole number of bytes";
		if (packet_bits > left_bits)
			return "the file ends in the middle of a packet";
		if (content_bits > packet_bits || head.first_bits > content_bits)
			return "the packet's content is not inside it";
		head.size_bytes = packet_bits / 8;
		head.content_bits = content_bits;
		return nullptr;
	}

	std::span<const std::byte> bytes_;
	const Description &description_;
	std::vector<std::uint64_t> offsets_;
	std::span<const std::byte> index_;
	std::uint64_t index_count_ = 0, index_entry_size_ = 0;
};

} // namespace

std::unique_ptr<Packets> generic_packets(std::span<const std::byte> bytes, const Description &description,
					 std::span<const std::byte> untrusted_index)
{
	return std::make_unique<GenericPackets>(bytes, description, untrusted_index);
}

} // namespace monitor::trace
