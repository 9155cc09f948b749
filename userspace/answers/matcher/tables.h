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

	// One pattern for each product. Throws Error: there is no room for them.
	void add(unsigned slot, const std::vector<filter::Product> &patterns);

	const EventMatcher::Used &used() const { return used_; }

private:
	edc_matcher &matcher_;
	EventMatcher::Used used_;
};

} // namespace monitor::matcher
