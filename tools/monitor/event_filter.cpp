// SPDX-License-Identifier: MIT
#include "event_filter.h"

#include "answers/matcher/expression_matcher.h"
#include "base/error.h"
#include "reading/ctf/interpret.h"

namespace monitor {

record::EventFilter event_filter(const std::string &expression)
{
	return {expression,
		[expression](const std::string &text, std::uint64_t begin_time,
			     bool more_classes) -> std::shared_ptr<const EventMatcher> {
			std::string why;
			const auto description = trace::read_description(text, why);
			if (!description)
				throw Error("the description of the events cannot be read: " + why);
			return matcher::make_matcher(expression, *description, begin_time, more_classes);
		}};
}

} // namespace monitor
