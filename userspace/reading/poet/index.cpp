// SPDX-License-Identifier: MIT
#include "index.h"

#include <algorithm>

#include "reading/events/merge.h"

namespace poet::detail {

void Index::make(const monitor::trace::Trace &trace, monitor::trace::Problems &problems)
{
	using namespace monitor::trace;

	checkpoints_ = {{}};
	std::uint64_t latest = 0, next = spacing_, count = 0;
	merge(
	    trace, problems, {},
	    [&](const monitor::trace::Event &event) {
		    if (count >= next && event.time > latest) {
			    add(event.time, count);
			    next = count + spacing_;
		    }
		    latest = std::max(latest, event.time);
		    ++count;
	    },
	    [&](const StreamInfo &, std::uint64_t from_time, std::uint64_t, std::uint64_t) {
		    latest = std::max(latest, from_time);
	    });
	events_ = count;
}

void Index::add(std::uint64_t time, std::uint64_t events)
{
	checkpoints_.push_back({time, events});
	if (checkpoints_.size() < max_checkpoints)
		return;
	// Keeps every second checkpoint, including the first.
	for (std::size_t i = 0; 2 * i < checkpoints_.size(); ++i)
		checkpoints_[i] = checkpoints_[2 * i];
	checkpoints_.resize((checkpoints_.size() + 1) / 2);
	spacing_ *= 2;
}

const Index::Checkpoint &Index::before_event(std::uint64_t number) const
{
	return std::ranges::upper_bound(checkpoints_.begin() + 1, checkpoints_.end(), number, {},
					&Checkpoint::events)[-1];
}

const Index::Checkpoint &Index::before_time(std::uint64_t time) const
{
	return std::ranges::upper_bound(checkpoints_.begin() + 1, checkpoints_.end(), time, {}, &Checkpoint::time)[-1];
}

} // namespace poet::detail
