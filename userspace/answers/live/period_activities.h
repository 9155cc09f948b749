// SPDX-License-Identifier: MIT
// Activities of programs, and functions, that ended in a period of statistics (record --statistics), by process,
// activity and caller (the activity that directly encloses it). Filled by PeriodSums, which knows which threads have
// ended; written by period_records.cpp.
// Bounded: at most max_sums, and beyond these max_others without process and caller, the last of them for any activity,
// so that totals stay true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/histogram.h"
#include "period_key.h"
#include "reading/activities/tracker.h"

namespace monitor::live {

class PeriodActivities {
public:
	static constexpr std::size_t max_sums = 8192, max_others = 1024;

	struct ActivityKey {
		PeriodKey owner; // a process's leader
		// EDC_ACTIVITY_*, EDC_NO_ACTIVITY
		std::uint32_t activity = 0, caller = 0;

		bool operator==(const ActivityKey &) const = default;
	};
	struct Sums {
		std::uint64_t count = 0, left = 0, total = 0, exclusive = 0, longest = 0; // ticks
		activities::Span inclusive;
		CoarseHistogram lengths; // only those whose ends are certain
	};
	struct KeyHash {
		std::size_t operator()(const ActivityKey &key) const;
	};
	using AllSums = std::unordered_map<ActivityKey, Sums, KeyHash>;

	explicit PeriodActivities(const activities::Tracker &tracker) : tracker_(tracker) {}

	void add(PeriodKey owner, const activities::Finished &activity);
	// `current`: the key that replaces an owner's, or the same.
	void replace_owners(const std::function<PeriodKey(PeriodKey)> &current);
	void clear();

	const AllSums &sums() const { return sums_; }
	// The number that is open at the end of the period.
	std::size_t open() const { return tracker_.open(); }
	// Starts and ends in the period without their other half.
	activities::Unpaired unpaired() const;

private:
	Sums &sums_of(const ActivityKey &key);

	const activities::Tracker &tracker_;
	activities::Unpaired before_; // as at the start of the period
	AllSums sums_;
};

} // namespace monitor::live
