// SPDX-License-Identifier: MIT
#include "checkpoints.h"

#include <algorithm>

namespace monitor::query {
namespace {

// Pages and names are shared between copies; the tables that refer to them are not.
std::size_t size_of(const trace::Threads &threads)
{
	return (32u << 10) + threads.count() * sizeof(std::shared_ptr<trace::Threads::Info>);
}

} // namespace

const Checkpoints::State *Checkpoints::before(std::uint64_t time) const
{
	const auto after = std::ranges::upper_bound(states_, time, {}, &State::time);
	return after == states_.begin() ? nullptr : &*(after - 1);
}

void Checkpoints::add(std::uint64_t time, const trace::Threads &threads)
{
	states_.push_back({time, threads});
	bytes_ += size_of(threads);
	if (bytes_ < max_bytes)
		return;
	std::vector<State> kept;
	bytes_ = 0;
	for (std::size_t i = 0; i < states_.size(); i += 2) {
		bytes_ += size_of(states_[i].threads);
		kept.push_back(std::move(states_[i]));
	}
	states_ = std::move(kept);
	spacing_ *= 2;
}

} // namespace monitor::query
