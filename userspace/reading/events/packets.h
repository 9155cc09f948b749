// SPDX-License-Identifier: MIT
// The packets of one stream file: their number, offsets and headers.
// Stream (stream.h) owns one of three kinds: token_packets.cpp for monitor's own, generic_packets.cpp for any other CTF
// layout, record_packets.cpp for the segments of a file described in TDL. Const once made, so any number of threads may
// read. All bytes are untrusted. Invariant: all that a PacketHead refers to is inside the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "monitor/ring.h"
#include "reading/ctf/description.h"

namespace monitor::trace {

struct PacketHead {
	std::uint64_t offset_bytes = 0; // in the file
	std::uint64_t size_bytes = 0;
	std::uint64_t first_bits = 0;     // start of its events, from its own start
	std::uint64_t content_bits = 0;   // end of its events
	std::uint64_t begin = 0, end = 0; // in ticks of the stream's own clock
	std::uint64_t sequence = 0;       // number of the packet;
	std::uint64_t discarded = 0;      // events lost so far; both modulo 2^bits
	bool has_begin = false, has_end = false, has_sequence = false, has_discarded = false;
	std::uint32_t sequence_bits = 64, discarded_bits = 64;
	std::uint64_t instance = 0; // distinguishes streams of one class
	bool has_instance = false;
	std::uint32_t cpu = EDC_CPU_UNKNOWN;
	std::uint32_t level = 0;
	const StreamClass *stream = nullptr; // nullptr: tokens
	std::vector<std::uint64_t> slots;    // as set by the header and context
	std::string why;                     // storage of an error that is no literal
};

class Packets {
public:
	virtual ~Packets() = default;
	// The number of whole packets, good or bad.
	virtual std::uint64_t count() const = 0;
	// Of packet `number`; for count(), the end of the last one.
	virtual std::uint64_t offset(std::uint64_t number) const = 0;
	// Reads and checks a packet's header: returns nullptr or an error, which is valid as long as `head` lives.
	virtual const char *read(std::uint64_t number, PacketHead &head) const = 0;
};

// `bytes` and the other arguments must outlive the result.
std::unique_ptr<Packets> token_packets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid);
// Reads and checks the header of the token packet that begins at `offset`, as Packets::read().
const char *read_token_packet(std::span<const std::byte> bytes, std::uint64_t offset,
			      const std::array<std::uint8_t, 16> &uuid, PacketHead &head);
// `untrusted_index` is the index that LTTng writes beside a stream (lttng-index-format), or empty.
std::unique_ptr<Packets> generic_packets(std::span<const std::byte> bytes, const Description &description,
					 std::span<const std::byte> untrusted_index);
std::unique_ptr<Packets> record_packets(std::span<const std::byte> bytes, const Description &description);

} // namespace monitor::trace
