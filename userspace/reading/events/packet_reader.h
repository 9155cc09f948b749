// SPDX-License-Identifier: MIT
// Goes through the packets of a stream in order: which one is next, and what is missing before it.
// A packet that fails a check, its own or that of the order, is reported and skipped. Pages are requested ahead of
// their use and released after it, so memory stays bounded however long the stream is. One thread. Invariant: an opened
// packet begins at or after the last event before it, and no later than the next good packet.
#pragma once

#include <cstdint>
#include <string>

#include "gap.h"
#include "packets.h"
#include "problem.h"
#include "stream.h"

namespace monitor::trace {

class PacketReader {
public:
	// `trace_begin`: where a loss before the first packet began.
	PacketReader(const Stream &stream, Problems &problems, std::uint64_t trace_begin)
	    : stream_(&stream), problems_(&problems), trace_begin_(trace_begin)
	{
	}

	const Stream &stream() const { return *stream_; }

	// Moves before this packet, or before the first that is read. What came before is unknown.
	void start_at(std::uint64_t packet);
	// Whether the headers alone show that the packet will be opened, whatever the previous one's events are.
	bool follows_in_order(std::uint64_t packet);

	// Opens the next good packet; `last_time` is the time of the last event so far. False: there is none.
	bool open_next(std::uint64_t last_time);
	// Reads the open packet's header again, because the packet has grown. False: none is open.
	bool read_again();
	// The packet that is open, or was last.
	PacketHead &head() { return head_; }
	// No event of the open packet is later.
	std::uint64_t end_time() const { return end_time_; }
	// The number of the open packet; at the end of the last one.
	std::uint64_t number() const { return next_ - 1; }

	// The gap before the open packet; nothing was discarded: empty.
	const Gap &gap() const { return gap_; }
	// After the last packet: reports trailing bytes. True: something is missing there, see gap().
	bool finish(std::uint64_t last_time);

	// The open packet has a damaged event, at byte `offset` of the file; `place` is "" or names the event. If
	// reading does not resume after the event, a gap follows.
	void report_damage(std::uint64_t offset, std::string why, std::string place, bool resumes);
	// The open packet is cut off: a gap follows.
	void report_cut();
	// No more packets are read.
	void end() { next_ = stream_->packets(); }

	// Releases the pages of the packets before the open one.
	void give_back();

private:
	const char *check_order(const PacketHead &candidate, std::uint64_t last_time);
	std::uint64_t next_begin(const PacketHead &candidate);
	std::uint64_t begin_before();
	void measure_gap(const PacketHead &candidate, std::uint64_t last_time);
	void release_passed();
	void read_ahead(std::uint64_t at, std::uint64_t min_bytes);

	const Stream *stream_;
	Problems *problems_;
	std::uint64_t trace_begin_;
	bool has_previous_ = false;                 // head_ is a good packet's
	bool has_reported_end_ = false;             // has reported that packets are missing at the end
	bool broken_ = false;                       // something was skipped since the last good event
	std::uint64_t next_ = 0;                    // number of the packet to open next
	std::uint64_t end_time_ = 0;                // of the open packet, or of a candidate
	std::uint64_t released_ = 0;                // packets before this one were released
	std::uint64_t ahead_ = 0, ahead_bytes_ = 0; // end of the bytes requested, and how many to request next
	PacketHead head_, candidate_;               // of the packet that is or was open; of the one to open next
	PacketHead neighbour_;                      // of a packet next to the candidate
	Gap gap_;
};

} // namespace monitor::trace
