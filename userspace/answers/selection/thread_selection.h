// SPDX-License-Identifier: MIT
// Which threads of a trace are selected: the meaning of --pid, --tid, --comm, --cgroup and --command.
// A thread is selected if it satisfies every condition; a condition lists alternatives. Names and processes are those
// at the end of the trace, as in the rows of a report, so the whole trace is read before the selected part. A cgroup
// selects a thread only while it is in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/events/event_selection.h"
#include "reading/events/trace.h"

namespace monitor::selection {

struct ThreadSelection {
	std::vector<std::int32_t> pids, tids; // processes and threads
	std::vector<std::string> comms;       // names of threads, or FDL patterns
	std::vector<std::string> cgroups;     // paths or ids; includes descendants
	bool command = false;                 // the recorded command's process tree

	bool is_all() const { return pids.empty() && tids.empty() && comms.empty() && cgroups.empty() && !command; }
};

// The properties of a thread that conditions use.
struct ThreadProperties {
	std::int32_t tid = 0, process = 0;
	std::string_view name;
	bool in_command = false;
	std::uint64_t cgroup = 0; // 0: unknown
};
// For a recording: whether a thread, with its properties at the end, is selected. Throws Error. The selection must
// outlive it.
std::function<bool(const ThreadProperties &)>
condition_of(const trace::Trace &trace, const analyze::RecordingInfo &info, const ThreadSelection &selection);

// Paths of the cgroups of a recording, by id.
std::map<std::uint64_t, std::string> cgroup_paths(const std::string &directory);

// By index in the threads() of a ThreadFold of this trace (Scope::threads): those ever selected. Throws Error.
std::vector<bool> threads_of_fold(const trace::Trace &trace, const analyze::RecordingInfo &info,
				  const ThreadSelection &selection);
// For Scope::cgroups.
std::optional<std::set<std::uint64_t>> cgroups_of_fold(const trace::Trace &trace, const ThreadSelection &selection);

// The same threads by number and time. For traces of another tracer, or that no ThreadFold can fold, conditions that
// need a recording throw Error.
trace::SelectedThreads threads_of_events(const trace::Trace &trace, const analyze::RecordingInfo &info,
					 const ThreadSelection &selection);

} // namespace monitor::selection
