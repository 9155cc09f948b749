// SPDX-License-Identifier: MIT
// Applies one rule: tracks what is open per key, and what was violated.
// run() (run.h) passes it every event that has a role in its rule, in time order, and every loss. One thread.
// Invariants: at most max_keys keys and Rule::max_nesting starts of each are kept; nothing is carried across a loss; an
// event whose key is unknown is not judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/within.h"
#include "reading/activities/open_by_key.h"
#include "reading/events/event.h"
#include "rule.h"

namespace monitor::rules {

// Identifies an event, to find it when the trace is read a second time.
struct Position {
	std::uint64_t time = 0;
	const std::byte *packet = nullptr;
	std::uint64_t at_bits = 0; // from the start of the packet

	static Position of(const trace::Event &event);
	friend bool operator==(const Position &, const Position &) = default;
	friend bool operator<(const Position &a, const Position &b)
	{
		return a.time != b.time       ? a.time < b.time
		       : a.packet != b.packet ? a.packet < b.packet
					      : a.at_bits < b.at_bits;
	}
};

struct Violation {
	std::string what;             // message
	std::vector<Position> events; // in time order
};

struct Tally {
	std::uint64_t judged = 0;    // cases to which the rule applied
	std::uint64_t violated = 0;  // part of these
	std::uint64_t open = 0;      // starts without an end at the trace's end
	std::uint64_t cut = 0;       // by a loss, or dropped
	std::uint64_t unknown = 0;   // depends on what preceded the start or a loss, or a field is missing
	std::uint64_t too_many = 0;  // beyond the limit of open ones
	std::uint64_t undecided = 0; // results that depended on unknown derived values
};

class Judge {
public:
	static constexpr std::size_t max_keys = 200'000;

	// The rule must outlive this. The first `max_kept` violations are kept.
	Judge(const Rule &rule, const trace::Clock &clock, std::size_t max_kept, std::size_t keys = max_keys)
	    : rule_(rule), clock_(clock), within_(ticks_within(rule.within_ns, clock.frequency_hz)),
	      max_kept_(max_kept), max_keys_(keys), keys_(keys)
	{
	}

	void event(const trace::Event &event, const filter::Running &running);
	// The running thread appeared without a switch: its earlier activity was not seen.
	void on_unseen_switch(const trace::Event &event, const filter::Running &running);
	// A loss from `time` until `until`: events in between are not judged together with others.
	void gap(std::uint64_t time, std::uint64_t until);
	// `time`: of the last event.
	void finish(std::uint64_t time) { close_all(time, true); }

	// Whether an event matched `begin:`.
	bool has_begun() const { return has_begun_; }
	const Tally &tally() const { return tally_; }
	const std::vector<Violation> &violations() const { return violations_; }

private:
	struct Open {
		Position at;
		std::vector<Value> values; // for relations
	};
	struct KeyState {
		std::vector<Open> open;
		bool known = false; // nothing else is open; unknown if this is dropped

		bool is_idle() const { return open.empty(); }
	};

	void add_members(const trace::Event &event, const filter::Running &running);
	void remove_members(const trace::Event &event, const filter::Running &running);
	void judge(const trace::Event &event, const filter::Running &running);
	bool is_in_set(const trace::Event &event, const filter::Running &running) const;
	bool has_role(Role role, const trace::Event &event, const filter::Running &running);
	bool find_key(Role role, const trace::Event &event, const filter::Running &running);
	KeyState *find() { return keys_.find(key_); }
	KeyState *find_or_make() { return keys_.find_or_make(key_, tally_.too_many); }
	void judge_single(const trace::Event &event, const filter::Running &running);
	void on_first_event(const trace::Event &event, const filter::Running &running);
	void on_second_event(const trace::Event &event, const filter::Running &running);
	void on_third_event(const trace::Event &event);
	void on_forget();
	void next(KeyState &state, const trace::Event &event, const filter::Running &running);
	void start(KeyState &state, const trace::Event &event, const filter::Running &running);
	void end(const trace::Event &event, const filter::Running &running);
	void check_after(const trace::Event &event, const filter::Running &running);
	void check_absence(const trace::Event &event);
	void compare(const Open &earlier, const trace::Event &event, const filter::Running &running);
	void close_all(std::uint64_t time, bool is_end);
	Open make_open(const trace::Event &event, const filter::Running &running) const;
	bool is_known(const KeyState *state) const
	{
		return (state && state->known) || (rule_.knows_begin && !had_gap_);
	}
	bool is_late(std::uint64_t from, std::uint64_t to) const;
	std::string late_text(std::uint64_t from, std::uint64_t to) const;
	void violate(std::string what, std::vector<Position> events);

	const Rule &rule_;
	const trace::Clock &clock_;
	std::uint64_t within_; // ticks
	std::size_t max_kept_, max_keys_;
	activities::OpenByKey<KeyState> keys_;
	std::string key_;                                         // of the current event
	std::set<std::pair<std::uint32_t, filter::Integer>> set_; // machine and value
	bool has_begun_ = false;
	bool had_gap_ = false;
	std::uint64_t lossy_until_ = 0;
	Tally tally_;
	std::vector<Violation> violations_;
};

} // namespace monitor::rules
