// SPDX-License-Identifier: MIT
#include "fold_input.h"

#include "base/error.h"

namespace monitor::analyze {

FoldInput input_of(const trace::Trace &trace, const RecordingInfo &info)
{
	if (trace.machines().size() > 1)
		throw Error("these are several recordings, or recordings of several machines: what ran when can be "
			    "shown for one at a time");
	FoldInput input{trace.description(),    window_of(trace, info),         {},
			trace.is_generic_ctf(), info.functions.budget.left_out, info.partial};
	for (const auto &stream : trace.streams()) {
		input.streams.push_back({stream->info(), stream->end_time()});
		if (stream->is_foreign() && !stream->is_missing()) // a missing stream has no events
			input.streams.back().info.cpu = EDC_CPU_UNKNOWN;
	}
	return input;
}

} // namespace monitor::analyze
