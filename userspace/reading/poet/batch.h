// SPDX-License-Identifier: MIT
// Collects events and passes them to a visitor in batches.
// One batch per thread. The slots of a generic CTF event are copied with it, as the cursor reuses them for the next
// event. Invariant: a batch does not change before the visitor returns; memory is bounded by max_bytes, however many
// slots a description needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core.h"
#include "poet/visit.hpp"

namespace poet::detail {

class Batch {
public:
	Batch(const Core &core, const Visitor &visitor, unsigned worker)
	    : core_(core), visitor_(visitor), worker_(worker)
	{
		if (core.max_slots() > 0)
			allocate(core.max_slots());
	}

	// False: the visitor ended the visit.
	bool add(const monitor::trace::Event &event)
	{
		const void *place = event.packet;
		if (event.stream->is_generic_ctf) [[unlikely]]
			place = copy_generic_ctf(event);
		Access::fill(events_[size_], event, core_, place);
		return ++size_ < capacity_ || flush();
	}
	bool flush()
	{
		const std::size_t count = std::exchange(size_, 0);
		return count == 0 || visitor_.on_events(visitor_.self, worker_, events_.data(), count);
	}
	// Passed on after the events before it.
	bool gap(const Gap &gap) { return flush() && visitor_.on_gap(visitor_.self, worker_, gap); }

private:
	static constexpr std::size_t max_events = 256;
	static constexpr std::size_t max_bytes = 1u << 20; // of slots

	void allocate(std::size_t slots)
	{
		slot_count_ = slots;
		capacity_ = std::clamp<std::size_t>(max_bytes / (slots * sizeof(std::uint64_t)), 1, max_events);
		generic_ctf_.resize(capacity_);
		slots_.resize(capacity_ * slots);
	}
	const void *copy_generic_ctf(const monitor::trace::Event &event)
	{
		std::uint64_t *slots = slots_.data() + size_ * slot_count_;
		std::memcpy(slots, event.slots, core_.slots(event.stream->index) * sizeof *slots);
		generic_ctf_[size_] = Access::generic_ctf(event, slots);
		return &generic_ctf_[size_];
	}

	const Core &core_;
	Visitor visitor_;
	unsigned worker_;
	std::size_t size_ = 0, capacity_ = max_events;
	std::size_t slot_count_ = 0;
	std::vector<GenericCtf> generic_ctf_;
	std::vector<std::uint64_t> slots_;
	std::array<Event, max_events> events_;
};

} // namespace poet::detail
