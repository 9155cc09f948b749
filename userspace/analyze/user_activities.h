// SPDX-License-Identifier: MIT
// UserActivityFold: the activities that programs mark. A pair of user event classes NAME_begin and NAME_end is an
// activity; the open activities of each thread form a stack, and closed ones are summed by process, thread or argument,
// with what the scheduler's tokens say about the thread in that time. Fed by Machine as an Observer, read by
// report/activities_table.cpp.
//
// Nothing is guessed: a start or an end without a partner is only counted. Classes and events are untrusted: depth,
// open activities and groups are bounded.
// Invariant: a frame is on the stack of the thread that started it; the parts of a Span never exceed its ticks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "counter_fold.h"
#include "histogram.h"
#include "machine.h"

namespace monitor::analyze {

enum class UserActivityBy : std::uint8_t { process, thread, argument };

// An interval of one thread, or a sum of intervals; what is in none of the three parts is unknown.
struct Span {
	std::uint64_t ticks = 0, cpu = 0, waiting = 0, blocked = 0;

	std::uint64_t unknown() const { return ticks - cpu - waiting - blocked; }
	Span &operator+=(const Span &other);
};

struct UserActivityRow {
	std::string activity;
	std::string name;         // of the process or thread; for an argument: its text, unless it is a plain number
	std::uint64_t number = 0; // pid, tid or argument
	bool in_tree = false;     // of the recorded command
	std::uint64_t count = 0;
	Span total;                                        // of those not inside another one of the same row
	std::uint64_t mean = 0, p50 = 0, p99 = 0, max = 0; // of all
	std::uint64_t exclusive = 0;                       // without the activities inside
	// Counted between the readings made inside `total`, and the reading before; or, for the first set, between its
	// boundaries, if the programs reported their counters at both.
	CounterSums counted;
	bool at_boundaries = false;
};

// A pair of events, passed on when it ends. References are valid during the call.
struct UserActivity {
	const std::string &activity;
	const Thread &thread;
	std::uint64_t begin = 0, end = 0;
	const Span &span;
	const std::string &argument; // of its start, as text; "" if it has none
};

// Events without a partner.
struct Unpaired {
	std::uint64_t begins = 0, ends = 0;
};

class UserActivityFold : public Observer {
public:
	static constexpr std::size_t deepest = 256;       // open activities of a thread
	static constexpr std::size_t max_open = 1u << 20; // of all threads
	static constexpr std::size_t max_groups = 1u << 16;

	// Throws Error if the trace has no activities.
	// `counters`: null, or fed before this by the same Machine.
	UserActivityFold(UserActivityBy by, const trace::Trace &trace, const Machine &machine,
			 const CounterFold *counters = nullptr);

	void user_event(const Thread &thread, const trace::Event &event) override;
	void user_gap(const trace::StreamInfo &stream, std::uint32_t process) override;
	// Called for every pair, including those in no row.
	void on_closed(std::function<void(const UserActivity &)> tell) { closed_ = std::move(tell); }
	// After the last event: what is open has no end.
	void finish() { forget_all(); }

	UserActivityBy by() const { return by_; }
	const Unpaired &unpaired() const { return unpaired_; }
	// Pairs that are in no row because there were too many groups.
	std::uint64_t left_out() const { return left_out_; }
	// By descending total.
	std::vector<UserActivityRow> rows() const;

private:
	// What an event class means.
	struct Role {
		std::uint32_t activity = none;
		bool begins = false;
		trace::FieldRef argument;
		trace::FieldKind kind = trace::FieldKind::unsigned_integer;
		std::uint8_t base = 10;
	};
	static constexpr std::uint32_t none = ~0u;

	// The second part: address of a leader or thread, an argument, or an odd number for a process without a name.
	using Key = std::array<std::uint64_t, 2>;
	struct KeyHash {
		std::size_t operator()(const Key &key) const;
	};
	struct Group {
		const Thread *thread = nullptr; // the first one seen in it
		bool in_tree = false;
		std::string argument; // its text, unless it is a plain number
		std::uint64_t count = 0, sum = 0, max = 0, exclusive = 0;
		Span total;
		CounterSums counted;
		std::vector<std::uint64_t> counted_at_boundaries; // by counter of the first set
		std::uint64_t cpu_at_boundaries = 0;              // CPU time of the activities that these belong to
		Histogram histogram;
	};
	struct Frame {
		std::uint32_t activity = 0;
		Group *group = nullptr;   // null: there were too many groups
		Span at_begin;            // ticks: the time; the others: what the thread had used
		std::uint64_t inside = 0; // ticks of the activities closed directly inside
		CounterSums counted_at_begin;
		std::vector<std::uint64_t> boundary; // the counters at its start; empty: unknown
		std::string argument;                // only if there is a closed_
		Span pending; // of the same row, inside it; added to the row's total if this one never ends
	};
	struct Stack {
		std::uint32_t owner = none; // of the streams that its events are in: a process, or 0 for many
		bool listed = false;        // in open_[owner]
		std::uint64_t too_deep = 0;
		std::vector<Frame> frames;
		std::vector<std::uint64_t> boundary; // the counters that the thread reported ahead of its next event
	};

	void find_activities(const trace::Description &description);
	static std::string argument_text(const Role &role, const trace::Event &event);
	Key key_of(const Role &role, const Thread &thread, const trace::Event &event) const;
	Group *group_of(const Role &role, const Thread &thread, const trace::Event &event);
	std::uint32_t owner_of(const trace::StreamInfo &stream, std::uint32_t process) const;
	Stack &stack_of(const Thread &thread, std::uint32_t owner);
	void begin(const Role &role, Stack &stack, const Thread &thread, const trace::Event &event);
	void end(const Role &role, Stack &stack, const Thread &thread, std::uint64_t time);
	void find_boundaries(const trace::Description &description);
	void report_boundary(Stack &stack, const trace::Event &event) const;
	void count(Stack &stack, const Thread &thread, const Span &span);
	void count_at_boundaries(const Frame &frame, const std::vector<std::uint64_t> &boundary,
				 const Span &span) const;
	void use_boundaries(const Group &group, UserActivityRow &row) const;
	void close(Stack &stack, const Span &span);
	void add_total(Stack &stack, Group &group, const Span &span);
	void forget_top(Stack &stack);
	void forget(Stack &stack);
	void forget_owner(std::uint32_t owner);
	void forget_all();
	UserActivityRow row_of(const Key &key, const Group &group) const;

	UserActivityBy by_;
	const Machine &machine_;
	const CounterFold *counters_;
	std::vector<std::string> activities_;
	std::vector<Role> roles_;          // by class index
	std::uint32_t boundary_id_ = none; // of the class by which threads report their counters
	std::vector<trace::FieldRef> boundary_fields_;
	std::unordered_map<Key, Group, KeyHash> groups_;
	std::unordered_map<const Thread *, Stack> stacks_;
	std::unordered_map<std::uint32_t, std::vector<Stack *>> open_; // by owner: every stack that is not empty
	std::vector<bool> merged_;                                     // by stream: of many processes
	std::vector<bool> in_gap_;                                     // by stream
	std::function<void(const UserActivity &)> closed_;
	std::size_t frames_ = 0; // of all stacks
	Unpaired unpaired_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::analyze
