// SPDX-License-Identifier: MIT
// What the rules need of a machine: who used its CPUs, in interrupts or for short lives; and what the hypervisor took.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evidence.h"
#include "reading/analyze/recorded.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::explain {

class MachineReader {
public:
	// All must outlive it. After the last event.
	MachineReader(const analyze::ThreadFold &fold, const analyze::RecordingInfo &info, const trace::Clock &clock)
	    : fold_(fold), info_(info), clock_(clock)
	{
	}

	// `is_wanted`: whose CPU time is in Machine::users.
	Machine read(const analyze::Recorded &recorded,
		     const std::function<bool(const analyze::Thread &)> &is_wanted) const;
	// Of those created in `range`, which is not empty.
	Storm storm(const std::function<bool(const analyze::Thread &)> &is_wanted, trace::TimeRange range,
		    double short_life_ms) const;
	std::vector<std::pair<std::string, double>> throttled(const std::map<std::uint64_t, std::string> &paths) const;
	// Of the CPUs' time.
	double unknown() const;
	unsigned cpus() const; // that were online at some time

private:
	std::vector<Use> users(const std::function<bool(const analyze::Thread &)> &is_wanted) const;
	std::optional<double> steal(double &resolution) const;
	double window() const { return static_cast<double>(fold_.window_end() - fold_.window_begin()); }

	const analyze::ThreadFold &fold_;
	const analyze::RecordingInfo &info_;
	const trace::Clock &clock_;
};

} // namespace monitor::explain
