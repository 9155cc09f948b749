// SPDX-License-Identifier: MIT
// Activities paired and measured: one pass, bounded memory.
//
// Run per slice, merged in the order of the slices: an end whose start is in an earlier slice waits as a *leading* end,
// a start without an end is *open*. A gap in any stream ends all that is open: nothing is carried across a loss.
// What has no value of the key is not paired: two unknown threads are not the same one.
// Durations in ticks. Invariant: at most most_open keys are kept at a time, and most_nested open activities of one.
// Keys that are not open are forgotten if there are too many. Only when one of these limits is met do results depend on
// where the slices are cut.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity.h"
#include "rows.h"
#include "trace/event.h"

namespace monitor::statistics {

class ActivityFold {
public:
	static constexpr std::size_t most_open = 200'000, most_nested = 64;

	// The activity must outlive this.
	explicit ActivityFold(const Activity &activity) : activity_(&activity) {}

	void event(const trace::Event &event, const filter::Running &running);
	void gap();
	// What comes behind this in time.
	void merge(const ActivityFold &later);

	const Activity &activity() const { return *activity_; }
	Rows &rows() { return rows_; }
	const Rows &rows() const { return rows_; }

	// What was not measured, and why.
	struct Unpaired {
		std::uint64_t ends = 0;      // without a start
		std::uint64_t open = 0;      // at the end of the trace
		std::uint64_t restarted = 0; // a start followed instead of an end
		std::uint64_t cut = 0;       // by a loss
		std::uint64_t too_many = 0;  // more were open than this keeps
		std::uint64_t keyless = 0;   // starts and ends that have no value of the key
	};
	Unpaired unpaired() const;

private:
	struct Open {
		std::uint64_t time;
		std::string row; // the start's part of the key
		std::vector<Cell> cells;
	};
	struct Leading {
		std::uint64_t time;
		std::string row; // the end's part
		std::vector<Cell> cells;
	};
	struct OfKey {
		std::vector<Leading> leading;
		std::vector<Open> open;
		bool began = false; // a start was seen, and no loss since
	};

	void start(const trace::Event &event, const filter::Running &running);
	void end(const trace::Event &event, const filter::Running &running);
	OfKey *find(const std::string &key);
	bool make_room();
	void take_leading(const OfKey &theirs, OfKey *mine);
	void open(OfKey &of_key, Open opened);
	void complete(const Open &opened, const Leading &end);
	bool close(OfKey &of_key, const Leading &end);

	const Activity *activity_;
	Rows rows_;
	std::unordered_map<std::string, OfKey> keys_;
	bool had_gap_ = false;
	bool forgot_ = false;   // keys that began are not known any more
	std::size_t waits_ = 0; // refusals before room is looked for again
	Unpaired unpaired_;
	std::string key_;
};

} // namespace monitor::statistics
