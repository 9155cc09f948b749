// SPDX-License-Identifier: MIT
// Feeds all of a trace to a ThreadFold, for callers that look at each event, too, or report their progress. Others call
// feed(trace, fold) of thread_fold.h.
#pragma once

#include <cstdint>

#include "reading/events/gap.h"
#include "reading/events/merge.h"
#include "thread_fold.h"

namespace monitor::analyze {

// Calls after(event) once the fold has processed the event. Returns what was lost.
template <class After> trace::Losses feed(trace::Trace &trace, ThreadFold &fold, After &&after)
{
	trace::Losses losses;
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    fold.event(event);
		    after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    fold.gap(stream, from, to);
		    losses.add(lost);
	    });
	fold.finish();
	return losses;
}

// True for a few events per second: when to report progress, or to ask whether to stop.
class PeriodicCheck {
public:
	bool is_due() { return ++events_ % interval == 0; }

private:
	static constexpr std::uint64_t interval = 1 << 18;
	std::uint64_t events_ = 0;
};

} // namespace monitor::analyze
