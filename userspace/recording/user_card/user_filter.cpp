// SPDX-License-Identifier: MIT
#include "user_filter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "monitor/user_ring.h"

namespace monitor::card {

bool UserFilter::judge(const std::uint64_t *record, std::uint32_t payload_words, const PostedAt &at,
		       Counts &counts) const
{
	std::uint64_t value[EDC_MATCH_VALUES] = {};
	value[EDC_VALUE_ARGUMENT] = edc_token_arg(record[0]);
	std::copy_n(record + 1, std::min<std::uint32_t>(payload_words, EDC_MAX_WORDS), value + EDC_VALUE_WORD);
	value[EDC_VALUE_CPU] = at.cpu;
	value[EDC_VALUE_LEVEL] = EDC_LEVEL_USER;
	value[EDC_VALUE_TID] = at.tid;
	value[EDC_VALUE_TIME] = at.time;
	return matcher_->judge(edc_token_id(record[0]), value, counts.data());
}

bool UserFilter::keeps(const std::uint64_t *record, std::uint32_t payload_words, const PostedAt &at)
{
	if (!matcher_ || judge(record, payload_words, at, counts_))
		return true;
	++rejected_[edc_token_id(record[0])];
	return false;
}

std::uint64_t UserFilter::strip(std::byte *block, const WordsById &words)
{
	stripped_.clear();
	counted_.fill(0);
	if (!matcher_)
		return 0;
	edc_block header;
	std::memcpy(&header, block, sizeof header);
	PostedAt at{header.cpu_id, header.tid, header.timestamp_begin};
	std::uint64_t to = EDC_BLOCK_HEADER;
	for (std::uint64_t from = EDC_BLOCK_HEADER; from < header.content_size / 8;) {
		std::uint64_t record[1 + EDC_MAX_WORDS];
		record[0] = word_at(block, from);
		const std::uint32_t id = edc_token_id(record[0]), payload = words_of(words, id);
		const std::size_t bytes = 8 + 8u * payload;
		std::memcpy(record, block + from, bytes);
		at.time += edc_token_time(record[0]) - static_cast<std::uint32_t>(at.time);
		from += bytes;
		if (id == EDC_ID_THREAD) {
			at.tid = static_cast<std::uint32_t>(record[1]);
		} else if (!judge(record, payload, at, counted_)) {
			stripped_.push_back(id);
			continue;
		}
		std::memcpy(block + to, record, bytes);
		to += bytes;
	}
	header.content_size = to * 8;
	std::memcpy(block, &header, sizeof header);
	return stripped_.size();
}

void UserFilter::count()
{
	for (const std::uint32_t id : stripped_)
		++rejected_[id];
	stripped_.clear();
	for (std::size_t i = 0; i < counts_.size(); ++i)
		counts_[i] += std::exchange(counted_[i], 0);
}

} // namespace monitor::card
