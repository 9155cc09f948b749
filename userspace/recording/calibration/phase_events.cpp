// SPDX-License-Identifier: MIT
#include "phase_events.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "monitor/card.h"

namespace monitor::record {

std::size_t PhaseEvents::begin(std::uint64_t time)
{
	const std::lock_guard guard(lock_);
	parts_.push_back({time, std::numeric_limits<std::uint64_t>::max(), {}});
	return parts_.size() - 1;
}

void PhaseEvents::end(std::uint64_t time)
{
	const std::lock_guard guard(lock_);
	parts_.back().end = time;
}

void PhaseEvents::count(std::uint64_t time, std::int32_t thread, unsigned id)
{
	// The latest part that begins before `time`.
	const auto after = std::ranges::upper_bound(parts_, time, {}, &Part::begin);
	if (after != parts_.begin() && time < std::prev(after)->end)
		++std::prev(after)->events[{thread, id}];
}

void PhaseEvents::count_block(const std::byte *block)
{
	edc_block header;
	std::memcpy(&header, block, sizeof header);
	const std::lock_guard guard(lock_);
	const auto after = std::ranges::upper_bound(parts_, header.timestamp_end, {}, &Part::begin);
	if (header.level != 0 || after == parts_.begin() || std::prev(after)->end <= header.timestamp_begin)
		return; // most blocks are in no part
	auto thread = static_cast<std::int32_t>(header.tid);
	const std::size_t end = std::min<std::size_t>(header.content_size / 8, EDC_BLOCK_SIZE);
	std::uint64_t time = header.timestamp_begin;
	for (std::size_t at = EDC_BLOCK_HEADER; at + 8 <= end;) {
		std::uint64_t token, word = 0;
		std::memcpy(&token, block + at, sizeof token);
		const unsigned id = edc_token_id(token), words = words_[id];
		if (words == card::unknown_words)
			return;
		time += static_cast<std::uint32_t>(edc_token_time(token) - static_cast<std::uint32_t>(time));
		if (id == EDC_ID_SCHED_SWITCH && at + 16 <= end) {
			std::memcpy(&word, block + at + 8, sizeof word);
			thread = static_cast<std::int32_t>(word >> 32); // its probe runs after the switch
		}
		count(time, thread, id);
		at += 8 * (1 + words);
	}
}

std::map<unsigned, std::uint64_t> PhaseEvents::events_of(std::size_t part,
							 const std::unordered_set<std::int32_t> &threads) const
{
	const std::lock_guard guard(lock_);
	std::map<unsigned, std::uint64_t> sums;
	for (const auto &[of, number] : parts_[part].events)
		if (threads.contains(of.first))
			sums[of.second] += number;
	return sums;
}

} // namespace monitor::record
