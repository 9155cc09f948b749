// SPDX-License-Identifier: MIT
// Who gets the blocks of a running recording besides the disk, or in its place: `record --states`, `record
// --statistics` and `monitor top`. The drain thread offers it every block, also those that are still written, and says
// up to when it has offered all that happened.
//
// Made by answers/live/, because the record side cannot read events; started by Recording, called by drain.cpp and
// Recording, in one thread at a time unless said otherwise. What it writes goes back into the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "blocks.h"
#include "control_stream.h"

namespace monitor::record {

// What is recorded, known when every probe is attached.
struct LiveStart {
	std::string description;          // TSDL of all classes known so far
	std::string recording;            // .monitor/recording.json
	std::uint64_t begin_time = 0;     // of the trace
	bool has_more_classes = false;    // programs may declare some
	std::vector<std::uint32_t> cpus;  // that are online; none: the kernel's events are not recorded
	ControlStream *written = nullptr; // for what a StateSink writes
	// For what it writes itself, in the trace's format:
	std::string directory;
	Uuid uuid{};
	std::uint64_t time_shift = 0;             // to be added to times
	std::uint64_t threads_since = 0;          // when those threads began of which it is not known
	std::uint32_t first_stream = 0;           // its number
	std::function<std::string()> describe;    // as it is now; in the thread that drains the rings
	std::function<std::uint64_t()> stacks_ns; // what stacks took in the probes so far; null: none are taken
	std::function<void()> name_cgroups; // those that there are now, for readers; in one thread, until finish()
	std::map<std::string, std::int64_t> ages; // of the periods that are there: see PeriodFiles
};

// At the end.
struct LiveEnd {
	std::uint64_t time = 0;          // until which states were followed
	std::uint64_t late = 0;          // events that came too late to be taken in the order of time
	std::vector<std::string> doubts; // sentences
};

class BlockSink {
public:
	virtual ~BlockSink() = default;

	// Throws Error: what is recorded does not suffice.
	virtual void start(const LiveStart &start) = 0;
	// There are further classes. In any thread, before an event of them is offered.
	virtual void describe(const std::string &description) = 0;

	// A block: as far as it is written, if it is the stream's newest one; it may be offered again, also unchanged.
	// False: there is no memory for it now, or start() was not called yet. Then it is to be offered again.
	virtual bool take(StreamNumber stream, const std::string &name, const std::byte *block) = 0;
	// Events were discarded after the stream's newest block.
	virtual void lose(StreamNumber stream) = 0;
	// All that is older than `time` has been offered. Works for a while; false: there is more to do.
	virtual bool advance(std::uint64_t time) = 0;

	// When the last event of interest was. Before anything that is not older is said to have been offered.
	virtual void set_window_end(std::uint64_t time) = 0;
	// Everything has been offered.
	virtual LiveEnd finish() = 0;
};

// Classifies states, and writes them (state_streams.h).
class StateSink : public BlockSink {
public:
	// The names of the states, by number, for the description.
	virtual const std::vector<std::string> &state_names() const = 0;
	// The name of the tree's file, and its text.
	virtual const std::string &tree_name() const = 0;
	virtual const std::string &tree_text() const = 0;
};

} // namespace monitor::record
