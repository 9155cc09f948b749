// SPDX-License-Identifier: MIT
// One event as analyses see it.
//
// merge() (merge.h) passes `const Event &` to its visitor; the event is in the mapped stream and valid during the call.
// Fields are read by FieldRef (field_ref.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/load.h"
#include "monitor/block.h"
#include "monitor/token.h"
#include "reading/ctf/description.h"

namespace monitor::trace {

static_assert(std::endian::native == std::endian::little, "traces are read where they were written: little endian");

struct StreamInfo {
	std::uint32_t index = 0; // in Trace::streams()
	std::uint32_t cpu = 0;
	std::uint32_t level = 0;
	bool is_generic_ctf = false; // not tokens
	bool has_packets = true;     // false: the file is one packet, and damage is reported per record
	const char *part = "packet"; // what a piece of the file is called in messages
	bool has_times = true;       // false: the times of its events are unknown
	std::uint32_t machine = 0;   // in Trace::machines(): CPUs and threads of different machines are distinct
	std::string name;            // of the file

	bool has_cpu() const { return cpu != EDC_CPU_UNKNOWN; }
	// A stream of a process's own events, posted through the user card.
	bool is_user() const { return level == EDC_LEVEL_USER; }
	// A stream of the recorder's own events.
	bool is_recorder() const { return !has_cpu() && !is_user() && !is_generic_ctf; }
};

struct Event {
	const EventClass *cls = nullptr;
	const std::byte *data = nullptr; // the token, or the first byte after the event's header
	std::uint64_t time = 0;          // full 64 bits, in ticks of the trace's clock
	const StreamInfo *stream = nullptr;
	const std::byte *packet = nullptr; // the packet's start; for tokens, EDC_BLOCK_HEADER bytes are readable
	// Not for tokens:
	std::uint32_t packet_cpu = EDC_CPU_UNKNOWN;
	std::uint64_t at_bits = 0;      // where the first scope begins, from the packet's start
	std::uint64_t end_bits = 0;     // of the packet's content
	std::uint64_t *slots = nullptr; // as the headers of packet and event set them

	// EDC_CPU_UNKNOWN if unknown. Other tracers may write the packets of several CPUs into one file.
	std::uint32_t cpu() const { return is_token() ? stream->cpu : packet_cpu; }
	bool has_cpu() const { return cpu() != EDC_CPU_UNKNOWN; }
	bool is_token() const { return cls->size_bytes != 0; }
	// Of a class about the recording itself: clock snapshots, thread states, the writing thread. Not counted.
	bool is_control() const { return cls->domain == Domain::recording; }
	std::uint32_t level() const { return stream->level; }
	std::uint32_t mode() const // EDC_MODE_*
	{
		if (is_token())
			return edc_token_mode(load<std::uint64_t>(data));
		return cls->domain == Domain::kernel ? EDC_MODE_KERNEL : EDC_MODE_USER;
	}
	// For tokens: the thread that ran when the event's packet was opened; not always the one that runs now.
	std::uint32_t packet_tid() const { return load<std::uint32_t>(packet + offsetof(edc_block, tid)); }
	// The process that wrote the packet, in streams of user cards.
	std::uint32_t packet_process() const { return load<std::uint32_t>(packet + offsetof(edc_block, process)); }
	// The packet's first event: packet_tid() is running. Flight recorders' packets begin with a record of their
	// own, which does not count.
	bool opens_packet() const
	{
		if (!is_token())
			return false;
		const std::byte *first = packet + EDC_BLOCK_HEADER;
		if (data != first && data != first + EDC_BLOCK_COUNTS_BYTES)
			return false;
		const bool has_counts = edc_token_id(load<std::uint64_t>(first)) == EDC_ID_BLOCK_TOKENS;
		return data == first + (has_counts ? EDC_BLOCK_COUNTS_BYTES : 0);
	}
	// Not for tokens.
	View view() const { return {packet, end_bits, slots}; }
};

} // namespace monitor::trace
