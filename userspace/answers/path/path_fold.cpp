// SPDX-License-Identifier: MIT
#include "path_fold.h"

#include "parts.h"
#include "subject.h"

namespace monitor::path {

PathFold::PathFold(const trace::Trace &trace, const analyze::RecordingInfo &info, analyze::ThreadFold &window,
		   bool goes_on)
    : trace_(trace), window_(window), whole_(goes_on && window.scope().range.to < trace.end_time()
						 ? std::make_optional<analyze::ThreadFold>(
						       trace, info, analyze::Scope{{window.scope().range.from}, {}, {}})
						 : std::nullopt),
      stretches_(fold(), path::recorded(trace, info, window.kinds()))
{
	fold().add(static_cast<analyze::Observer &>(stretches_));
	fold().add(static_cast<analyze::TimeObserver &>(stretches_));
}

void PathFold::after(const trace::Event &event)
{
	stretches_.after(event);
	for (const auto &observer : observers_)
		observer(event);
}

void PathFold::finish()
{
	if (whole_)
		read_again(trace_, *whole_, [this](const trace::Event &event) { after(event); });
}

} // namespace monitor::path
