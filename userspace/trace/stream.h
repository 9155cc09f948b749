// SPDX-License-Identifier: MIT
// One stream file: packets of 4 KiB, found by their number, and the cursor that walks through their events.
//
// Trace owns the streams; merge() makes one Cursor per stream. The file is mapped read-only and never copied; a cursor
// gives pages back to the system behind itself, so memory stays bounded however long the trace is.
// All bytes are untrusted. A packet that does not stand the test is reported and skipped; a token that does not stand
// it ends its packet. Both leave a gap in the stream, and the rest is read. Invariant: an Event's bytes lie inside the
// content of a packet that was tested; times of a stream never step back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "base/fd.h"
#include "description.h"
#include "event.h"
#include "monitor/ring.h"
#include "problem.h"

namespace monitor::trace {

class Stream {
public:
	// `bytes` must outlive the stream; with `owner` they are the owner's.
	Stream(std::string name, std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid);
	Stream(std::string name, Mapping owner, const std::array<std::uint8_t, 16> &uuid);

	const StreamInfo &info() const { return info_; }
	void set_index(std::uint32_t index) { info_.index = index; }

	// Whole packets, good or bad.
	std::uint64_t packets() const { return bytes_.size() / EDC_BLOCK_SIZE; }
	std::uint64_t trailing_bytes() const { return bytes_.size() % EDC_BLOCK_SIZE; }
	const std::byte *packet(std::uint64_t number) const { return bytes_.data() + number * EDC_BLOCK_SIZE; }

	// Copies a packet's header and tests it: returns nullptr, or what is wrong with it.
	const char *read_header(std::uint64_t number, edc_block &header) const;

	// No packet of the file is one of this trace: it has neither cpu nor level nor times.
	bool is_foreign() const { return !first_; }
	std::string why_foreign() const;
	std::uint64_t begin_time() const { return first_ ? first_->timestamp_begin : 0; }
	std::uint64_t end_time() const { return last_ ? last_->timestamp_end : 0; }

	// The last good packet that begins at or before `time`, or 0: by bisection.
	std::uint64_t seek(std::uint64_t time) const;

	// The bytes before this packet are not needed soon. Called once per chunk.
	void drop(std::uint64_t from_packet, std::uint64_t to_packet) const;

private:
	void find_ends();

	StreamInfo info_;
	Mapping owner_;
	std::span<const std::byte> bytes_;
	std::array<std::uint8_t, 16> uuid_;
	std::optional<edc_block> first_, last_; // good packets
};

// How many events a gap swallowed, when nobody counted them.
inline constexpr std::uint64_t unknown_count = ~std::uint64_t(0);

struct Gap {
	std::uint64_t from_time = 0, to_time = 0;
	std::uint64_t discarded = 0; // or unknown_count
};

class Cursor {
public:
	enum class Item : std::uint8_t { event, gap, end };

	// Stands before the first item: start() comes next. `trace_begin` is where a loss before the first packet
	// began.
	Cursor(const Stream &stream, const Description &description, Problems &problems, std::uint64_t trace_begin);

	// Goes to the first item at or after this time, or to a gap that reaches it.
	Item start(std::uint64_t from_time);
	// Goes to the next item; its time is not before the current one's.
	Item advance()
	{
		if (item_ == Item::event && position_ < end_ && decode()) [[likely]]
			return Item::event;
		return advance_slowly();
	}

	Item item() const { return item_; }
	std::uint64_t time() const { return item_ == Item::event ? event_.time : gap_.from_time; }
	const Event &event() const { return event_; }
	const Gap &gap() const { return gap_; }
	const Stream &stream() const { return *stream_; }

	// Visits the current event and those behind it while their times are before `bound`; the first without asking.
	// Returns false if the visitor did. Afterwards the current item is the first one not visited.
	template <class Visit> bool visit_before(std::uint64_t bound, Visit &&visit);

private:
	// At position_ < end_: makes event_ the event that begins there and moves behind it. False: it is damaged.
	bool decode()
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
	Item advance_slowly();
	bool open_next_packet();
	const char *check_order(const edc_block &header) const;
	bool make_gap(const edc_block &header);
	bool make_last_gap();
	void report_damage();
	void drop_behind();

	// what decode() needs stands together
	const std::byte *position_ = nullptr, *end_ = nullptr;
	std::uint64_t packet_end_time_ = 0;
	const Description *description_;
	Event event_;
	Item item_ = Item::end;

	bool opened_any_ = false; // previous_ is that of a good packet
	bool broken_ = false;     // something was skipped since the last good event
	const Stream *stream_;
	Problems *problems_;
	std::uint64_t trace_begin_;
	std::uint64_t next_packet_ = 0; // number of the packet to open next
	std::uint64_t dropped_ = 0;     // packets given back
	edc_block previous_{};          // header of the packet that is or was open
	Gap gap_;
};

template <class Visit> bool Cursor::visit_before(std::uint64_t bound, Visit &&visit)
{
	do {
		if constexpr (std::is_same_v<decltype(visit(static_cast<const Event &>(event_))), bool>) {
			if (!visit(static_cast<const Event &>(event_)))
				return false;
		} else {
			visit(static_cast<const Event &>(event_));
		}
	} while (advance() == Item::event && event_.time < bound);
	return true;
}

} // namespace monitor::trace
