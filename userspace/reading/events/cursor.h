// SPDX-License-Identifier: MIT
// Walks through the events and gaps of one stream.
// Each packet is opened (packet_reader.h) in a decoder (decoder.h). A packet that fails a check is reported and
// skipped; an event that fails one ends its packet. Both leave a gap in the stream, and reading continues. One thread.
// Invariant: times of a stream never step back.
#pragma once

#include <cstdint>
#include <type_traits>

#include "decoder.h"
#include "gap.h"
#include "packet_reader.h"
#include "problem.h"
#include "stream.h"

namespace monitor::trace {

class Cursor {
public:
	enum class Item : std::uint8_t { event, gap, end };

	// Positioned before the first item: start() comes next. `trace_begin`: where a loss before the first packet
	// began. The description is that of tokens; other streams have their own.
	Cursor(const Stream &stream, const Description &description, Problems &problems, std::uint64_t trace_begin)
	    : decoder_(stream, description), packets_(stream, problems, trace_begin)
	{
	}
	Cursor(Cursor &&) = default;
	Cursor &operator=(Cursor &&) = default;
	// Another cursor at the same item.
	Cursor copy() const { return Cursor(*this); }

	// Moves to the first item of this packet or of a later one. What came before is unknown: a gap before a packet
	// other than the stream's first is meaningless, and events have times only if packets have them.
	Item start_at(std::uint64_t packet);
	// Moves to the first item at or after this time, or to a gap that extends to it.
	Item start(std::uint64_t from_time);
	// Moves to the next item; its time is not before the current one's.
	Item advance()
	{
		if (item_ == Item::event && decoder_.next()) [[likely]]
			return Item::event;
		return advance_slowly();
	}

	// The stream has grown, possibly within its newest packet (live_streams.h): at the end, moves to the next item.
	Item grow();

	Item item() const { return item_; }
	std::uint64_t time() const { return item_ == Item::event ? decoder_.time() : gap_.from_time; }
	const Event &event() const { return decoder_.event(); }
	const Gap &gap() const { return gap_; }
	const Stream &stream() const { return packets_.stream(); }
	// Of the last opened packet, in ticks; 0: none was opened.
	std::uint64_t packet_end_time() const { return packets_.end_time(); }
	// The number of the event's packet, or of the packet after the gap; at the end the last one.
	std::uint64_t packet() const { return packets_.number(); }

	// Releases the pages of packets before the current one.
	void give_back() { packets_.give_back(); }

	// Visits the current event, whatever its time, then the next ones with times before `bound`. Returns false if
	// the visitor did. Afterwards the current item is the first one not visited.
	template <class Visit> bool visit_before(std::uint64_t bound, Visit &&visit)
	{
		do {
			if constexpr (std::is_same_v<decltype(visit(event())), bool>) {
				if (!visit(event()))
					return false;
			} else {
				visit(event());
			}
		} while (advance() == Item::event && decoder_.time() < bound);
		return true;
	}

private:
	Cursor(const Cursor &other)
	    : item_(other.item_), decoder_(other.decoder_.copy()), packets_(other.packets_), gap_(other.gap_)
	{
	}

	Item advance_slowly();
	bool pass_damage();

	Item item_ = Item::end;
	Decoder decoder_;
	PacketReader packets_;
	Gap gap_; // if the item is a gap
};

} // namespace monitor::trace
