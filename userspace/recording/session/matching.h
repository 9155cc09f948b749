// SPDX-License-Identifier: MIT
// record --filter, --count and --no-tokens: the expressions, and who makes the tables of a matcher from them. The
// record side cannot read expressions; tools/monitor gives it the maker (answers/matcher).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/event_matcher.h"

namespace monitor::record {

struct Matching {
	// `description`: TSDL of all classes known so far; `begin_time`: of the trace; `more_classes`: programs may
	// declare more. Throws Error.
	using Make = std::function<std::shared_ptr<const EventMatcher>(const std::string &description,
								       std::uint64_t begin_time, bool more_classes)>;

	MatcherRequest request;
	Make make;
	std::uint64_t every_ns = 0; // the counts are also recorded each time this has passed; 0: at the end only
};

} // namespace monitor::record
