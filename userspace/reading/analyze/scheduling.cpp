// SPDX-License-Identifier: MIT
#include "scheduling.h"

#include "base/error.h"
#include "event_kinds.h"

namespace monitor::analyze {
namespace {

constexpr std::uint64_t max_ticks = std::uint64_t(1) << 56, max_time = std::uint64_t(1) << 62; // untrusted

[[noreturn]] void throw_wrong_ends(const std::string &name)
{
	throw Error("the start and the end of {} cannot be those of its events: is .monitor/recording.json damaged?",
		    name);
}

} // namespace

void expect_scheduling(const trace::Trace &trace, const RecordingInfo &info, const std::string &name)
{
	if (info.has_only_states() || !info.has_tokens)
		throw Error(name + " has no events (--no-tokens): monitor info says what it has");
	if (info.card == "user")
		throw Error(name + " has only programs' own events (--user-only), which do not show who used the CPUs: "
				   "use `monitor report DIR activities`, or monitor list");
	if (trace.is_empty())
		throw Error(name + " is empty: nothing was recorded");
	if (trace.machines().size() > 1)
		throw Error(name + " is of several machines: name the recording of one");
	if (!EventKinds(trace.description()).has(EventMeaning::sched_switch))
		throw Error(name + " has no sched_switch events of a kernel, so it does not show who used the CPUs; "
				   "monitor info counts its events, monitor list prints them");
	if (info.partial.contains("sched_switch"))
		throw Error(name + " was recorded with a --filter that left out sched_switch events, so it does not "
				   "show who used the CPUs; monitor list prints those that it kept");
	if (has_contradictory_ends(trace, info))
		throw_wrong_ends(name);
}

void expect_window(std::uint64_t begin, std::uint64_t end)
{
	if (end <= begin || end - begin > max_ticks || end > max_time)
		throw_wrong_ends("this recording");
}

} // namespace monitor::analyze
