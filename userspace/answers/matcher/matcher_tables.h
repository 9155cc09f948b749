// SPDX-License-Identifier: MIT
// Fills the tables of a matcher (include/monitor/matcher.h) with patterns per class.
// products (reading/filter/disjunction.h) -> boundaries of each value -> rows of bits
// Used for each class for which an expression is neither always true nor always false. Not thread-safe. Invariant: an
// event matches a pattern in the tables if and only if it is in its product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/event_matcher.h"
#include "reading/filter/disjunction.h"
#include "reading/filter/value_source.h"

namespace monitor::matcher {

class Tables {
public:
	// The matcher must be empty, and outlive this.
	explicit Tables(edc_matcher &matcher) : matcher_(matcher) {}

	static constexpr unsigned keep_target = 255; // target of patterns of --filter

	struct Pattern {
		filter::Product product;
		unsigned target = keep_target; // or EDC_TARGET_*
	};

	// The first three are as in edc_match_class; the patterns are the class's further conditions.
	struct ClassConditions {
		unsigned decision = EDC_MATCH_KEEP;
		std::uint64_t counted = 0;
		std::uint64_t belongs = 0;
		std::vector<Pattern> patterns;
		// By target, for starts, ends and inputs of triggers: the source of the key.
		std::map<unsigned, filter::ValueSource> keys;

		// Whether there are starts, ends, or inputs of triggers.
		bool has_times() const
		{
			return belongs || std::ranges::any_of(patterns, [](const Pattern &pattern) {
				       return pattern.target != keep_target && pattern.target >= EDC_TARGET_STARTS;
			       });
		}
		bool is_plain() const { return decision == EDC_MATCH_KEEP && !counted && !belongs && patterns.empty(); }
	};

	void set_trigger(std::size_t number, const edc_trigger &trigger) { matcher_.trigger[number] = trigger; }
	// Throws Error: the tables are full.
	void add(unsigned slot, const ClassConditions &conditions);

	const EventMatcher::Used &used() const { return used_; }

private:
	edc_matcher &matcher_;
	EventMatcher::Used used_;
};

} // namespace monitor::matcher
