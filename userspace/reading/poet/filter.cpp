// SPDX-License-Identifier: MIT
#include "filter_body.h"

namespace poet {

Filter::Body::Body(const Trace &trace, std::string_view expression)
    : core_(trace.core()), filter_(detail::guarded([&] {
	      const auto &opened = core_->trace();
	      return monitor::filter::Filter(expression, opened.description(), opened.begin_time(), {}, nullptr,
					     monitor::filter::Evaluator::probe);
      })),
      asks_who_runs_(filter_.needs_threads())
{
	for (const EventClass &cls : trace.classes())
		can_match_.push_back(filter_.can_match(core_->internal(cls.index)));
}

Filter::Filter(const Trace &trace, std::string_view expression) : body_(std::make_shared<Body>(trace, expression)) {}

bool Filter::matches(const Event &event) const
{
	return body_->matches(event);
}

bool Filter::can_match(const EventClass &cls) const
{
	return body_->can_match(cls.index);
}

bool Filter::asks_who_runs() const
{
	return body_->asks_who_runs();
}

} // namespace poet
