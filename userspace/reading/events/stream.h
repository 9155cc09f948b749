// SPDX-License-Identifier: MIT
// One stream file: its bytes, its packets, and the ring that they are from.
// Trace owns the streams; a Cursor (cursor.h) walks through the events of one. The file is mapped read-only and not
// copied, unless its records are unsorted (record_order.h). Const once the trace is open, so any number of threads may
// read it. All bytes are untrusted. Invariant: all that a PacketHead refers to is inside the file.
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
#include <vector>

#include "base/mapped_file.h"
#include "event.h"
#include "monitor/ring.h"
#include "packets.h"
#include "reading/ctf/description.h"
#include "time_map.h"

namespace monitor::trace {

class Stream {
public:
	// For tokens. `bytes` must outlive the stream.
	Stream(std::string name, std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid);
	// `index` is LTTng's index of the stream, or empty.
	Stream(std::string name, std::shared_ptr<const Description> description, MappedFile owner,
	       MappedFile index = {});
	Stream(std::string name, std::shared_ptr<const Description> description, std::span<const std::byte> bytes);
	// For a file whose records were sorted (record_order.h).
	Stream(std::string name, std::shared_ptr<const Description> description, std::vector<std::byte> bytes);
	// For tokens whose packets arrive while the stream is read (live_streams.h); there is at least one. They are in
	// `bytes`.
	Stream(std::string name, std::shared_ptr<const Description> description, std::span<const std::byte> bytes,
	       std::unique_ptr<Packets> packets);
	// For tokens of which only some packets are in the file (fetched_packets.h): packet numbers differ from
	// positions.
	Stream(std::string name, std::shared_ptr<const Description> description, MappedFile owner,
	       std::unique_ptr<Packets> packets);

	const StreamInfo &info() const { return info_; }
	void set_index(std::uint32_t index) { info_.index = index; }
	void set_machine(std::uint32_t machine) { info_.machine = machine; }
	// The lines of a collection convert times instead of the clocks' origins; nullptr: there are none.
	void set_lines(std::shared_ptr<const ClockMap> lines) { lines_ = std::move(lines); }
	// The clock to convert times to. With lines it counts nanoseconds since the epoch.
	void set_clock(const Clock &wanted);

	// The number of whole packets, good or bad.
	std::uint64_t packets() const { return packets_->count(); }
	std::uint64_t trailing_bytes() const;
	std::uint64_t offset(std::uint64_t number) const { return packets_->offset(number); }
	const std::byte *bytes() const { return bytes_.data(); }
	// Offset of the first byte that could not be read: from there on zeros replace the file's bytes.
	std::uint64_t whole_bytes() const { return owner_.size() ? owner_.whole_bytes() : bytes_.size(); }
	bool is_cut_off() const { return whole_bytes() < bytes_.size(); }
	// Whether these bytes, which have been decoded, came from the file.
	bool was_in_file(const std::byte *from, const std::byte *end) const
	{
		return owner_.was_in_file(static_cast<std::size_t>(from - bytes()),
					  static_cast<std::size_t>(end - bytes()));
	}
	static const char *why_cut_off()
	{
		return "the file could not be read from here on: it was cut off meanwhile, or its disk failed";
	}
	// The description of the file's trace; nullptr: tokens of a unit test.
	const Description *description() const { return description_.get(); }
	// The clock of the times in the file; nullptr: it has none, or is foreign.
	const Clock *own_clock() const;

	// The packets in one hole of the file with this one, from `first` to before `after`; none: first == after.
	struct InHole {
		std::uint64_t first = 0, after = 0;
	};
	InHole in_hole(std::uint64_t number) const;

	// Reads and checks a packet's header: returns an error, or nullptr.
	const char *read_head(std::uint64_t number, PacketHead &head) const;
	// Converts from the stream's own ticks.
	std::uint64_t time(std::uint64_t ticks) const { return map_ ? map_->map(ticks) : ticks; }
	bool maps_time() const { return map_.has_value(); }

	// No packet in the file belongs to this trace: the stream has no cpu, level or times.
	bool is_foreign() const { return !first_; }
	// How many packets the recorder wrote.
	void set_recorded(std::uint64_t packets);
	// All packets that the recorder wrote are missing: only cpu and level are known, from the name.
	bool is_missing() const { return recorded_ && !first_; }
	// How many of the recorder's packets are missing at the end; their times are up to lost_until().
	std::uint64_t missing() const { return missing_; }
	bool is_short() const { return missing_ || is_missing(); }
	std::uint64_t lost_until() const { return lost_until_; }
	void set_lost_until(std::uint64_t time) { lost_until_ = time; }
	// The file is complete and has no segments, only perhaps a header.
	bool is_empty() const { return info_.is_generic_ctf && packets() == 0; }
	std::string why_foreign() const;
	// Whether packets have times; otherwise only the events have.
	bool has_packet_times() const { return first_ && first_->has_begin; }
	std::uint64_t begin_time() const { return first_ ? time(first_->begin) : 0; }
	std::uint64_t end_time() const
	{
		return !last_ ? 0 : last_->has_end ? time(last_->end) : std::max(time(last_->begin), last_event_time_);
	}
	// Whether packets have their end times; otherwise the time of the last event is needed.
	bool has_packet_end() const { return last_ && last_->has_end; }
	void set_last_event_time(std::uint64_t time) { last_event_time_ = time; }

	// The last good packet that begins at or before `time`, or the first one, found by bisection. The first one if
	// packets have no times.
	std::uint64_t seek(std::uint64_t time) const;

	// The start of the packet that `time` is in or after, or, with `before`, of an earlier one; `time` if none
	// begins before it.
	std::uint64_t packet_time(std::uint64_t time, std::uint64_t before = 0) const;

	// Whether `earlier` is the preceding file of the same trace and ring, as when a tracer rotates files. Packets
	// that are in both are read from `earlier` only.
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
	void release(std::uint64_t from_packet, std::uint64_t to_packet) const;
	// The same for parts of a large packet.
	void release_bytes(const std::byte *from, const std::byte *to) const;

private:
	void make_packets();
	void find_ends();

	StreamInfo info_;
	std::shared_ptr<const Description> description_;
	MappedFile owner_, index_;
	std::vector<std::byte> copy_;
	bool has_own_numbers_ = false; // packet numbers differ from positions
	// The kernel was advised once to read ahead from here: each madvise() stalls the page faults of all other
	// threads.
	mutable std::atomic<std::uint64_t> reads_on_from_ = ~std::uint64_t(0);
	std::span<const std::byte> bytes_;
	std::unique_ptr<Packets> packets_;
	std::optional<PacketHead> first_, last_; // good packets
	std::uint64_t last_event_time_ = 0;
	std::optional<PacketHead> before_;
	std::uint64_t first_packet_ = 0;
	std::uint64_t recorded_ = 0, missing_ = 0, lost_until_ = 0; // numbers of packets; untrusted
	std::shared_ptr<const ClockMap> lines_;
	std::optional<TimeMap> map_;
};

} // namespace monitor::trace
