// SPDX-License-Identifier: MIT
// One stream file and the cursor that walks through its events.
//
// Trace owns the streams; merge() makes one Cursor per stream. The file is mapped read-only and never copied; a cursor
// releases the pages that it has passed, so memory stays bounded however long the trace is. All bytes are untrusted. A
// packet that fails a check is reported and skipped; an event that fails one ends its packet. Both leave a gap in the
// stream, and the rest is read. Invariant: an Event's bytes are inside the content of a packet that was checked; times
// of a stream never step back.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/mapped_file.h"
#include "description.h"
#include "event.h"
#include "monitor/ring.h"
#include "packets.h"
#include "problem.h"
#include "time_map.h"

namespace monitor::trace {

struct RecordForm;

class Stream {
public:
	// Of tokens. `bytes` must outlive the stream.
	Stream(std::string name, std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid);
	// `index` is LTTng's index of the stream, or empty.
	Stream(std::string name, std::shared_ptr<const Description> description, MappedFile owner,
	       MappedFile index = {});
	Stream(std::string name, std::shared_ptr<const Description> description, std::span<const std::byte> bytes);

	const StreamInfo &info() const { return info_; }
	void set_index(std::uint32_t index) { info_.index = index; }
	void set_machine(std::uint32_t machine) { info_.machine = machine; }
	// The clock that times are converted to.
	void set_clock(const Clock &wanted);

	// Whole packets, good or bad.
	std::uint64_t packets() const { return packets_->count(); }
	std::uint64_t trailing_bytes() const;
	std::uint64_t offset(std::uint64_t number) const { return packets_->offset(number); }
	const std::byte *bytes() const { return bytes_.data(); }
	// Where the first byte is that could not be read so far: from there on, zeros replace what was written.
	std::uint64_t whole_bytes() const { return owner_.size() ? owner_.whole_bytes() : bytes_.size(); }
	bool is_cut_off() const { return whole_bytes() < bytes_.size(); }
	// Whether these bytes, which have been decoded, came from the file.
	bool was_there(const std::byte *from, const std::byte *end) const
	{
		return owner_.was_there(static_cast<std::size_t>(from - bytes()),
					static_cast<std::size_t>(end - bytes()));
	}
	static const char *why_cut_off()
	{
		return "the file could not be read from here on: it was cut off meanwhile, or its disk failed";
	}
	// The description of the trace that the file belongs to; nullptr: a test's tokens.
	const Description *description() const { return description_.get(); }

	// Reads and checks a packet's header: returns nullptr, or what is wrong with it.
	const char *read_head(std::uint64_t number, PacketHead &head) const;
	// Converts from the stream's own ticks.
	std::uint64_t time(std::uint64_t ticks) const { return map_ ? map_->map(ticks) : ticks; }
	bool maps_time() const { return map_.has_value(); }

	// No packet of the file belongs to this trace: the stream has no cpu, level or times.
	bool is_foreign() const { return !first_; }
	// Nothing is missing: the file has a header at most, and no segments.
	bool is_empty() const { return info_.is_generic_ctf && packets() == 0; }
	std::string why_foreign() const;
	// Packets have times; otherwise only reading the events gives the times.
	bool tells_times() const { return first_ && first_->has_begin; }
	std::uint64_t begin_time() const { return first_ ? time(first_->begin) : 0; }
	std::uint64_t end_time() const
	{
		return !last_ ? 0 : last_->has_end ? time(last_->end) : std::max(time(last_->begin), last_event_time_);
	}
	// Whether packets have their end times; otherwise the time of the last event is needed.
	bool tells_end() const { return last_ && last_->has_end; }
	void set_last_event_time(std::uint64_t time) { last_event_time_ = time; }

	// The last good packet that begins at or before `time`, or the first one: by bisection. Also the first one if
	// packets have no times.
	std::uint64_t seek(std::uint64_t time) const;

	// The start of the packet that `time` is in or after, or `time` if none begins before it.
	std::uint64_t packet_time(std::uint64_t time) const;

	// Whether `earlier` is another file of the same trace and ring with what came before: as when a tracer rotates
	// files. Packets that are in both are read from `earlier` only.
	bool continues(const Stream &earlier) const;
	void follow(const Stream &earlier);
	// The last packet of the earlier file, or nullptr.
	const PacketHead *before() const { return before_ ? &*before_ : nullptr; }
	// Packets from this number on are read.
	std::uint64_t first_packet() const { return first_packet_; }

	// These bytes of the file will be read soon.
	void will_need(std::uint64_t from, std::uint64_t to) const;
	// All bytes from here on will be read in order.
	void will_read_on(std::uint64_t from) const;
	// The bytes from one packet up to the other are not needed soon. Called once per chunk.
	void drop(std::uint64_t from_packet, std::uint64_t to_packet) const;
	// The same for parts of a large packet.
	void drop_bytes(const std::byte *from, const std::byte *to) const;

private:
	void make_packets();
	void find_ends();

	StreamInfo info_;
	std::shared_ptr<const Description> description_;
	MappedFile owner_, index_;
	// The kernel has this advice from here on: each madvise() stops the page faults of all other threads.
	mutable std::atomic<std::uint64_t> reads_on_from_ = ~std::uint64_t(0);
	std::span<const std::byte> bytes_;
	std::unique_ptr<Packets> packets_;
	std::optional<PacketHead> first_, last_; // good packets
	std::uint64_t last_event_time_ = 0;
	std::optional<PacketHead> before_;
	std::uint64_t first_packet_ = 0;
	std::optional<TimeMap> map_;
};

// The number of events lost in a gap, if they were not counted.
inline constexpr std::uint64_t unknown_count = ~std::uint64_t(0);

// The gaps of a trace, summed up.
struct Losses {
	std::uint64_t gaps = 0, discarded = 0;
	bool all_counted = true;

	void add(std::uint64_t lost)
	{
		++gaps;
		all_counted = all_counted && lost != unknown_count;
		discarded += lost != unknown_count ? lost : 0;
	}
	void merge(const Losses &other)
	{
		gaps += other.gaps;
		discarded += other.discarded;
		all_counted = all_counted && other.all_counted;
	}
	// Empty if unknown.
	std::optional<std::uint64_t> counted() const { return all_counted ? std::optional(discarded) : std::nullopt; }
};

struct Gap {
	std::uint64_t from_time = 0, to_time = 0;
	std::uint64_t discarded = 0; // or unknown_count
};

class Cursor {
public:
	enum class Item : std::uint8_t { event, gap, end };

	// Positioned before the first item: start() comes next. `trace_begin` is when a loss before the first packet
	// began. The description is that of tokens; other streams have their own.
	Cursor(const Stream &stream, const Description &description, Problems &problems, std::uint64_t trace_begin);
	Cursor(Cursor &&) = default;
	Cursor &operator=(Cursor &&) = default;
	// Another cursor at the same item.
	Cursor copy() const
	{
		Cursor made(*this);
		if (made.event_.slots)
			made.event_.slots = made.head_.slots.data();
		return made;
	}

	// Moves to the first item of this packet or of a later one. What came before is unknown: a gap before a packet
	// that is not the stream's first means nothing, and events have times only if packets have them.
	Item start_at(std::uint64_t packet);
	// Moves to the first item at or after this time, or to a gap that reaches it.
	Item start(std::uint64_t from_time);
	// Moves to the next item; its time is not before the current one's.
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
	// The number of the packet that the event is in, or that the gap is before; at the end the last one.
	std::uint64_t packet() const { return next_packet_ - 1; }

	// The pages of the packets before the current one are no longer needed.
	void give_back();

	// Visits the current event, whatever its time, then the next ones while their times are before `bound`. Returns
	// false if the visitor did. Afterwards the current item is the first one not visited.
	template <class Visit> bool visit_before(std::uint64_t bound, Visit &&visit);

private:
	Cursor(const Cursor &) = default; // event_.slots still points to the other's

	// Requires position_ < end_: decodes the event there into event_ and moves past it. False: it is damaged, or
	// position_ is now at the end.
	bool decode() { return is_direct_ ? decode_token() : decode_other(); }
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
	// For other layouts, and tokens whose times are mapped: generic_events.cpp.
	bool decode_other();
	bool decode_any_layout();
	bool decode_mapped_token();
	const char *decode_generic_ctf(std::uint64_t at_bits);
	[[gnu::always_inline]] inline const char *read_event_header(std::uint64_t &at_bits, const EventClass *&cls);
	const char *walk_event_header(std::uint64_t &at_bits, const EventClass *&cls);
	const char *take_time(std::uint64_t ticks, std::uint32_t size_bits);
	// For files described in TDL: record_events.cpp.
	bool decode_record();
	const char *read_record(std::uint64_t &size_bytes);
	const char *wrong_constant(const RecordForm &form);
	const char *take_record_time(const RecordForm &form);
	void drop_records();

	Item advance_slowly();
	bool open_next_packet();
	void open(const PacketHead &head);
	const char *check_order(const PacketHead &head);
	std::uint64_t next_begin(const PacketHead &head);
	std::uint64_t begin_before();
	bool follows_in_order(std::uint64_t packet);
	void measure_gap(const PacketHead &head);
	bool make_gap();
	bool make_last_gap();
	bool report_damage();
	std::string why_damaged() const;
	bool is_cut_off() const;
	void drop_behind();
	void read_ahead(std::uint64_t at, std::uint64_t min_bytes);

	// what decode() needs is kept together
	const std::byte *position_ = nullptr, *end_ = nullptr;
	std::uint64_t packet_end_time_ = 0; // no event of the packet is later
	const Description *description_;
	Event event_;
	Item item_ = Item::end;
	bool is_direct_;

	bool opened_any_ = false; // head_ is that of a good packet
	bool broken_ = false;     // something was skipped since the last good event
	const Stream *stream_;
	Problems *problems_;
	std::uint64_t trace_begin_;
	std::uint64_t next_packet_ = 0;             // number of the packet to open next
	std::uint64_t dropped_ = 0;                 // packets before this one were released
	std::uint64_t ahead_ = 0, ahead_bytes_ = 0; // end of the bytes requested, and how many to request next
	std::uint64_t ticks_ = 0;                   // of the stream's own clock, if mapped or generic CTF
	std::uint64_t at_bits_ = 0;                 // of a generic CTF packet
	const char *why_ = nullptr;                 // what is wrong with a generic CTF event
	std::string text_;                          // of why_, if not a fixed sentence
	std::uint64_t record_ = 0;                  // whole ones of its packet, up to the first damage
	const std::byte *resume_ = nullptr;         // what follows a damaged record, if known
	const std::byte *kept_from_ = nullptr;      // records before it were released
	PacketHead head_, next_head_;               // of the packet that is or was open; of the candidate to open next
	PacketHead neighbour_;                      // of a packet next to the candidate
	Gap gap_;
};

// The low bits of the clock: a lower value than before means that they have wrapped. Without any, the time is
// unchanged. Returns nullptr, or what is wrong with the time.
inline const char *Cursor::take_time(std::uint64_t ticks, std::uint32_t size_bits)
{
	if (size_bits == 0) {
		ticks = ticks_;
	} else if (size_bits < 64) {
		const std::uint64_t mask = (std::uint64_t(1) << size_bits) - 1;
		const std::uint64_t passed = ticks < (ticks_ & mask) ? mask + 1 : 0;
		ticks = (ticks_ & ~mask) + passed + (ticks & mask);
	}
	const std::uint64_t time = stream_->time(ticks);
	if (time < event_.time)
		return "the event's time steps back";
	if (time > packet_end_time_)
		return "the event's time is after the start of the next packet";
	ticks_ = ticks;
	event_.time = time;
	return nullptr;
}

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
