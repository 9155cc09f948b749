// SPDX-License-Identifier: MIT
// Decodes the events of a stream's packets, one packet at a time, for a cursor (cursor.h).
// A token whose time is of the trace's clock is decoded inline; decoder.cpp decodes tokens of other clocks, events of
// any CTF layout, and records of files described in TDL. All bytes are untrusted: decoding stops at an event that fails
// a check. One thread. Invariant: an Event's bytes are inside the content of its packet; times never step back, nor
// exceed the packet's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "event.h"
#include "monitor/ring.h"
#include "packets.h"
#include "reading/ctf/description.h"
#include "stream.h"

namespace monitor::trace {

struct RecordForm;

class Decoder {
public:
	// `description` is that of tokens; other streams have their own.
	Decoder(const Stream &stream, const Description &description);
	Decoder(Decoder &&) = default;
	Decoder &operator=(Decoder &&) = default;
	// A copy at the same event.
	Decoder copy() const
	{
		Decoder made(*this);
		made.event_.slots = made.slots_.data();
		return made;
	}

	// Moves before the first packet.
	void reset();
	// Moves before the first event of this packet and takes its slots. No event of the packet is later than
	// `end_time`. False: the packet was cut off, and decoding ends at the cut.
	bool open(PacketHead &head, std::uint64_t end_time);

	// The open packet, which has tokens, has grown.
	void grow(const PacketHead &head);

	// Decodes the next event. False: the packet has no more events, or the next one is damaged.
	bool next() { return position_ < end_ && (is_direct_ ? decode_token() : decode_other()); }
	const Event &event() const { return event_; }
	// Time of the last event, or of the packet's start.
	std::uint64_t time() const { return event_.time; }
	// Ticks of the last record in the file's clock, even if they step back.
	std::uint64_t own_ticks() const { return own_ticks_; }

	// After next() has failed:
	bool is_damaged() const { return position_ < end_; }
	std::string why_damaged() const;
	// Where the event is in the file; its number in the packet, if it is a record.
	std::uint64_t offset() const { return static_cast<std::uint64_t>(position_ - stream_->bytes()); }
	std::uint64_t record() const { return record_; }
	// The file ends before the packet does.
	bool is_cut_off() const { return stream_->whole_bytes() < static_cast<std::uint64_t>(end_ - stream_->bytes()); }
	// The start of the next event is known.
	bool can_resume() const { return !is_cut_off() && resume_ > position_; }
	// Skips the event if can_resume(), otherwise the rest of the packet.
	void skip_damage();

private:
	Decoder(const Decoder &) = default; // event_.slots still points to the original's

	// These require position_ < end_, decode the event there into event_ and move past it. False: it is damaged, or
	// position_ is now at the end.
	bool decode_token()
	{
		const auto token = load<std::uint64_t>(position_);
		const std::size_t size_bytes = description_->size_of(token);
		const std::uint32_t delta = edc_token_time(token) - static_cast<std::uint32_t>(event_.time);
		if (size_bytes == 0 || size_bytes > static_cast<std::size_t>(end_ - position_) ||
		    delta >= EDC_BLOCK_MAX_TICKS || delta > packet_end_time_ - event_.time) [[unlikely]]
			return false;
		event_.cls = description_->by_id(token);
		event_.data = position_;
		position_ += size_bytes;
		event_.time += delta;
		return true;
	}
	bool decode_other();
	bool decode_any_layout();
	bool decode_mapped_token();
	bool decode_record();

	const char *read_generic_ctf(std::uint64_t at_bits);
	const char *with_event_name(const char *why, const EventClass *cls);
	[[gnu::always_inline]] inline const char *read_event_header(std::uint64_t &at_bits, const EventClass *&cls);
	const char *walk_event_header(std::uint64_t &at_bits, const EventClass *&cls);
	const char *read_record(std::uint64_t &size_bytes);
	const char *check_constants(const RecordForm &form);
	const char *set_record_time(const RecordForm &form);
	inline const char *set_time(std::uint64_t ticks, std::uint32_t size_bits);
	void release_records();

	// Members that next() uses, in one cache line.
	const std::byte *position_ = nullptr, *end_ = nullptr;
	std::uint64_t packet_end_time_ = 0; // no event of the packet is later
	const Description *description_;
	Event event_;
	bool is_direct_; // tokens whose times need no conversion

	const Stream *stream_;
	const StreamClass *stream_class_ = nullptr; // of the packet; nullptr: tokens
	std::vector<std::uint64_t> slots_;          // values of the packet's header, then of each event
	std::uint64_t begin_ = 0;                   // of the packet, in ticks of the stream's own clock
	std::uint32_t cpu_ = EDC_CPU_UNKNOWN;       // of the packet
	std::uint64_t ticks_ = 0;                   // of the stream's own clock, if mapped or generic CTF
	std::uint64_t at_bits_ = 0;                 // of a generic CTF packet
	const char *why_ = nullptr;                 // what is wrong with a generic CTF event
	std::string text_;                          // storage of why_, if it is no literal
	std::uint64_t own_ticks_ = 0;
	std::uint64_t record_ = 0;                // whole ones of its packet, up to the first damage
	const std::byte *resume_ = nullptr;       // the record after a damaged one, if known
	const std::byte *not_released_ = nullptr; // pages before it were released
};

} // namespace monitor::trace
