// SPDX-License-Identifier: MIT
// The lanes of a part of a picture at a level that the picture does not keep: the trace is read again, from the packets
// at the start of the part, and one kept bin earlier. Packets name the running thread. The state of others is unknown
// until their first token there: a wait that began earlier is taken from the picture, which keeps such long ones
// unchanged. Next in the flow: tile.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "timeline.h"

namespace monitor::view {

// Whether the answer is obsolete; called from time to time.
using IsOver = std::function<bool()>;

// Whether memory was insufficient to read all of it (base/memory_bound.h).
bool has_no_memory(const trace::Problems &problems);

class Window {
public:
	// Level and bins as in tile.h. `of_threads`: false: only lanes of CPUs. Throws TooMuch: it needs more than
	// `max_bytes`, or than the memory left; Error: it is obsolete.
	Window(const trace::Trace &trace, const analyze::RecordingInfo &info, const Timeline &whole, unsigned level,
	       std::uint64_t from_bin, std::uint64_t to_bin, std::size_t max_bytes, bool of_threads,
	       const IsOver &is_over);

	// By the CPU's index in the picture; null: empty.
	const Lane *cpu(std::size_t index) const;
	// Where a thread of the picture ran, perhaps only for its part in a group.
	std::vector<Slice> runs(std::uint32_t index, const Group *group) const;
	// A thread's waits; the first may have begun earlier.
	std::vector<Slice> waits(std::size_t index) const;
	// The picture's key for a key in a CPU's lane here.
	std::uint32_t key_of(std::uint32_t key) const
	{
		return key < picture_indices_.size() ? picture_indices_[key] : key;
	}

private:
	const ThreadLanes *thread(std::size_t index) const;
	bool is_too_much() const { return timeline_.first_level() > level_; }

	const Timeline &whole_;
	unsigned level_;
	std::uint64_t from_bin_, to_bin_;
	Timeline timeline_;
	std::vector<std::uint32_t> picture_indices_;                     // by index here
	std::unordered_map<std::uint32_t, std::uint32_t> local_indices_; // the inverse
};

} // namespace monitor::view
