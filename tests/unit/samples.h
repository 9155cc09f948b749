// SPDX-License-Identifier: MIT
// Traces made in memory: a description with given events, and packets written token by token.
//
// Used by the unit tests, the golden traces and the fuzzers. A test bends single bytes afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "monitor/ring.h"
#include "monitor/token.h"
#include "reading/ctf/interpret.h"
#include "reading/events/trace.h"

namespace samples {

inline constexpr std::array<std::uint8_t, 16> uuid = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe,
						      1,    2,    3,    4,    5,    6,    7,    8};

inline const std::string clock_block = "clock { name = tsc; freq = 1000000000; offset_s = 1700000000; offset = 5; };\n";

inline const std::string types = R"(
typealias integer { size = 8; align = 8; signed = false; } := uuid_byte;
typealias integer { size = 32; align = 32; signed = false; base = hex; } := header_x32;
typealias integer { size = 32; align = 32; signed = false; } := header_u32;
typealias integer { size = 64; align = 64; signed = false; } := header_u64;
typealias integer { size = 64; align = 64; signed = false; map = clock.tsc.value; } := header_time;
typealias integer { size = 12; align = 1; signed = false; } := token_id;
typealias integer { size = 32; align = 1; signed = false; map = clock.tsc.value; } := token_time;
typealias integer { size = 1; align = 1; signed = false; } := token_mode;
typealias integer { size = 12; align = 16; signed = false; } := u12_t;
typealias integer { size = 16; align = 16; signed = false; } := u16_t;
typealias integer { size = 16; align = 16; signed = false; base = hex; } := x16_t;
typealias integer { size = 16; align = 16; signed = true; } := s16_t;
typealias integer { size = 32; align = 16; signed = false; } := u32_t;
typealias integer { size = 32; align = 16; signed = true; } := s32_t;
typealias integer { size = 64; align = 16; signed = false; } := u64_t;
typealias integer { size = 64; align = 16; signed = false; base = hex; } := x64_t;
typealias integer { size = 64; align = 16; signed = true; } := s64_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;
typealias integer { size = 4; align = 1; signed = false; } := u4_t;
typealias enum : u4_t { "native" = 0, "compat" = 1, "x32" = 2 } := abi_t;
typealias enum : s16_t { "minus" = -3 ... -1, "zero" = 0, one, "some more" = 2 ... 9 } := range_t;
)";

inline const std::string trace_block = R"(
trace {
	major = 1; minor = 8;
	uuid = "10325476-98ba-dcfe-0102-030405060708";
	byte_order = le;
	packet.header := struct {
		header_x32 magic;
		uuid_byte uuid[16];
		header_u32 stream_id;
		header_u64 stream_instance_id;
	};
};
env { domain = "monitor"; tracer_major = 1; };
)";

inline const std::string stream_block = R"(
stream {
	packet.context := struct {
		header_time timestamp_begin;
		header_time timestamp_end;
		header_u64 content_size;
		header_u64 packet_size;
		header_u64 packet_seq_num;
		header_u64 events_discarded;
		header_u32 cpu_id;
		header_u32 level;
		header_u32 tid;
		header_u32 process;
	};
	event.header := struct { token_id id; token_time timestamp; } align(64);
	event.context := struct { token_mode mode; };
};
)";

inline std::string event_block(unsigned id, const std::string &name, const std::string &fields)
{
	return "event { name = \"" + name + "\"; id = " + std::to_string(id) + "; fields := struct { " + fields +
	       " }; };\n";
}

// A description with the given events after everything that must stand before them.
inline std::string description_text(const std::string &events)
{
	return "/* CTF 1.8 */\n" + clock_block + types + trace_block + stream_block + events;
}

// tick: one word; pair: two words; text16: three words.
inline const std::string some_events = event_block(256, "tick", "u16_t arg;") +
				       event_block(257, "pair", "s16_t arg; s32_t a; u32_t b;") +
				       event_block(258, "text16", "x16_t arg; text_t name[16];");

inline std::unique_ptr<const monitor::trace::Description> description(const std::string &events = some_events)
{
	std::string why;
	auto made = monitor::trace::read_description(description_text(events), why);
	if (!made)
		throw std::runtime_error(why);
	return made;
}

// Writes the packets of one stream. A packet is closed by the next open(), by a post() for which it has no room, or by
// bytes().
class StreamWriter {
public:
	StreamWriter(std::uint32_t cpu, std::uint32_t level) : cpu_(cpu), level_(level) {}

	edc_block &open(std::uint64_t begin_time, std::uint64_t discarded = 0)
	{
		close();
		blocks_.emplace_back();
		edc_block &header = this->header();
		header.magic = EDC_BLOCK_MAGIC;
		std::memcpy(header.uuid, uuid.data(), uuid.size());
		header.stream_instance_id = cpu_ * 4 + level_;
		header.timestamp_begin = header.timestamp_end = begin_time;
		header.packet_size = EDC_BLOCK_SIZE * 8;
		header.packet_seq_num = sequence_++;
		header.events_discarded = discarded;
		header.cpu_id = cpu_;
		header.level = level_;
		end_ = EDC_BLOCK_HEADER;
		return header;
	}

	void post(std::uint64_t time, unsigned id, unsigned arg, std::initializer_list<std::uint64_t> words = {},
		  unsigned mode = EDC_MODE_KERNEL)
	{
		if (room() < 8 * (1 + words.size()))
			open(time, header().events_discarded);
		put_word(edc_token(id, mode, time, arg));
		for (const std::uint64_t word : words)
			put_word(word);
		header().timestamp_end = time;
	}
	void put_word(std::uint64_t word)
	{
		std::memcpy(blocks_.back().bytes + end_, &word, sizeof word);
		end_ += sizeof word;
	}
	std::size_t room() const { return EDC_BLOCK_SIZE - end_; }
	void skip_sequence(std::uint64_t count) { sequence_ += count; }

	// Of the packet opened last.
	edc_block &header() { return *reinterpret_cast<edc_block *>(blocks_.back().bytes); }

	std::span<std::byte> bytes()
	{
		close();
		return {blocks_.empty() ? nullptr : blocks_.front().bytes, blocks_.size() * EDC_BLOCK_SIZE};
	}

private:
	struct alignas(8) Block {
		std::byte bytes[EDC_BLOCK_SIZE] = {};
	};

	void close()
	{
		if (end_ > 0)
			header().content_size = end_ * 8;
		end_ = 0;
	}

	std::uint32_t cpu_, level_;
	std::uint64_t sequence_ = 0;
	std::size_t end_ = 0; // of the open packet; 0: none is open
	std::vector<Block> blocks_;
};

// The bytes stay the writers'.
inline std::unique_ptr<monitor::trace::Stream> stream(const std::string &name, std::span<const std::byte> bytes)
{
	return std::make_unique<monitor::trace::Stream>(name, bytes, uuid);
}

inline monitor::trace::Trace trace(std::vector<StreamWriter> &writers, const std::string &events = some_events)
{
	std::vector<std::unique_ptr<monitor::trace::Stream>> streams;
	for (std::size_t i = 0; i < writers.size(); ++i)
		streams.push_back(stream("s" + std::to_string(i), writers[i].bytes()));
	return {description(events), std::move(streams)};
}

} // namespace samples
