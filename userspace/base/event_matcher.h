// SPDX-License-Identifier: MIT
// What a recording decides of each event: whether it is kept (record --filter), which counts it belongs to (--count),
// what it starts or ends (--time), and of which triggers it is an input (--trigger). The expressions, and the matcher's
// tables that are made of them for all classes of a recording.
//
// Made by answers/matcher/; used by recording/, which cannot read expressions, and there by the cards and the drain.
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

// From an event for which `start` is true to the next for which `end` is, with the same number: `start_key` of the
// start, `end_key` of the end. No keys: all belong together.
struct NamedTime {
	std::string name, start, end, start_key, end_key;
};

struct MatcherRequest {
	std::optional<std::string> filter;   // none: all events are kept
	std::vector<NamedExpression> counts; // at most EDC_MATCH_COUNTS
	std::vector<NamedTime> times;        // at most EDC_TIMES
	bool keeps_tokens = true;            // else no event is, not even those that others need
	std::vector<NamedTrigger> triggers;  // at most EDC_TRIGGERS
};

class EventMatcher {
public:
	// What is decided of a class.
	struct Class {
		unsigned id = 0;
		std::string name;
		unsigned decision = EDC_MATCH_KEEP;
		bool is_always_kept = false;     // because other tokens cannot be understood without it
		std::uint64_t counts = 0;        // bits of those that some of its events belong to
		std::uint64_t belongs = 0;       // to which some do, as in edc_match_class
		std::vector<std::string> values; // that it looks at, and
		unsigned patterns = 0;           // how many there are

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

	// Whether an event of a program is kept; it is added to its counts, and to what else it belongs to, as in
	// edc_match_class. `value` has what the class wants; its texts are changed.
	bool judge(unsigned id, __u64 *value, __u64 *count, std::uint64_t *belongs = nullptr) const
	{
		const edc_matcher *tables = tables_[group_of(id)].get();
		if (!tables)
			return true;
		const edc_match_class &cls = tables->cls[slot_of(id)];
		if (cls.tests)
			return edc_match_tests(&cls, value, count);
		__u64 hit[EDC_MATCH_WORDS] = {};
		std::uint64_t to = cls.belongs;
		edc_match_count_all(cls.counted, count);
		if (cls.asks && edc_match(tables, slot_of(id), value, hit))
			to |= edc_match_count(tables, &cls, hit, count);
		if (belongs)
			*belongs |= to;
		return edc_match_keeps(&cls, hit);
	}

	// How much of the tables of the kernel's events is in use.
	struct Used {
		unsigned dimensions = 0, bounds = 0, rows = 0, targets = 0;
	} used;

	std::vector<Class> classes;      // all, in the order of the description
	std::vector<std::string> doubts; // sentences: names that no class has so far
	std::vector<std::string> notes;  // sentences: classes for which nothing could be decided
	std::vector<std::string> hints;  // sentences: events that an expression may mean, and leaves out

private:
	std::array<std::unique_ptr<edc_matcher>, (EDC_ID_LAST + 1) / EDC_CARD_CLASSES> tables_;
};

static_assert(EventMatcher::slot_of(EDC_ID_KERNEL_FIRST) == 0);

} // namespace monitor
