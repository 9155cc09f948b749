// SPDX-License-Identifier: MIT
// Blocks with recognizable content, for the tests of the fleet's data path.
#pragma once

#include <cstring>
#include <span>

#include "fleet/wire/batch.h"
#include "monitor/ring.h"

namespace fleet_test {

inline monitor::Uuid uuid_of(unsigned number)
{
	monitor::Uuid uuid{};
	uuid[0] = static_cast<std::uint8_t>(number);
	uuid[15] = 0xab;
	return uuid;
}

inline void fill_block(std::span<std::byte> to, const monitor::Uuid &uuid, std::uint64_t stream, std::uint64_t sequence,
		       unsigned content = 0)
{
	edc_block header{};
	header.magic = EDC_BLOCK_MAGIC;
	std::memcpy(header.uuid, uuid.data(), uuid.size());
	header.stream_instance_id = stream;
	header.packet_seq_num = sequence;
	header.content_size = header.packet_size = EDC_BLOCK_SIZE * 8;
	std::memcpy(to.data(), &header, sizeof header);
	for (std::size_t at = sizeof header; at < to.size(); ++at)
		to[at] = std::byte((sequence * 31 + at * 7 + stream + content) & 0xff);
}

} // namespace fleet_test
