// SPDX-License-Identifier: MIT
#include "packet_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fcntl.h>

namespace monitor::collection {
namespace {

constexpr std::uint32_t magic = 0xC1FC1FC1, stream_id = 0;
constexpr std::size_t event_head_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

} // namespace

PacketWriter::PacketWriter(const std::string &path, const Uuid &uuid, bool has_cpu, std::uint64_t begin_time)
    : path_(path), fd_(open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644)), uuid_(uuid), has_cpu_(has_cpu),
      head_bytes_(sizeof magic + sizeof uuid + sizeof stream_id + 6 * sizeof(std::uint64_t) +
		  (has_cpu ? sizeof cpu_ : 0))
{
	packet_.reserve(max_packet_bytes);
	begin_packet(begin_time);
}

void PacketWriter::begin_packet(std::uint64_t begin)
{
	packet_.assign(head_bytes_, std::byte(0));
	unused_bits_ = 0;
	begin_ = end_ = begin;
	cpu_ = EDC_CPU_UNKNOWN;
}

template <class T> void PacketWriter::put(std::size_t &at, T value)
{
	std::memcpy(packet_.data() + at, &value, sizeof value);
	at += sizeof value;
}

void PacketWriter::end_packet()
{
	const std::uint64_t packet_bits = packet_.size() * 8;
	std::size_t at = 0;
	put(at, magic);
	put(at, uuid_);
	put(at, stream_id);
	for (const std::uint64_t value : {begin_, end_, packet_bits - unused_bits_, packet_bits, sequence_, discarded_})
		put(at, value);
	if (has_cpu_)
		put(at, cpu_);
	write_all(fd_.get(), packet_, path_);
	++sequence_;
}

void PacketWriter::add(std::uint32_t id, std::uint64_t time, std::uint32_t cpu, std::span<const std::byte> fields,
		       std::uint32_t unused_bits)
{
	if (gap_)
		write_gap(time);
	const std::size_t size_bytes = event_head_bytes + fields.size();
	if (packet_.size() > head_bytes_ && (packet_.size() + size_bytes > max_packet_bytes || cpu != cpu_)) {
		end_packet();
		begin_packet(time);
	}
	begin_ = std::min(begin_, time);
	end_ = time;
	cpu_ = cpu;
	std::size_t at = packet_.size();
	packet_.resize(at + event_head_bytes);
	put(at, id);
	put(at, time);
	packet_.insert(packet_.end(), fields.begin(), fields.end());
	unused_bits_ = unused_bits;
}

void PacketWriter::add_gap(const trace::Gap &gap)
{
	if (gap_)
		write_gap(gap.from_time);
	gap_ = gap;
}

void PacketWriter::write_gap(std::uint64_t next_time)
{
	end_ = std::max(end_, std::min(gap_->from_time, next_time));
	end_packet();
	if (gap_->lost == trace::unknown_count)
		++sequence_;
	else
		discarded_ += gap_->lost;
	begin_packet(std::max(end_, std::min(gap_->to_time, next_time)));
	gap_.reset();
}

void PacketWriter::finish(std::uint64_t end_time)
{
	if (gap_)
		write_gap(std::numeric_limits<std::uint64_t>::max());
	end_ = std::max(end_, end_time);
	end_packet();
}

} // namespace monitor::collection
