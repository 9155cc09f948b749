// SPDX-License-Identifier: MIT
// Fills the tables of a matcher (include/monitor/matcher.h) with the patterns of classes.
//
//     products (reading/filter/disjunction.h) -> boundaries of each value -> rows of bits
//
// Called by expression_matcher.cpp for each class that an expression does not decide as a whole. Not thread-safe.
// Invariant: an event matches a pattern in the tables if and only if it is in its product.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/event_matcher.h"
#include "reading/filter/disjunction.h"

namespace monitor::matcher {

class Tables {
public:
	// The matcher must outlive this, and be empty.
	explicit Tables(edc_matcher &matcher) : matcher_(matcher) {}

	static constexpr unsigned keeps = EDC_MATCH_COUNTS; // as a target

	struct Pattern {
		filter::Product product;
		unsigned target = keeps; // or the number of a count
	};

	// `decision` and `counted` are as in edc_match_class; the patterns are those that the class asks besides.
	// Throws Error: there is no room for them.
	void add(unsigned slot, unsigned decision, std::uint64_t counted, const std::vector<Pattern> &patterns);

	const EventMatcher::Used &used() const { return used_; }

private:
	edc_matcher &matcher_;
	EventMatcher::Used used_;
};

} // namespace monitor::matcher
