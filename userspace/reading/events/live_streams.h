// SPDX-License-Identifier: MIT
// The packets of a recording that is still running, in memory: takes them as they come, passes on their events and gaps
// in the order of time, and frees what was read.
//
//     LiveStreams live(description, begin_time, max_packets);
//     live.take(stream, "kernel_cpu0", packet); ...
//     live.advance(horizon, visitor);            // all that is older than `horizon` has been taken
//
// The order and the gaps are those that merge() (merge.h) has when the same packets are read from files: the same
// cursors read them, and at equal times the streams come in the same order. The newest packet of a stream may be taken
// again with more content. One thread. Invariants: what is older than an earlier horizon has been passed on; a packet
// is freed once its stream is read beyond it; every stream may have two packets, however much memory the others use.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/merge_heap.h"
#include "cursor.h"
#include "monitor/ring.h"
#include "problem.h"
#include "stream.h"

namespace monitor::trace {

class LiveStreams {
public:
	// The end of a gap if it is not known yet.
	static constexpr std::uint64_t open_end = ~std::uint64_t(0);

	// `begin_time`: where a loss before a stream's first packet began. Has memory for `max_packets`, and for two
	// more of each stream. Throws Error.
	LiveStreams(std::shared_ptr<const Description> description, std::uint64_t begin_time, std::size_t max_packets);

	using Packet = std::span<const std::byte, EDC_BLOCK_SIZE>;

	// A packet of tokens as far as it is written: a new one, or the stream's newest one again. `number` and `name`
	// are the stream's. False: no memory; take it again after advance().
	bool take(std::uint32_t number, const std::string &name, Packet packet);
	// Events of the stream were lost after its newest packet; the next packet says how many.
	void lose(std::uint32_t number);

	// Passes on what is older than `horizon`, until `deadline`: visitor.stream(const StreamInfo &) before anything
	// else of a stream, event(const Event &), gap(const StreamInfo &, from, to), whose end may be open_end; then
	// gap_ended(const StreamInfo &, to) before anything that is not older than `to`. If the visitor has
	// lost(events), it is called when a gap has ended. False: something is left.
	using Clock = std::chrono::steady_clock;
	template <class Visitor>
	bool advance(std::uint64_t horizon, Visitor &visitor, Clock::time_point deadline = Clock::time_point::max());

	// The end time of the latest packet, in ticks.
	std::uint64_t end_time() const { return end_time_; }
	std::size_t packets() const { return used_ - free_.size(); }
	// Events and gaps that arrived after a later event had been passed on: a horizon was wrong.
	std::uint64_t late() const { return late_; }
	const Problems &problems() const { return problems_; }

private:
	class GrowingPackets;

	struct Member {
		std::string name;
		GrowingPackets *packets = nullptr; // owned by `stream`, or by `made` before there is one
		std::unique_ptr<GrowingPackets> made;
		std::optional<Stream> stream;
		std::optional<Cursor> cursor;
		bool has_grown = false;
		bool is_losing = false;      // events were lost after the newest packet
		bool has_open_gap = false;   // a gap was passed on whose end is not known
		std::uint64_t gap_after = 0; // count() of the packets before it
	};

	template <class Visitor> void read_new_packets(Visitor &visitor);
	void start(Member &member);
	std::vector<Member *> in_order();
	std::optional<std::uint64_t> next_time(const Member &member) const;
	template <class Visitor> void visit_first(Member &member, std::uint64_t before, Visitor &visitor);
	template <class Visitor> void visit_gap(Member &member, Visitor &visitor);
	void free_packets_read();
	std::optional<std::uint32_t> slot_for(const Member &member);

	std::shared_ptr<const Description> description_;
	std::uint64_t begin_time_;
	std::size_t max_packets_;
	Mapping memory_;
	std::vector<std::uint32_t> free_; // freed slots of memory_
	std::uint32_t used_ = 0;          // slots that were ever used
	std::map<std::uint32_t, std::unique_ptr<Member>> members_;
	Problems problems_;
	std::uint64_t end_time_ = 0, passed_ = 0, late_ = 0;
	std::uint32_t streams_ = 0; // number of streams that are being read
};

// The packets of one stream: where each kept packet is in memory.
class LiveStreams::GrowingPackets : public Packets {
public:
	GrowingPackets(std::span<std::byte> memory, const std::array<std::uint8_t, 16> &uuid)
	    : memory_(memory), uuid_(uuid)
	{
	}

	std::uint64_t count() const override { return first_ + slots_.size(); }
	// 0 for a packet that is not kept.
	std::uint64_t offset(std::uint64_t number) const override
	{
		const std::uint64_t index = number - first_;
		return index < slots_.size() ? std::uint64_t{slots_[index]} * EDC_BLOCK_SIZE : 0;
	}
	const char *read(std::uint64_t number, PacketHead &head) const override;

	std::size_t kept() const { return slots_.size(); }
	void add(std::uint32_t slot, Packet packet);
	// Whether this is the newest packet once more.
	bool is_newest(const edc_block &header) const;
	void grow_newest(Packet packet);
	// Adds the slots of the packets before this one to `freed`.
	void drop_before(std::uint64_t number, std::vector<std::uint32_t> &freed);

private:
	std::span<std::byte> memory_;
	std::array<std::uint8_t, 16> uuid_;
	std::uint64_t first_ = 0; // number of the first packet that is kept
	std::deque<std::uint32_t> slots_;
};

template <class Visitor> bool LiveStreams::advance(std::uint64_t horizon, Visitor &visitor, Clock::time_point deadline)
{
	constexpr std::uint64_t slice_ticks = 1u << 20; // between two checks of the deadline
	read_new_packets(visitor);
	const std::vector<Member *> order = in_order();
	MergeHeap heap;
	for (std::uint32_t i = 0; i < order.size(); ++i)
		if (const auto time = next_time(*order[i]))
			heap.add(*time, i);
	heap.make();
	bool is_in_time = true;
	while (!heap.empty() && heap.first_time() < horizon && (is_in_time = Clock::now() < deadline)) {
		const std::uint64_t first = heap.first_time();
		const std::uint64_t end = horizon - first > slice_ticks ? first + slice_ticks : horizon;
		while (!heap.empty() && heap.first_time() < end) {
			Member &member = *order[heap.first()];
			visit_first(member, std::min(heap.bound(), end), visitor);
			if (const auto time = next_time(member))
				heap.update(*time);
			else
				heap.remove();
		}
	}
	free_packets_read();
	return is_in_time;
}

// Starts new streams, and resumes those that were read to their end and have grown.
template <class Visitor> void LiveStreams::read_new_packets(Visitor &visitor)
{
	for (const auto &[number, member] : members_) {
		if (!member->has_grown)
			continue;
		member->has_grown = false;
		if (member->cursor) {
			member->cursor->grow();
		} else {
			start(*member);
			visitor.stream(member->stream->info());
			member->cursor->start_at(0);
		}
		// An open gap must end before any item at or after its end is passed on.
		if (member->has_open_gap && member->cursor->item() == Cursor::Item::gap)
			visit_gap(*member, visitor);
	}
}

template <class Visitor> void LiveStreams::visit_first(Member &member, std::uint64_t before, Visitor &visitor)
{
	if (member.cursor->item() != Cursor::Item::event)
		return visit_gap(member, visitor);
	member.cursor->visit_before(before, [&](const Event &event) {
		late_ += event.time < passed_;
		passed_ = std::max(passed_, event.time);
		visitor.event(event);
	});
}

template <class Visitor> void LiveStreams::visit_gap(Member &member, Visitor &visitor)
{
	const StreamInfo &info = member.stream->info();
	if (member.cursor->item() == Cursor::Item::end) {
		visitor.gap(info, member.cursor->packet_end_time(), open_end);
		member.is_losing = false;
		member.has_open_gap = true;
		member.gap_after = member.packets->count();
		return;
	}
	const Gap &gap = member.cursor->gap();
	if constexpr (requires { visitor.lost(gap.lost); })
		visitor.lost(gap.lost);
	if (std::exchange(member.has_open_gap, false)) {
		visitor.gap_ended(info, gap.to_time);
	} else {
		late_ += gap.from_time < passed_;
		visitor.gap(info, gap.from_time, gap.to_time);
	}
	member.cursor->advance();
}

} // namespace monitor::trace
