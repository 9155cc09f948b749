// SPDX-License-Identifier: MIT
// Offers the packets of streams to a LiveStreams as a recorder would: pass by pass, each with what was written by then,
// the newest packets in parts. Used by test_live_streams.cpp and test_states_live.cpp.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "reading/events/live_streams.h"
#include "samples.h"

namespace live_feed {

using monitor::trace::LiveStreams;

// A copy of a packet with what was written until `time`, that included; empty: nothing was.
inline std::vector<std::byte> part_of(std::span<const std::byte> packet, const monitor::trace::Description &description,
				      std::uint64_t time)
{
	edc_block header;
	std::memcpy(&header, packet.data(), sizeof header);
	std::vector<std::byte> part(packet.begin(), packet.end());
	std::uint64_t at = EDC_BLOCK_HEADER, now = header.timestamp_begin, end = now;
	while (at < header.content_size / 8) {
		const auto token = monitor::load<std::uint64_t>(packet.data() + at);
		now += edc_token_time(token) - static_cast<std::uint32_t>(now);
		if (now > time)
			break;
		end = now;
		at += description.size_of(token);
	}
	if (header.timestamp_begin > time)
		return {};
	if (at < header.content_size / 8) {
		std::memset(part.data() + at, 0xee, part.size() - at); // not written yet
		header.content_size = at * 8;
		header.timestamp_end = end;
		std::memcpy(part.data(), &header, sizeof header);
	}
	return part;
}

class Feed {
public:
	Feed(std::vector<samples::StreamWriter> &writers, const monitor::trace::Description &description)
	    : description_(description), next_(writers.size())
	{
		for (samples::StreamWriter &writer : writers)
			streams_.push_back(writer.bytes());
	}

	// Offers what was written until `time`; what there is no memory for is offered again at the next call. Returns
	// whether all was taken.
	template <class Live> bool offer(Live &live, std::uint64_t time)
	{
		bool all = true;
		for (std::uint32_t i = 0; i < streams_.size(); ++i)
			all &= offer_stream(live, i, time);
		return all;
	}

private:
	template <class Live> bool offer_stream(Live &live, std::uint32_t number, std::uint64_t time)
	{
		const std::string name = "s" + std::to_string(number);
		const std::span<std::byte> bytes = streams_[number];
		for (std::size_t &next = next_[number]; next < bytes.size() / EDC_BLOCK_SIZE; ++next) {
			const std::span<const std::byte> packet = bytes.subspan(next * EDC_BLOCK_SIZE, EDC_BLOCK_SIZE);
			const std::vector<std::byte> part = part_of(packet, description_, time);
			if (part.empty()) {
				if (next > 0 && loses_before(bytes, next))
					live.lose(number);
				return true;
			}
			if (!live.take(number, name, LiveStreams::Packet(part.data(), EDC_BLOCK_SIZE)))
				return false;
			if (std::memcmp(part.data(), packet.data(), sizeof(edc_block)) != 0)
				return true; // it goes on
		}
		return true;
	}

	static bool loses_before(std::span<const std::byte> bytes, std::size_t packet)
	{
		edc_block before, after;
		std::memcpy(&before, bytes.data() + (packet - 1) * EDC_BLOCK_SIZE, sizeof before);
		std::memcpy(&after, bytes.data() + packet * EDC_BLOCK_SIZE, sizeof after);
		return before.events_discarded != after.events_discarded;
	}

	const monitor::trace::Description &description_;
	std::vector<std::span<std::byte>> streams_;
	std::vector<std::size_t> next_; // packet, by stream
};

} // namespace live_feed
