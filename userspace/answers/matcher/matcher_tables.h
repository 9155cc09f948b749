// SPDX-License-Identifier: MIT
// Fills the tables of a matcher (include/monitor/matcher.h) with the patterns of classes.
//
//     products (reading/filter/disjunction.h) -> boundaries of each value -> rows of bits
//
// Called by expression_matcher.cpp for each class that an expression does not decide as a whole. Not thread-safe.
// Invariant: an event matches a pattern in the tables if and only if it is in its product.
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
	// The matcher must outlive this, and be empty.
	explicit Tables(edc_matcher &matcher) : matcher_(matcher) {}

	static constexpr unsigned keeps = 255; // as a target

	struct Pattern {
		filter::Product product;
		unsigned target = keeps; // or EDC_TARGET_*
	};

	// The first three are as in edc_match_class; the patterns are those that the class asks besides.
	struct OfClass {
		unsigned decision = EDC_MATCH_KEEP;
		std::uint64_t counted = 0;
		std::uint64_t belongs = 0;
		std::vector<Pattern> patterns;
		// By target, of starts, ends and inputs of triggers: the source of the number that they have in common.
		std::map<unsigned, filter::ValueSource> keys;

		// Starts, ends, or inputs of triggers.
		bool has_times() const
		{
			return belongs || std::ranges::any_of(patterns, [](const Pattern &pattern) {
				       return pattern.target != keeps && pattern.target >= EDC_TARGET_STARTS;
			       });
		}
		bool is_plain() const { return decision == EDC_MATCH_KEEP && !counted && !belongs && patterns.empty(); }
	};

	void set_trigger(std::size_t number, const edc_trigger &trigger) { matcher_.trigger[number] = trigger; }
	// Throws Error: there is no room.
	void add(unsigned slot, const OfClass &of_class);

	const EventMatcher::Used &used() const { return used_; }

private:
	edc_matcher &matcher_;
	EventMatcher::Used used_;
};

} // namespace monitor::matcher
