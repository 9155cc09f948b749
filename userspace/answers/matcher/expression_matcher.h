// SPDX-License-Identifier: MIT
// From expressions (FDL) to the tables of a matcher in the kernel, for the classes of a description.
// text -> Filter -> per class: all, none, or products -> Tables -> EventMatcher (base/event_matcher.h)
// For `record --filter` and --count and for `monitor filter`, with the description that the recording will have. The
// result is the same as with `list --filter`, except that classes that others depend on are always kept, and that a
// program's events have no `thread`.
#pragma once

#include <cstdint>
#include <memory>

#include "base/event_matcher.h"
#include "reading/ctf/description.h"

namespace monitor::matcher {

// Throws ParseError, with a caret, if an expression is wrong or cannot be decided while recording; Error if the tables
// would be too large. With `more_classes` programs may declare classes later: names that no class has cause warnings
// only.
std::unique_ptr<EventMatcher> make_matcher(const MatcherRequest &untrusted_request,
					   const trace::Description &description, std::uint64_t begin_time,
					   bool more_classes);

} // namespace monitor::matcher
