// SPDX-License-Identifier: MIT
// A consumer of a running recording's blocks, besides or instead of the disk: `record --states`, `record --statistics`
// and `monitor top`. The drain thread offers it every block, including open ones, and the time up to which all events
// were offered.
//
// Implemented in answers/live/, because the record side cannot decode events; started by Recording, called by drain.cpp
// and Recording, in one thread at a time unless noted.
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

// Parameters of the recording, known when every probe is attached.
struct LiveStart {
	std::string description;          // TSDL of all classes known so far
	std::string recording;            // .monitor/recording.json
	std::uint64_t begin_time = 0;     // of the trace
	bool has_more_classes = false;    // programs may declare some
	std::vector<std::uint32_t> cpus;  // online CPUs; empty: the kernel's events are not recorded
	ControlStream *written = nullptr; // the stream for a StateSink's output
	// For sinks that write files of the trace themselves:
	std::string directory;
	Uuid uuid{};
	std::uint64_t time_shift = 0;             // to be added to times
	std::uint64_t threads_since = 0;          // assumed start of threads with unknown start
	std::uint32_t first_stream = 0;           // number of the sink's first stream
	std::function<std::string()> describe;    // current description; call in the drain thread
	std::function<std::uint64_t()> stacks_ns; // CPU time of stack walks so far; null: no stacks
	std::function<void()> name_cgroups;       // writes current names of cgroups; in one thread, until finish()
	std::map<std::string, std::int64_t> ages; // of existing periods: see PeriodFiles
};

// Results of the sink.
struct LiveEnd {
	std::uint64_t time = 0;          // end of the classified states
	std::uint64_t late = 0;          // events that arrived too late to be processed in order
	std::vector<std::string> doubts; // messages
};

class BlockSink {
public:
	virtual ~BlockSink() = default;

	// Throws Error if the recorded events do not suffice.
	virtual void start(const LiveStart &start) = 0;
	// Announces further classes, in any thread, before their first event is offered.
	virtual void describe(const std::string &description) = 0;

	// Offers a block; a stream's newest one may be partly written, and be offered again. False: out of memory for
	// now, or not started; offer it again.
	virtual bool take(StreamNumber stream, const std::string &name, const std::byte *block) = 0;
	// Reports discarded events after the stream's newest block.
	virtual void lose(StreamNumber stream) = 0;
	// Everything older than `time` was offered. Processes some of it; false: call again.
	virtual bool advance(std::uint64_t time) = 0;

	// Sets the time of the last relevant event, before advance() reaches it.
	virtual void set_window_end(std::uint64_t time) = 0;
	// Everything was offered.
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
