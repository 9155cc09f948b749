// SPDX-License-Identifier: MIT
#include "live_streams.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>

#include <sys/mman.h>

#include "base/error.h"

namespace monitor::trace {
namespace {

constexpr std::size_t max_slots = 1u << 20; // address space; memory is used as packets arrive
constexpr std::size_t guaranteed_packets = 2;

} // namespace

const char *LiveStreams::GrowingPackets::read(std::uint64_t number, PacketHead &head) const
{
	if (number < first_ || number >= count())
		return "the packet is not kept";
	return read_token_packet(memory_, offset(number), uuid_, head);
}

void LiveStreams::GrowingPackets::add(std::uint32_t slot, Packet packet)
{
	std::memcpy(memory_.data() + std::size_t{slot} * EDC_BLOCK_SIZE, packet.data(), packet.size());
	slots_.push_back(slot);
}

bool LiveStreams::GrowingPackets::is_newest(const edc_block &header) const
{
	if (slots_.empty())
		return false;
	const auto newest = load<edc_block>(memory_.data() + offset(count() - 1));
	return newest.packet_seq_num == header.packet_seq_num && newest.timestamp_begin == header.timestamp_begin &&
	       newest.content_size <= header.content_size;
}

// What was read of the packet does not change.
void LiveStreams::GrowingPackets::grow_newest(Packet packet)
{
	std::byte *const to = memory_.data() + offset(count() - 1);
	const auto header = load<edc_block>(packet.data());
	const std::size_t old = load<edc_block>(to).content_size / 8;
	const std::size_t now = std::min<std::size_t>(header.content_size / 8, packet.size());
	std::memcpy(to, &header, sizeof header);
	if (now > old)
		std::memcpy(to + old, packet.data() + old, now - old);
}

void LiveStreams::GrowingPackets::drop_before(std::uint64_t number, std::vector<std::uint32_t> &freed)
{
	for (; first_ < number && slots_.size() > 1; ++first_) {
		freed.push_back(slots_.front());
		slots_.pop_front();
	}
}

LiveStreams::LiveStreams(std::shared_ptr<const Description> description, std::uint64_t begin_time,
			 std::size_t max_packets)
    : description_(std::move(description)), begin_time_(begin_time), max_packets_(max_packets), passed_(begin_time)
{
	constexpr std::size_t size_bytes = max_slots * EDC_BLOCK_SIZE;
	void *address =
	    ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (address == MAP_FAILED)
		throw Error(errno, "cannot reserve addresses for the packets that are read while they are recorded; "
				   "raise the limit of the address space (ulimit -v)");
	memory_ = Mapping(address, size_bytes);
}

std::optional<std::uint32_t> LiveStreams::slot_for(const Member &member)
{
	const std::size_t max_kept = std::min(max_slots, max_packets_ + guaranteed_packets * members_.size());
	const bool is_guaranteed = member.packets->kept() < guaranteed_packets;
	if (packets() >= (is_guaranteed ? max_kept : std::min(max_kept, max_packets_)))
		return {};
	if (free_.empty())
		return used_++;
	const std::uint32_t slot = free_.back();
	free_.pop_back();
	return slot;
}

bool LiveStreams::take(std::uint32_t number, const std::string &name, Packet packet)
{
	std::unique_ptr<Member> &found = members_[number];
	if (!found) {
		auto made = std::make_unique<Member>();
		made->name = name;
		made->made =
		    std::make_unique<GrowingPackets>(std::span(memory_.data(), memory_.size()), description_->uuid);
		made->packets = made->made.get();
		found = std::move(made);
	}
	Member &member = *found;
	const auto header = load<edc_block>(packet.data());
	if (member.packets->is_newest(header)) {
		member.packets->grow_newest(packet);
	} else {
		const auto slot = slot_for(member);
		if (!slot)
			return false;
		member.packets->add(*slot, packet);
		member.is_losing = false; // the packet counts what was lost before it
	}
	member.has_grown = true;
	end_time_ = std::max<std::uint64_t>(end_time_, header.timestamp_end);
	return true;
}

void LiveStreams::lose(std::uint32_t number)
{
	const auto found = members_.find(number);
	if (found == members_.end())
		return;
	Member &member = *found->second;
	member.is_losing = !member.has_open_gap || member.gap_after != member.packets->count();
}

void LiveStreams::start(Member &member)
{
	member.stream.emplace(member.name, description_, std::span<const std::byte>(memory_.data(), memory_.size()),
			      std::move(member.made));
	member.stream->set_index(streams_++);
	member.cursor.emplace(*member.stream, *description_, problems_, begin_time_);
}

// The same order as in a Trace (trace.cpp).
std::vector<LiveStreams::Member *> LiveStreams::in_order()
{
	std::vector<Member *> order;
	for (const auto &[number, member] : members_)
		if (member->cursor)
			order.push_back(member.get());
	const auto key = [](const Member *member) {
		const StreamInfo &info = member->stream->info();
		return std::tuple(info.cpu + 1, info.level, std::string_view(info.name));
	};
	std::ranges::sort(order, [&](const Member *a, const Member *b) { return key(a) < key(b); });
	return order;
}

std::optional<std::uint64_t> LiveStreams::next_time(const Member &member) const
{
	if (member.cursor->item() != Cursor::Item::end)
		return member.cursor->time();
	return member.is_losing ? std::optional(member.cursor->packet_end_time()) : std::nullopt;
}

void LiveStreams::free_packets_read()
{
	for (const auto &[number, member] : members_)
		if (member->cursor)
			member->packets->drop_before(member->cursor->packet(), free_);
}

} // namespace monitor::trace
