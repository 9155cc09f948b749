// SPDX-License-Identifier: MIT
#include "walk.h"

namespace poet::detail {

Walk::Walk(const Core &core, monitor::trace::Problems &problems)
{
	std::size_t count = 0;
	for (const auto &stream : core.trace().streams())
		count += stream->is_foreign() ? 0 : 1;
	walkers_.reserve(count);
	for (const auto &stream : core.trace().streams())
		if (!stream->is_foreign())
			walkers_.emplace_back(core, *stream, problems, all_windows_bytes / count);
}

void Walk::to_begin()
{
	for (Walker &walker : walkers_)
		walker.to_begin();
	direction_ = Direction::unknown;
}

void Walk::to_end()
{
	for (Walker &walker : walkers_)
		walker.to_end();
	direction_ = Direction::unknown;
}

void Walk::seek(std::uint64_t time)
{
	for (Walker &walker : walkers_)
		walker.seek(time);
	direction_ = Direction::unknown;
}

void Walk::turn(Direction direction)
{
	direction_ = direction;
	is_stale_ = false;
	heads_.clear();
	for (std::uint32_t i = 0; i < walkers_.size(); ++i) {
		Walker &walker = walkers_[i];
		if (direction == Direction::forward && walker.has_next())
			heads_.add(walker.next().key, i);
		else if (direction == Direction::backward && walker.has_previous())
			heads_.add(~walker.previous().key, ~i);
	}
	heads_.make();
}

} // namespace poet::detail
