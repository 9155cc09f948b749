// SPDX-License-Identifier: MIT
#include "fired.h"

#include "answers/trigger/rehearsal.h"
#include "reading/events/merge.h"

namespace monitor::explain {

// The last firing of the trigger that the snapshot says it is for.
std::optional<FiredFor> fired_for(const trace::Trace &trace, const analyze::RecordingInfo &info)
{
	if (!info.flight || info.triggers.empty())
		return std::nullopt;
	trigger::RecordedFirings recorded(trace);
	trace::Problems ignored; // they are those of the next reading
	trace::merge(
	    trace, ignored, {}, [&](const trace::Event &event) { recorded.event(event); },
	    [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	for (auto fired = recorded.firings().rbegin(); fired != recorded.firings().rend(); ++fired) {
		const std::string name = recorded.name(fired->trigger);
		if (info.flight->why != "the trigger " + name || fired->tid <= 0)
			continue;
		const bool has_begun = fired->began > trace.begin_time() && fired->began < fired->time;
		return FiredFor{
		    name, static_cast<std::int32_t>(fired->tid), {has_begun ? fired->began : 0, fired->time}};
	}
	return std::nullopt;
}

} // namespace monitor::explain
