// SPDX-License-Identifier: MIT
// From expressions (FDL) to what the kernel decides: the tables of a matcher for the classes of a description.
//
//     text -> Filter -> per class: all, none, or products -> Tables -> EventMatcher (base/event_matcher.h)
//
// Called by tools/monitor for `record --filter` and --count and for `monitor filter`, with the description that the
// recording will have. What the tables keep and count is what `list --filter` would show, except that classes without
// which others cannot be understood are always kept, and that a program's events have no `thread`.
#pragma once

#include <cstdint>
#include <memory>

#include "base/event_matcher.h"
#include "reading/ctf/description.h"

namespace monitor::matcher {

// Throws Refusal, with a caret, if an expression is wrong or cannot be decided while recording; Error if they are too
// large. With `more_classes` programs may declare classes later: for names that no class has there are doubts instead.
std::unique_ptr<EventMatcher> make_matcher(const MatcherRequest &untrusted_request,
					   const trace::Description &description, std::uint64_t begin_time,
					   bool more_classes);

} // namespace monitor::matcher
