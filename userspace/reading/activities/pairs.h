// SPDX-License-Identifier: MIT
// Pairs the events of a definition and measures what lies between: one pass, bounded memory.
//
// Run per partition, merged in the order of the partitions: an end whose start is in an earlier partition waits as a
// *leading* end, a start without an end is *open*. A gap in any stream ends all that is open: nothing is carried across
// a loss. An event without a value of the key is not paired: two unknown threads are not the same thread. Durations in
// ticks.
// Every event is paired, whatever is selected: an activity belongs to where, when and to whom its end does.
// Invariant: at most max_open keys are kept at a time, and max_nesting open activities of each. If there are too many
// keys, those that are not open are dropped. Results depend on where the partitions are cut only if one of these limits
// is reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "definition.h"
#include "open_by_key.h"
#include "reading/events/event.h"
#include "reading/events/event_selection.h"
#include "rows.h"

namespace monitor::activities {

// Which activities are measured: those whose end is selected and matches. Null: all.
struct SelectedEnds {
	const trace::EventSelection *selection = nullptr;
	const filter::Filter *filter = nullptr;

	// `key` identifies the owner of the activity, if it names a thread.
	bool include(const trace::Event &event, const filter::Running &running, const Keys &key) const
	{
		return (!selection || selection->is_all() ||
			selection->includes(event, running.tid, key.thread(event, running))) &&
		       (!filter || filter->matches(event, running));
	}
};

class Pairs {
public:
	static constexpr std::size_t max_open = 200'000, max_nesting = 64;

	// The arguments must outlive this.
	explicit Pairs(const Definition &definition, SelectedEnds selected = {})
	    : definition_(&definition), selected_(selected), keys_(max_open)
	{
	}

	void event(const trace::Event &event, const filter::Running &running);
	// A loss until that time: activities that start meanwhile may end unseen, whatever their key.
	void gap(std::uint64_t until = 0);
	// `later`: the partition that follows in time.
	void merge(const Pairs &later);
	// Drops results and keeps what is open: only what follows is measured.
	void forget_finished();

	const Definition &definition() const { return *definition_; }
	Rows &rows() { return rows_; }
	const Rows &rows() const { return rows_; }

	// Selected starts and ends that were not measured, by reason.
	struct Unpaired {
		std::uint64_t ends = 0;      // without a start
		std::uint64_t late = 0;      // ended after the limit
		std::uint64_t open = 0;      // at the end of the trace
		std::uint64_t restarted = 0; // a second start came before an end
		std::uint64_t cut = 0;       // not measured because of a loss
		std::uint64_t too_many = 0;  // more were open than fit
		std::uint64_t keyless = 0;   // starts and ends without a value of the key
	};
	Unpaired unpaired() const;

private:
	struct Boundary { // a start or an end
		std::uint64_t time;
		std::vector<Cell> cells;
		std::string row; // its part of the row's key
		bool is_selected = true;
	};
	struct OfKey {
		std::vector<Boundary> leading, open;
		bool began = false; // a start was seen, and no loss since then

		bool is_idle() const { return open.empty() && leading.empty(); }
	};

	void start(const trace::Event &event, const filter::Running &running);
	void end(const trace::Event &event, const filter::Running &running);
	void match_leading(const OfKey &theirs, OfKey *mine);
	bool set_key(const Keys &keys, const trace::Event &event, const filter::Running &running, bool is_selected);
	void open(OfKey &state, Boundary start);
	bool close(OfKey &state, const Boundary &end);

	const Definition *definition_;
	SelectedEnds selected_;
	Rows rows_;
	OpenByKey<OfKey> keys_;
	bool had_gap_ = false;
	std::uint64_t lossy_until_ = 0;
	Unpaired unpaired_;
	std::string key_;
};

} // namespace monitor::activities
