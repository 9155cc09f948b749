// SPDX-License-Identifier: MIT
// Feeds all of a trace to a Machine, for callers that look at each event, too, or tell how far they are. Others call
// fold(trace, machine) of machine.h.
#pragma once

#include <cstdint>

#include "machine.h"
#include "reading/events/gap.h"
#include "reading/events/merge.h"

namespace monitor::analyze {

// Calls after(event) once the machine has the event. Returns what was lost.
template <class After> trace::Losses fold(trace::Trace &trace, Machine &machine, After &&after)
{
	trace::Losses losses;
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    machine.event(event);
		    after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    machine.gap(stream, from, to);
		    losses.add(lost);
	    });
	machine.finish();
	return losses;
}

// Of many events, those at which it is time to tell somebody, or to ask: a few in a second.
class NowAndThen {
public:
	bool is_due() { return ++events_ % between == 0; }

private:
	static constexpr std::uint64_t between = 1 << 18;
	std::uint64_t events_ = 0;
};

} // namespace monitor::analyze
