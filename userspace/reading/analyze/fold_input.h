// SPDX-License-Identifier: MIT
// What a fold must know before the first event: of a trace whose files are mapped, or of blocks that are still in
// memory. ThreadFold and Tracker (activities/tracker.h) are made from it; then they are fed events, gaps and further
// streams.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/events/event.h"
#include "reading/events/merge.h"
#include "recording_info.h"

namespace monitor::analyze {

struct FoldInput {
	struct Stream {
		trace::StreamInfo info;
		std::uint64_t end_time = 0; // of its last packet; a killed recording lacks what follows
	};

	const trace::Description &description;
	trace::TimeRange window;     // while all probes were attached; of a running recording, up to the largest time
	std::vector<Stream> streams; // by index
	bool is_generic_ctf = false; // of another tracer
	std::vector<FunctionLeftOut> functions_left_out;
	std::set<std::string> partial; // RecordingInfo::partial
	bool is_running = false;       // the recording is running: the clock's frequency is not known exactly yet
	bool has_more_classes = false; // programs may declare more of them
};

// Throws Error if the trace is of several machines.
FoldInput input_of(const trace::Trace &trace, const RecordingInfo &info);

} // namespace monitor::analyze
