// SPDX-License-Identifier: MIT
// One event as analyses see it.
//
// merge() (merge.h) hands `const Event &` to its visitor; the event lies in the mapped stream and is valid during the
// call. Fields are read by FieldRef (field_ref.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "description.h"
#include "monitor/ring.h"
#include "monitor/token.h"

namespace monitor::trace {

static_assert(std::endian::native == std::endian::little, "traces are read where they were written: little endian");

struct StreamInfo {
	std::uint32_t index = 0; // in Trace::streams()
	std::uint32_t cpu = 0;
	std::uint32_t level = 0;
	bool is_described = false; // not of tokens
	bool has_packets = true;   // false: the file is one, and damage is told by the record
	const char *part = "packet";
	bool has_times = true;     // false: nobody knows when its events were
	std::uint32_t machine = 0; // in Trace::machines(): CPUs and threads of different ones are different
	std::string name;          // of the file

	bool has_cpu() const { return cpu != EDC_CPU_UNKNOWN; }
	// Of a process's own events: the user card's.
	bool is_user() const { return level == EDC_LEVEL_USER; }
	// The recorder's own.
	bool is_recorder() const { return !has_cpu() && !is_user() && !is_described; }
};

template <class T> T load(const std::byte *from)
{
	T value;
	std::memcpy(&value, from, sizeof value);
	return value;
}

struct Event {
	const EventClass *cls = nullptr;
	const std::byte *data = nullptr; // the token, or the first byte behind the event's header
	std::uint64_t time = 0;          // full 64 bits, in ticks of the trace's clock
	const StreamInfo *stream = nullptr;
	const std::byte *packet = nullptr; // its begin; of tokens EDC_BLOCK_HEADER readable bytes
	// Not of tokens:
	std::uint32_t packet_cpu = EDC_CPU_UNKNOWN;
	std::uint64_t at_bits = 0;      // where the first scope begins, from the packet's begin
	std::uint64_t end_bits = 0;     // of the packet's content
	std::uint64_t *slots = nullptr; // as packet and event header left them

	// EDC_CPU_UNKNOWN if it is not known. Other tracers may write the packets of several CPUs into one file.
	std::uint32_t cpu() const { return is_token() ? stream->cpu : packet_cpu; }
	bool has_cpu() const { return cpu() != EDC_CPU_UNKNOWN; }
	bool is_token() const { return cls->size_bytes != 0; }
	// Of a class that describes the recording itself: syncs, threads' states, which thread writes. Not counted.
	bool is_control() const { return cls->domain == Domain::recording; }
	std::uint32_t level() const { return stream->level; }
	std::uint32_t mode() const // EDC_MODE_*
	{
		if (is_token())
			return edc_token_mode(load<std::uint64_t>(data));
		return cls->domain == Domain::kernel ? EDC_MODE_KERNEL : EDC_MODE_USER;
	}
	// Of tokens: the thread that ran when the event's packet was opened: not always the one that runs now.
	std::uint32_t packet_tid() const { return load<std::uint32_t>(packet + offsetof(edc_block, tid)); }
	// The process that wrote the packet, in streams of user cards.
	std::uint32_t packet_process() const { return load<std::uint32_t>(packet + offsetof(edc_block, process)); }
	// The packet's first event: packet_tid() runs.
	bool opens_packet() const { return is_token() && data == packet + EDC_BLOCK_HEADER; }
	// Not of tokens.
	View view() const { return {packet, end_bits, slots}; }
};

} // namespace monitor::trace
