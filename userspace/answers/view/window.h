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

class Window {
public:
	// Level and bins as in tile.h. Throws Error: it needs more than `max_bytes`, or is no longer wanted.
	Window(const trace::Trace &trace, const analyze::RecordingInfo &info, const Timeline &whole, unsigned level,
	       std::uint64_t from_bin, std::uint64_t to_bin, std::size_t max_bytes, const IsOver &is_over);

	// Lanes by their places in the picture; null: nothing is in them.
	const Lane *cpu(std::size_t place) const;
	const Lane *runs(std::size_t place) const;
	// A thread's waits, the first of which may have begun before.
	std::vector<Slice> waits(std::size_t place) const;
	// Of a key of a CPU's lane here the one of the picture.
	std::uint32_t key_of(std::uint32_t key) const { return key < places_.size() ? places_[key] : key; }

private:
	const ThreadLanes *thread(std::size_t place) const;

	const Timeline &whole_;
	unsigned level_;
	std::uint64_t from_bin_, to_bin_;
	Timeline timeline_;
	std::vector<std::uint32_t> places_;                      // in the picture, by place here
	std::unordered_map<std::uint32_t, std::uint32_t> there_; // the other way round
};

} // namespace monitor::view
