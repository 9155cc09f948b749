// SPDX-License-Identifier: MIT
// The figures of a window of a fold, and of a recording that ended there, to compare them with. Used by
// test_windows.cpp and tests/record/test_live_fold.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "history.h"
#include "reading/analyze/thread_fold.h"

namespace windows {

using namespace monitor;
using namespace history;
using analyze::ThreadFold;

inline std::vector<std::uint64_t> figures(const analyze::Usage &usage)
{
	std::vector<std::uint64_t> all(usage.ticks.begin(), usage.ticks.end());
	for (const std::uint64_t figure :
	     {usage.waiting, usage.throttled, usage.blocked, usage.voluntary, usage.involuntary, usage.migrations,
	      usage.syscalls, usage.minor_faults, usage.major_faults})
		all.push_back(figure);
	return all;
}

struct Figures {
	std::map<std::int32_t, std::vector<std::uint64_t>> threads; // by number; all zero: left out
	std::vector<std::vector<std::uint64_t>> cpus;

	bool operator==(const Figures &) const = default;
};

inline Figures figures(const ThreadFold &fold)
{
	Figures all;
	for (const analyze::Thread &thread : fold.threads()) {
		std::vector<std::uint64_t> of = figures(thread.usage);
		if (std::ranges::count(of, 0u) == static_cast<std::ptrdiff_t>(of.size()))
			continue;
		std::vector<std::uint64_t> &sum = all.threads[thread.tid];
		sum.resize(of.size());
		std::ranges::transform(sum, of, sum.begin(), std::plus());
	}
	for (const analyze::Cpu &cpu : fold.cpus()) {
		std::vector<std::uint64_t> of = figures(cpu.usage);
		of.push_back(fold.idle_ticks(cpu));
		of.push_back(cpu.runner_unknown);
		all.cpus.push_back(std::move(of));
	}
	return all;
}

inline analyze::RecordingInfo info_until(std::uint64_t begin, std::uint64_t end)
{
	analyze::RecordingInfo info = make_info(begin, end, true, false);
	info.cost_ns = {{"call_edge", 7}, {"fault_edge", 3}};
	return info;
}

// Those before `time`, to a fold of which the recording ends there.
inline Figures cut_off(trace::Trace &trace, analyze::RecordingInfo info, std::uint64_t from, std::uint64_t time)
{
	info.end.time = time;
	ThreadFold fold(trace, info, {{from, time - 1}, {}, {}});
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    if (event.time < time)
			    fold.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t gap_from, std::uint64_t to, std::uint64_t) {
		    if (gap_from < time)
			    fold.gap(stream, gap_from, to);
	    });
	fold.finish();
	return figures(fold);
}

inline std::vector<std::uint64_t> random_cuts(std::mt19937 &random, std::uint64_t begin, std::uint64_t end)
{
	std::vector<std::uint64_t> cuts;
	for (std::size_t count = 1 + random() % 8; cuts.size() < count;)
		cuts.push_back(begin + 1 + random() % (end - begin + 20));
	std::ranges::sort(cuts);
	cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
	return cuts;
}

} // namespace windows
