// SPDX-License-Identifier: MIT
// The stream file of a converted trace: events in packets of about a MiB, as TsdlText (tsdl_text.h) describes them.
//
// A packet is in memory until it is full; one that is larger holds a single event. A loss is recorded between two
// packets: counted events in events_discarded, others as a missing packet_seq_num. Invariant: times of packets and
// events never step back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "monitor/ring.h"
#include "reading/events/gap.h"
#include "tsdl_text.h"

namespace monitor::collection {

class PacketWriter {
public:
	static constexpr std::size_t max_packet_bytes = 1u << 20;

	// Creates the file. Throws Error, like all functions here.
	PacketWriter(const std::string &path, const Uuid &uuid, bool has_cpu, std::uint64_t begin_time);

	// `unused_bits`: in the last byte.
	void add(std::uint32_t id, std::uint64_t time, std::uint32_t cpu, std::span<const std::byte> fields,
		 std::uint32_t unused_bits);
	void add_gap(const trace::Gap &gap);
	// Writes the last packet.
	void finish(std::uint64_t end_time);

private:
	void begin_packet(std::uint64_t begin);
	void end_packet();
	// Ends the packet before the loss; `next_time`: of the next event.
	void write_gap(std::uint64_t next_time);
	template <class T> void put(std::size_t &at, T value);

	std::string path_;
	Fd fd_;
	Uuid uuid_;
	bool has_cpu_;
	std::size_t head_bytes_;
	std::vector<std::byte> packet_;
	std::uint32_t unused_bits_ = 0; // of its last byte
	std::uint64_t begin_ = 0, end_ = 0, sequence_ = 0, discarded_ = 0;
	std::uint32_t cpu_ = EDC_CPU_UNKNOWN;
	std::optional<trace::Gap> gap_; // after the packet's events
};

} // namespace monitor::collection
