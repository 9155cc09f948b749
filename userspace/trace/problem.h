// SPDX-License-Identifier: MIT
// What is wrong with a trace, without keeping the rest of it from being read.
//
// Streams and cursors (stream.h) add problems while they read, each packet's once however often the trace is read;
// tools print them at the end. Owned by Trace, or by each of several threads that read it; used by one thread at a
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event.h"

namespace monitor::trace {

struct Problem {
	std::string stream; // name of the file
	std::uint64_t packet = 0;
	std::uint64_t offset = 0; // in the file
	std::string sentence;
	std::uint32_t stream_index = 0; // in Trace::streams()
	std::string place;              // "packet N"

	// "STREAM, PLACE at byte M: SENTENCE"
	std::string text() const
	{
		return stream + ", " + place + " at byte " + std::to_string(offset) + ": " + sentence;
	}
};

class Problems {
public:
	static constexpr std::size_t max_kept = 1000; // texts

	// Without a place: of the packet, or of the header of a file that has none.
	void add(const StreamInfo &stream, std::uint64_t packet, std::uint64_t offset, std::string sentence,
		 std::string place = {})
	{
		if (!seen_.emplace(stream.index, packet).second || kept_.size() >= max_kept)
			return;
		if (place.empty())
			place = stream.has_packets ? stream.part + (" " + std::to_string(packet)) : "header";
		kept_.push_back({stream.name, packet, offset, std::move(sentence), stream.index, std::move(place)});
	}
	// Those that another reader of the same trace found.
	void take(const Problems &others)
	{
		for (const Problem &other : others.kept_)
			if (!seen_.count({other.stream_index, other.packet}) && kept_.size() < max_kept)
				kept_.push_back(other);
		seen_.insert(others.seen_.begin(), others.seen_.end());
	}

	// The first ones found.
	const std::vector<Problem> &kept() const { return kept_; }
	// How many packets have one.
	std::uint64_t total() const { return seen_.size(); }
	bool empty() const { return seen_.empty(); }

private:
	std::vector<Problem> kept_;
	std::set<std::pair<std::uint32_t, std::uint64_t>> seen_;
};

} // namespace monitor::trace
