// SPDX-License-Identifier: MIT
// When threads slept in memory reclaim: from a switch away with EDC_SWITCH_MEMSTALL to the next switch to them.
// Reclaim while a thread runs is not known.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::explain {

class Reclaim {
public:
	Reclaim(const trace::Description &description, const analyze::RecordingInfo &info,
		const analyze::ThreadFold &fold);

	void after(const trace::Event &event);
	// How many ticks of this time, which is of one sleep, were in reclaim.
	std::uint64_t within(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) const;
	bool is_recorded() const { return is_recorded_; }

private:
	struct Fields {
		trace::FieldRef flags, prev_pid, next_pid;
	};

	const analyze::ThreadFold &fold_;
	bool is_recorded_;
	std::vector<Fields> fields_; // by class
	std::unordered_map<const analyze::Thread *, std::vector<trace::TimeRange>> sleeps_;
};

} // namespace monitor::explain
