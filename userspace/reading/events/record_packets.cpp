// SPDX-License-Identifier: MIT
// The segments of a file described in TDL, as packets: a file without segments is one packet.
//
// Segments of a fixed size are found by counting, others by going from one to the next.
#include "packets.h"

#include <algorithm>

#include "base/limits.h"
#include "reading/ctf/record_layout.h"

namespace monitor::trace {
namespace {

// The offset of each segment is kept: beyond this number, segments must have at least this mean size.
constexpr std::uint64_t many_segments = 1'000'000, min_bytes = 16;

class RecordPackets : public Packets {
public:
	RecordPackets(std::span<const std::byte> bytes, const Description &description)
	    : bytes_(bytes), description_(description), records_(*description.layout->records),
	      slots_(static_cast<std::size_t>(description.layout->slots))
	{
		why_ = read_header(records_.file, 0, slots_, first_bytes_, text_);
		if (!why_ && records_.file.size.is_known)
			why_ = read_size(records_.file.size, 0, slots_, first_bytes_);
		if (why_)
			return;
		if (!records_.segment.has_value)
			count_ = 1;
		else if (records_.segment.size.has_part)
			find_all();
		else
			count_all(records_.segment.size.bits({}) / 8);
	}

	// A file with a damaged header has one packet, whose error reports it.
	std::uint64_t count() const override { return why_ ? 1 : count_; }
	std::uint64_t offset(std::uint64_t number) const override
	{
		if (number >= count())
			return bytes_.size();
		if (why_ || !records_.segment.has_value)
			return 0;
		return size_bytes_ ? first_bytes_ + number * size_bytes_ : offsets_[number];
	}
	const char *read(std::uint64_t number, PacketHead &head) const override
	{
		head.stream = description_.layout->streams.front().get();
		head.offset_bytes = offset(number);
		head.slots = slots_;
		if (why_)
			return why_;
		head.size_bytes = bytes_.size() - head.offset_bytes;
		head.first_bits = first_bytes_ * 8;
		head.content_bits = head.size_bytes * 8;
		return records_.segment.has_value ? read_segment(head) : nullptr;
	}

private:
	View view_at(std::uint64_t offset, std::vector<std::uint64_t> &slots) const
	{
		return {bytes_.data() + offset, (bytes_.size() - offset) * 8, slots.data()};
	}

	const char *read_header(const RecordHeader &header, std::uint64_t offset, std::vector<std::uint64_t> &slots,
				std::uint64_t &size_bytes, std::string &text) const
	{
		size_bytes = 0;
		if (!header.has_value)
			return nullptr;
		const View view = view_at(offset, slots);
		slots[budget_slot] = head_budget;
		std::uint64_t at_bits = 0;
		if (!skip(header.fields, view, at_bits))
			return "the file ends in the middle of a header";
		for (const RecordConstant &constant : header.constants)
			if (const std::uint64_t found = slots[static_cast<std::size_t>(constant.slot)];
			    found != constant.value) {
				text = constant.mismatch("header", found);
				return text.c_str();
			}
		size_bytes = (at_bits + 7) / 8;
		return nullptr;
	}

	// Sets the packet's size from the length in its header.
	const char *read_size(const RecordSize &size, std::uint64_t offset, std::vector<std::uint64_t> &slots,
			      std::uint64_t &size_bytes) const
	{
		const std::uint64_t stored = size.bits(view_at(offset, slots)) / 8;
		if (stored < size_bytes || stored == 0)
			return "the length of a header or a segment is less than that of its fields";
		if (stored > bytes_.size() - offset)
			return "the file ends in the middle of a header or a segment";
		size_bytes = stored;
		return nullptr;
	}

	const char *read_segment(PacketHead &head) const
	{
		const RecordHeader &segment = records_.segment;
		std::uint64_t header_bytes = 0;
		if (const char *why = read_header(segment, head.offset_bytes, head.slots, header_bytes, head.why))
			return why;
		head.first_bits = header_bytes * 8;
		head.size_bytes = header_bytes;
		if (const char *why = read_size(segment.size, head.offset_bytes, head.slots, head.size_bytes))
			return why;
		head.content_bits = head.size_bytes * 8;
		if (segment.content.is_known)
			head.content_bits = segment.content.bits(view_at(head.offset_bytes, head.slots));
		if (head.content_bits > head.size_bytes * 8 || head.content_bits < head.first_bits)
			return "the segment's content is not inside it";
		return read_roles(head);
	}

	const char *read_roles(PacketHead &head) const
	{
		const RecordHeader &segment = records_.segment;
		const auto read_slot = [&](std::int32_t slot, std::uint64_t &value) {
			if (slot >= 0)
				value = head.slots[static_cast<std::size_t>(slot)];
			return slot >= 0;
		};
		head.has_begin = read_slot(segment.begin, head.begin);
		head.has_end = read_slot(segment.end, head.end);
		head.has_discarded = read_slot(segment.lost, head.discarded);
		head.has_sequence = read_slot(segment.number, head.sequence);
		head.discarded_bits = segment.lost_bits;
		head.sequence_bits = segment.number_bits;
		std::uint64_t cpu = EDC_CPU_UNKNOWN;
		read_slot(segment.cpu, cpu);
		head.cpu = cpu < max_cpu_numbers ? static_cast<std::uint32_t>(cpu) : EDC_CPU_UNKNOWN;
		const bool is_too_late = __builtin_mul_overflow(head.begin, segment.begin_ticks, &head.begin) ||
					 __builtin_mul_overflow(head.end, segment.end_ticks, &head.end);
		return is_too_late ? "a time of the segment does not fit into 64 bits" : nullptr;
	}

	void count_all(std::uint64_t size_bytes)
	{
		size_bytes_ = size_bytes;
		count_ =
		    (bytes_.size() - first_bytes_) / size_bytes + ((bytes_.size() - first_bytes_) % size_bytes != 0);
	}

	// A bad segment is the last: where the next one begins is unknown.
	void find_all()
	{
		PacketHead head;
		for (std::uint64_t offset = first_bytes_; offset < bytes_.size(); offset += head.size_bytes) {
			if (offsets_.size() >= many_segments && (offset - first_bytes_) / offsets_.size() < min_bytes) {
				why_ = "the file has more than a million segments of less than 16 bytes; describe them "
				       "as records";
				return;
			}
			offsets_.push_back(offset);
			count_ = offsets_.size();
			head.offset_bytes = offset;
			head.slots = slots_;
			if (read_segment(head))
				return;
		}
	}

	std::span<const std::byte> bytes_;
	const Description &description_;
	const RecordLayout &records_;
	std::vector<std::uint64_t> slots_; // as set by the file's header
	const char *why_ = nullptr;        // error in the file's header
	std::string text_;                 // storage of an error that is no literal
	std::uint64_t first_bytes_ = 0;    // where records or segments begin
	std::uint64_t count_ = 0;
	std::uint64_t size_bytes_ = 0; // of each segment; 0: variable
	std::vector<std::uint64_t> offsets_;
};

} // namespace

std::unique_ptr<Packets> record_packets(std::span<const std::byte> bytes, const Description &description)
{
	return std::make_unique<RecordPackets>(bytes, description);
}

} // namespace monitor::trace
