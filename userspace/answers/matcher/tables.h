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

#include "monitor/matcher.h"
#include "reading/filter/disjunction.h"

namespace monitor::matcher {

// How much of a matcher is in use.
struct Used {
	unsigned dimensions = 0, bounds = 0, rows = 0;
};

class Tables {
public:
	// The matcher must outlive this, and be empty.
	explicit Tables(edc_matcher &matcher) : matcher_(matcher) {}

	// One pattern for each product. Throws Error: there is no room for them.
	void add(unsigned slot, const std::vector<filter::Product> &patterns);

	const Used &used() const { return used_; }

private:
	edc_matcher &matcher_;
	Used used_;
};

} // namespace monitor::matcher
