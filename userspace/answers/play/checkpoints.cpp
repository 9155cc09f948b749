// SPDX-License-Identifier: MIT
#include "checkpoints.h"

#include <algorithm>

namespace monitor::play {
namespace {

std::size_t bytes_of(const analyze::ThreadFold &fold, const Placement &placement)
{
	return fold.copy_bytes() + placement.bytes() + Recent::max_kept * (sizeof(WakeUp) + sizeof(Posted));
}

} // namespace

void Checkpoints::add(std::uint64_t time, const analyze::ThreadFold &fold, const Placement &placement,
		      const Recent &recent)
{
	kept_.push_back({time, fold.copy(), placement, recent});
	bytes_ += bytes_of(fold, placement);
	if (kept_.size() <= max_count && bytes_ <= max_bytes)
		return;
	bytes_ = 0;
	std::size_t number = 0;
	std::erase_if(kept_, [&](const Checkpoint &) { return number++ % 2 == 0; });
	for (const Checkpoint &each : kept_)
		bytes_ += bytes_of(*each.fold, each.placement);
	spacing_ *= 2;
}

const Checkpoint *Checkpoints::before(std::uint64_t time) const
{
	const auto after = std::ranges::upper_bound(kept_, time, {}, &Checkpoint::time);
	return after == kept_.begin() ? nullptr : &*std::prev(after);
}

} // namespace monitor::play
