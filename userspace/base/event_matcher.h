// SPDX-License-Identifier: MIT
// The expressions of a recording and the matcher's tables compiled from them: whether an event is kept (record
// --filter), which counts it increments (--count), which times it starts or ends (--time), and which triggers evaluate
// it (--trigger).
//
// Compiled by answers/matcher/; used in recording/ by the cards and the drain.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/matcher.h"
#include "trigger.h"

namespace monitor {

struct NamedExpression {
	std::string name, expression;
};

// Time from an event that matches `start` to the next that matches `end` and has the same key (`start_key` and
// `end_key`). No keys: any start pairs with any end.
struct NamedTime {
	std::string name, start, end, start_key, end_key;
};

struct MatcherRequest {
	std::optional<std::string> filter;   // none: all events are kept
	std::vector<NamedExpression> counts; // at most EDC_MATCH_COUNTS
	std::vector<NamedTime> times;        // at most EDC_TIMES
	bool keeps_tokens = true;            // false: no event is kept, not even those that others depend on
	std::vector<NamedTrigger> triggers;  // at most EDC_TRIGGERS
};

class EventMatcher {
public:
	// The decision for a class.
	struct Class {
		unsigned id = 0;
		std::string name;
		unsigned decision = EDC_MATCH_KEEP;
		bool is_always_kept = false;     // other tokens depend on it
		std::uint64_t counts = 0;        // bit N: some of its events increment count N
		std::uint64_t belongs = 0;       // as in edc_match_class, but for some of its events, not each
		std::vector<std::string> values; // that the patterns compare
		unsigned patterns = 0;           // number of patterns

		bool is_counted() const { return counts || belongs; }
	};

	// Classes by id: kernel_tables() has those of the cards, in the slots of card.h.
	static constexpr unsigned group_of(unsigned id) { return id / EDC_CARD_CLASSES; }
	static constexpr unsigned slot_of(unsigned id) { return id % EDC_CARD_CLASSES; }

	// nullptr: all classes of the group are kept, and none is counted.
	const edc_matcher *tables(unsigned group) const { return tables_[group].get(); }
	const edc_matcher *kernel_tables() const { return tables(group_of(EDC_ID_KERNEL_FIRST)); }

	edc_matcher &make_tables(unsigned group)
	{
		if (!tables_[group])
			tables_[group] = std::make_unique<edc_matcher>();
		return *tables_[group];
	}

	// Evaluates an event of a program: increments its counts, sets the bits of `belongs` (edc_match_class), and
	// returns whether it is kept. `value` has the fields that the class needs; texts in it are modified.
	bool judge(unsigned id, __u64 *value, __u64 *count, std::uint64_t *belongs = nullptr) const
	{
		const edc_matcher *tables = tables_[group_of(id)].get();
		if (!tables)
			return true;
		const edc_match_class &cls = tables->cls[slot_of(id)];
		if (cls.tests)
			return edc_match_tests(&cls, value, count);
		__u64 hit[EDC_MATCH_WORDS] = {};
		std::uint64_t targets = cls.belongs;
		edc_match_count_all(cls.counted, count);
		if (cls.has_patterns && edc_match(tables, slot_of(id), value, hit))
			targets |= edc_match_count(tables, &cls, hit, count);
		if (belongs)
			*belongs |= targets;
		return edc_match_keeps(&cls, hit);
	}

	// How much of the tables of the kernel's events is in use.
	struct Used {
		unsigned dimensions = 0, bounds = 0, rows = 0, targets = 0;
	} used;

	std::vector<Class> classes;      // all, in the order of the description
	std::vector<std::string> doubts; // messages: names that no class has so far
	std::vector<std::string> notes;  // messages: classes for which nothing could be decided
	std::vector<std::string> hints;  // messages: events that an expression may mean, but does not match
	bool uses_time = false;          // so the tables also depend on the clock, and on the start of the trace

private:
	std::array<std::unique_ptr<edc_matcher>, (EDC_ID_LAST + 1) / EDC_CARD_CLASSES> tables_;
};

static_assert(EventMatcher::slot_of(EDC_ID_KERNEL_FIRST) == 0);

} // namespace monitor
