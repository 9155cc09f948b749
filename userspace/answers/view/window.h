// SPDX-License-Identifier: MIT
// The lanes of a part of a picture at a level that the picture does not keep: the trace is read again, from the packets
// that the part begins in, and one kept bin before. Packets name the running thread. The state of others is unknown
// until their first token there: a wait that began before that is taken from the picture, which has such long ones as
// they are. Called by picture.cpp; next in the flow: tile.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "timeline.h"

namespace monitor::view {

// Whether what is being read is no longer wanted: asked now and then.
using IsOver = std::function<bool()>;

// Whether there was not enough memory to read all of it (base/memory_bound.h).
bool has_no_memory(const trace::Problems &problems);

class Window {
public:
	// Level and bins as in tile.h. `of_threads`: else there are only lanes of CPUs. Throws TooMuch: it needs more
	// than `max_bytes`, or than the memory that is left; Error: it is no longer wanted.
	Window(const trace::Trace &trace, const analyze::RecordingInfo &info, const Timeline &whole, unsigned level,
	       std::uint64_t from_bin, std::uint64_t to_bin, std::size_t max_bytes, bool of_threads,
	       const IsOver &is_over);

	// Of a CPU by its place in the picture; null: nothing is in it.
	const Lane *cpu(std::size_t place) const;
	// Where a thread of the picture ran; of a group as far as it is of it.
	std::vector<Slice> runs(std::uint32_t place, const Group *group) const;
	// A thread's waits, the first of which may have begun before.
	std::vector<Slice> waits(std::size_t place) const;
	// Of a key of a CPU's lane here the one of the picture.
	std::uint32_t key_of(std::uint32_t key) const { return key < places_.size() ? places_[key] : key; }

private:
	const ThreadLanes *thread(std::size_t place) const;
	bool is_too_much() const { return timeline_.first_level() > level_; }

	const Timeline &whole_;
	unsigned level_;
	std::uint64_t from_bin_, to_bin_;
	Timeline timeline_;
	std::vector<std::uint32_t> places_;                      // in the picture, by place here
	std::unordered_map<std::uint32_t, std::uint32_t> there_; // the other way round
};

} // namespace monitor::view
