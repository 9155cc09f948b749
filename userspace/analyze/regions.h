// SPDX-License-Identifier: MIT
// The region fold: what programs say that they are doing. A pair of user event classes NAME_begin and NAME_end is an
// activity; each thread's open ones are a stack, and what is closed is summed by process, thread or argument, with what
// the scheduler's tokens say of the thread meanwhile. Fed by Machine as an Observer, read by report/regions_table.cpp.
//
// Nothing is guessed: a begin or an end that finds no partner is counted, no more. Classes and events are untrusted:
// depth, open activities and groups are bounded.
// Invariant: a frame lies on the stack of the thread that began it; the parts of a Span never exceed its ticks.
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

enum class RegionBy : std::uint8_t { process, thread, argument };

// An interval of one thread, or a sum of such; what is in none of the three parts is not known.
struct Span {
	std::uint64_t ticks = 0, cpu = 0, waiting = 0, blocked = 0;

	std::uint64_t unknown() const { return ticks - cpu - waiting - blocked; }
	Span &operator+=(const Span &other);
};

struct RegionRow {
	std::string activity;
	std::string name;         // of the process or thread; of an argument: its text if it is no plain number
	std::uint64_t number = 0; // pid, tid or argument
	bool in_tree = false;     // of the recorded command
	std::uint64_t count = 0;
	Span total;                                        // of those that lie in no other of the same row
	std::uint64_t mean = 0, p50 = 0, p99 = 0, max = 0; // of all
	std::uint64_t exclusive = 0;                       // without the activities inside
	// Between the readings of counters that were made inside of `total`, and the one before; or, of the first set,
	// between its borders, where the programs told their counters at both.
	CounterSums counted;
	bool at_borders = false;
};

// A pair of events, when its end comes. References are valid during the call.
struct Region {
	const std::string &activity;
	const Thread &thread;
	std::uint64_t begin = 0, end = 0;
	const Span &span;
	const std::string &argument; // of its begin, as text; "" if it has none
};

// Events without a partner.
struct Unpaired {
	std::uint64_t begins = 0, ends = 0;
};

class RegionFold : public Observer {
public:
	static constexpr std::size_t deepest = 256;        // open activities of a thread
	static constexpr std::size_t most_open = 1u << 20; // of all threads
	static constexpr std::size_t most_groups = 1u << 16;

	// Throws Error if the trace has no activities.
	// `counters`: null, or fed before this by the same Machine.
	RegionFold(RegionBy by, const trace::Trace &trace, const Machine &machine,
		   const CounterFold *counters = nullptr);

	void user_event(const Thread &thread, const trace::Event &event) override;
	void user_gap(const trace::StreamInfo &stream, std::uint32_t process) override;
	// Is told of every pair, of those in no row too.
	void on_closed(std::function<void(const Region &)> tell) { closed_ = std::move(tell); }
	// After the last event: what is open has no end.
	void finish() { forget_all(); }

	RegionBy by() const { return by_; }
	const Unpaired &unpaired() const { return unpaired_; }
	// Pairs that are in no row, for there were too many groups.
	std::uint64_t left_out() const { return left_out_; }
	// By descending total.
	std::vector<RegionRow> rows() const;

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

	// The second part: a leader's or thread's address, an argument, or a nameless process by its odd number.
	using Key = std::array<std::uint64_t, 2>;
	struct KeyHash {
		std::size_t operator()(const Key &key) const;
	};
	struct Group {
		const Thread *thread = nullptr; // the first one that was seen in it
		bool in_tree = false;
		std::string argument; // its text if it is no plain number
		std::uint64_t count = 0, sum = 0, max = 0, exclusive = 0;
		Span total;
		CounterSums counted;
		std::vector<std::uint64_t> counted_at_borders; // by counter of the first set
		std::uint64_t cpu_at_borders = 0;              // CPU time of the activities that these are of
		Histogram histogram;
	};
	struct Frame {
		std::uint32_t activity = 0;
		Group *group = nullptr;   // null: there were too many
		Span at_begin;            // ticks: the time; the others: what the thread had used
		std::uint64_t inside = 0; // ticks of the activities closed directly inside
		CounterSums counted_at_begin;
		std::vector<std::uint64_t> border; // the counters at its begin; empty: not known
		std::string argument;              // if anybody wants to be told
		Span pending; // of the row's own inside, which count in its total if this one never ends
	};
	struct Stack {
		std::uint32_t owner = none; // of the streams it is told in: a process, or 0 for many
		bool listed = false;        // in open_[owner]
		std::uint64_t too_deep = 0;
		std::vector<Frame> frames;
		std::vector<std::uint64_t> border; // the counters, which the thread told ahead of what comes next
	};

	void find_activities(const trace::Description &description);
	static std::string argument_text(const Role &role, const trace::Event &event);
	Key key_of(const Role &role, const Thread &thread, const trace::Event &event) const;
	Group *group_of(const Role &role, const Thread &thread, const trace::Event &event);
	std::uint32_t owner_of(const trace::StreamInfo &stream, std::uint32_t process) const;
	Stack &stack_of(const Thread &thread, std::uint32_t owner);
	void begin(const Role &role, Stack &stack, const Thread &thread, const trace::Event &event);
	void end(const Role &role, Stack &stack, const Thread &thread, std::uint64_t time);
	void find_borders(const trace::Description &description);
	void tell_border(Stack &stack, const trace::Event &event) const;
	void count(Stack &stack, const Thread &thread, const Span &span);
	void count_at_borders(const Frame &frame, const std::vector<std::uint64_t> &border, const Span &span) const;
	void use_borders(const Group &group, RegionRow &row) const;
	void close(Stack &stack, const Span &span);
	void add_total(Stack &stack, Group &group, const Span &span);
	void forget_top(Stack &stack);
	void forget(Stack &stack);
	void forget_owner(std::uint32_t owner);
	void forget_all();
	RegionRow row_of(const Key &key, const Group &group) const;

	RegionBy by_;
	const Machine &machine_;
	const CounterFold *counters_;
	std::vector<std::string> activities_;
	std::vector<Role> roles_;        // by class id
	std::uint32_t border_id_ = none; // of the class by which threads tell their counters
	std::vector<trace::FieldRef> border_fields_;
	std::unordered_map<Key, Group, KeyHash> groups_;
	std::unordered_map<const Thread *, Stack> stacks_;
	std::unordered_map<std::uint32_t, std::vector<Stack *>> open_; // by owner: every stack that is not empty
	std::vector<bool> merged_;                                     // by stream: of many processes
	std::vector<bool> in_gap_;                                     // by stream
	std::function<void(const Region &)> closed_;
	std::size_t frames_ = 0; // of all stacks
	Unpaired unpaired_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::analyze
