// SPDX-License-Identifier: MIT
// What is wrong with a trace; the rest of it is still read.
// Cursors (cursor.h) add problems while they read, one per packet however often the trace is read; tools print them at
// the end. Owned by Trace, or by each of several threads that read it; used by one thread at a time.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "event.h"

namespace monitor::trace {

struct Problem {
	std::string stream; // name of the file
	std::uint64_t packet = 0;
	std::uint64_t offset = 0; // in the file
	std::string message;
	std::uint32_t stream_index = 0; // in Trace::streams()
	std::string place;              // "packet N"

	// "STREAM, PLACE at byte M: MESSAGE"
	std::string text() const
	{
		return stream + ", " + place + " at byte " + std::to_string(offset) + ": " + message;
	}
};

class Problems {
public:
	static constexpr std::size_t max_kept = 1000; // number of texts

	// Without `place`: the packet, or the header of a file without packets.
	void add(const StreamInfo &stream, std::uint64_t packet, std::uint64_t offset, std::string message,
		 std::string place = {})
	{
		auto seen = chunk(stream.index, packet)[packet % chunk_packets];
		if (seen)
			return;
		seen = true;
		++total_;
		if (kept_.size() >= max_kept)
			return;
		if (place.empty())
			place = stream.has_packets ? stream.part + (" " + std::to_string(packet)) : "header";
		kept_.push_back({stream.name, packet, offset, std::move(message), stream.index, std::move(place)});
	}
	// Adds the problems of another reader of the same trace.
	void merge(const Problems &others)
	{
		for (const Problem &other : others.kept_)
			if (kept_.size() < max_kept &&
			    !chunk(other.stream_index, other.packet)[other.packet % chunk_packets])
				kept_.push_back(other);
		for (const auto &[key, theirs] : others.seen_) {
			Chunk &mine = seen_[key];
			total_ += (theirs & ~mine).count();
			mine |= theirs;
		}
	}

	// The texts of the first problems.
	const std::vector<Problem> &kept() const { return kept_; }
	// How many packets have a problem.
	std::uint64_t total() const { return total_; }
	bool empty() const { return total_ == 0; }

private:
	// A bit per packet of a stream, in chunks: a whole file may consist of small bad packets.
	static constexpr std::uint64_t chunk_packets = 4096;
	using Chunk = std::bitset<chunk_packets>;

	Chunk &chunk(std::uint32_t stream, std::uint64_t packet) { return seen_[{stream, packet / chunk_packets}]; }

	std::vector<Problem> kept_;
	std::map<std::pair<std::uint32_t, std::uint64_t>, Chunk> seen_;
	std::uint64_t total_ = 0;
};

} // namespace monitor::trace
