// SPDX-License-Identifier: MIT
// The priorities of threads over time, as wake-ups, creations and the list of threads name them. A smaller number is a
// higher priority: below 100 real-time ones, above them those of nice values.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reading/analyze/thread_fold.h"

namespace monitor::explain {

class Priorities {
public:
	Priorities(const trace::Description &description, const analyze::ThreadFold &fold);

	void after(const trace::Event &event);
	std::optional<std::int32_t> at(const analyze::Thread &thread, std::uint64_t time) const;
	bool are_recorded() const { return are_recorded_; }
	// No two of them are known to differ.
	bool are_equal() const { return lowest_ >= highest_; }

private:
	struct Fields {
		trace::FieldRef pid, priority;
	};
	struct Since {
		std::uint64_t time;
		std::int32_t priority;
	};

	const analyze::ThreadFold &fold_;
	std::vector<Fields> fields_; // by class
	std::unordered_map<const analyze::Thread *, std::vector<Since>> by_thread_;
	bool are_recorded_ = false;
	std::int32_t lowest_ = INT32_MAX, highest_ = INT32_MIN;
};

} // namespace monitor::explain
