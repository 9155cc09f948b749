// SPDX-License-Identifier: MIT
// Totals: sums the activities that a Tracker (tracker.h) finds, in rows by labels. The reports `syscalls`, `offcpu`
// (share/tables/*.table) and `activities` are three ways to label them. Printed by answers/report/activities_table.cpp.
//
// Names of programs' activities and arguments are untrusted: at most max_rows rows have them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "definition.h"
#include "tracker.h"

namespace monitor::activities {

enum class Label : std::uint8_t { process, thread, command, call, waker, activity, argument, caller };
const char *name_of(Label label);

// Which activities, and what distinguishes their rows.
struct Grouping {
	static constexpr std::size_t max_labels = 4;

	ActivitySource source = ActivitySource::program;
	std::vector<Label> by;
};

// From a table's `state` and `by`. Throws Error naming its `where`.
Grouping grouping_of(const DefinitionText &text);

// Times in ticks.
struct Sums {
	bool in_tree = false; // of the recorded command
	std::uint64_t count = 0, errors = 0;
	std::uint64_t left = 0; // functions left by an exception or longjmp: they ended then or earlier
	// Activities whose end may belong to another one: they are not in `max` and the percentiles.
	std::uint64_t uncertain = 0;
	Span total; // time nested in the same activity counts once, in the inner one
	std::uint64_t max = 0;
	std::uint64_t exclusive = 0; // without nested activities
	std::uint64_t transfer = 0;  // run-queue latency after the wake-ups that ended blocked times
	std::uint64_t transfers = 0; // number of these latencies: a wake-up need not have a token
	// What was counted up to the last reading made inside `total`, since the reading before; for the first set,
	// between its boundaries, if the programs reported their counters at both.
	analyze::CounterSums counted;
};

struct TotalsRow : Sums {
	struct Part {
		std::string text;                      // "": only the number is known
		std::optional<std::uint64_t> number{}; // of a process, a thread or an argument
		std::string name{};                    // of a process or a thread, whether or not it has ended
	};

	std::vector<Part> parts;             // in the order of the labels
	const analyze::Thread *of = nullptr; // a thread, or a process's leader; null: several or unknown
	bool is_timed = true;                // false: no start is known: all were refused
	bool has_lengths = true;             // false: no single length is known
	std::uint64_t mean = 0, p50 = 0, p99 = 0;
	bool at_boundaries = false;
};

// Whose activities: all, those of the recorded command and its descendants, or the others.
enum class Whose : std::uint8_t { all, command, others };

class Totals : public Observer {
public:
	static constexpr std::size_t max_rows = 1u << 16; // of programs' activities

	// The arguments must outlive this. `counters` may be null; else the tracker's.
	Totals(Grouping grouping, const analyze::ThreadFold &fold, const Tracker &tracker,
	       const analyze::CounterFold *counters = nullptr)
	    : grouping_(std::move(grouping)), fold_(fold), tracker_(tracker), counters_(counters)
	{
	}

	void finished(const Finished &activity) override;
	void summed(const Finished &activity, const analyze::Summed &summed) override;

	const Grouping &grouping() const { return grouping_; }
	bool has_functions() const { return tracker_.has_functions(); }
	const Unpaired &unpaired() const { return tracker_.unpaired(); }
	std::uint64_t resumed() const { return tracker_.resumed(); }
	// Activities that are in no row because there were too many rows.
	std::uint64_t left_out() const { return left_out_; }
	// Sum over all rows.
	std::uint64_t uncertain() const;
	// By descending total, with the names at the end of the trace. Threads and processes that never ran have no
	// rows of system calls and blocked times.
	std::vector<TotalsRow> rows(Whose whose = Whose::all) const;

private:
	// Threads and leaders as addresses, which are even; other values as odd numbers; 0: none. The last element is
	// the process's leader for a system call, the thread for a blocked time.
	using LabelKey = std::array<std::uint64_t, Grouping::max_labels + 1>;
	struct KeyHash {
		std::size_t operator()(const LabelKey &key) const;
	};
	struct Group : Sums {
		std::string argument; // its text, unless it is a plain number
		std::uint64_t sum = 0, timed = 0;
		std::vector<std::uint64_t> counted_at_boundaries; // by counter of the first set
		std::uint64_t cpu_at_boundaries = 0;              // CPU time of the activities counted at boundaries
		Histogram histogram;

		Group &operator+=(const Group &other); // of states
	};

	std::uint64_t part_of(Label label, const Finished &activity) const;
	Group *group_of(const Finished &activity);
	TotalsRow::Part shown(Label label, std::uint64_t part, const Group &group) const;
	void use_boundaries(const Group &group, TotalsRow &row) const;
	const analyze::Thread *owner(const LabelKey &key) const;
	std::vector<TotalsRow::Part> parts_of(const LabelKey &key, const Group &group) const;
	TotalsRow row_of(std::vector<TotalsRow::Part> parts, const Group &group) const;

	Grouping grouping_;
	const analyze::ThreadFold &fold_;
	const Tracker &tracker_;
	const analyze::CounterFold *counters_;
	std::unordered_map<LabelKey, Group, KeyHash> groups_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::activities
