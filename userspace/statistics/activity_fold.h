// SPDX-License-Identifier: MIT
// Pairs and measures activities: one pass, bounded memory.
//
// Run per partition, merged in the order of the partitions: an end whose start is in an earlier partition waits as a
// *leading* end, a start without an end is *open*. A gap in any stream ends all that is open: nothing is carried across
// a loss. An event without a value of the key is not paired: two unknown threads are not the same thread. Durations in
// ticks.
// Invariant: at most max_open keys are kept at a time, and max_nesting open activities of each. If there are too many
// keys, those that are not open are dropped. Results depend on where the partitions are cut only if one of these limits
// is reached.
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
	static constexpr std::size_t max_open = 200'000, max_nesting = 64;

	// The activity must outlive this.
	explicit ActivityFold(const Activity &activity) : activity_(&activity) {}

	void event(const trace::Event &event, const filter::Running &running);
	void gap();
	// `later`: the part that follows in time.
	void merge(const ActivityFold &later);

	const Activity &activity() const { return *activity_; }
	Rows &rows() { return rows_; }
	const Rows &rows() const { return rows_; }

	// What was not measured, and why.
	struct Unpaired {
		std::uint64_t ends = 0;      // without a start
		std::uint64_t open = 0;      // at the end of the trace
		std::uint64_t restarted = 0; // a start followed instead of an end
		std::uint64_t cut = 0;       // not measured because of a loss
		std::uint64_t too_many = 0;  // more were open than fit
		std::uint64_t keyless = 0;   // starts and ends without a value of the key
	};
	Unpaired unpaired() const;

private:
	struct Open {
		std::uint64_t time;
		std::string row; // the start's part of the row's key
		std::vector<Cell> cells;
	};
	struct Leading {
		std::uint64_t time;
		std::string row; // the end's part of it
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
	bool forgot_ = false;   // keys that began were dropped
	std::size_t waits_ = 0; // new keys to discard before looking for unused keys again
	Unpaired unpaired_;
	std::string key_;
};

} // namespace monitor::statistics
