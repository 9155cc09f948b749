// SPDX-License-Identifier: MIT
#include "user_filter.h"

#include <cstring>

#include "monitor/user_ring.h"

namespace monitor::card {

bool UserFilter::evaluate(const PostedEvent &event, Counts &counts, std::uint32_t &inputs) const
{
	auto value = event.values();
	std::uint64_t belongs = 0;
	const bool is_kept = matcher_->judge(edc_token_id(event.record[0]), value.data(), counts.data(), &belongs);
	inputs = static_cast<std::uint32_t>(belongs >> EDC_FIRST_INPUT);
	return is_kept;
}

bool UserFilter::keeps(const PostedEvent &event)
{
	if (!matcher_)
		return true;
	std::uint32_t inputs = 0;
	const bool is_kept = evaluate(event, counts_, inputs);
	if (inputs)
		triggers_.note(event, inputs);
	if (!is_kept)
		++rejected_[edc_token_id(event.record[0])];
	return is_kept;
}

std::uint64_t UserFilter::strip(std::byte *block, const WordsById &words)
{
	stripped_.clear();
	counted_.fill(0);
	inputs_.clear();
	if (!matcher_)
		return 0;
	std::uint64_t to = EDC_BLOCK_HEADER;
	for_each_record(block, words, [&](const PostedEvent &event, std::uint32_t payload, std::uint64_t offset) {
		const std::uint32_t id = edc_token_id(event.record[0]);
		std::uint32_t inputs = 0;
		const bool is_kept = id == EDC_ID_THREAD || evaluate(event, counted_, inputs);
		if (inputs)
			inputs_.push_back({offset, inputs, event});
		if (!is_kept) {
			stripped_.push_back(id);
			return;
		}
		std::memcpy(block + to, event.record.data(), 8 + 8u * payload);
		to += 8 + 8u * payload;
	});
	edc_block header = header_of(block);
	header.content_size = to * 8;
	std::memcpy(block, &header, sizeof header);
	return stripped_.size();
}

void UserFilter::count(std::uint64_t from)
{
	for (const std::uint32_t id : stripped_)
		++rejected_[id];
	stripped_.clear();
	for (std::size_t i = 0; i < counts_.size(); ++i)
		counts_[i] += std::exchange(counted_[i], 0);
	for (const Input &input : inputs_)
		if (input.offset >= from)
			triggers_.note(input.event, input.inputs);
	inputs_.clear();
}

void UserFilter::evaluate_triggers(const std::byte *block, const WordsById &words, std::uint64_t from)
{
	Counts uncounted{};
	for_each_record(block, words, [&](const PostedEvent &event, std::uint32_t, std::uint64_t offset) {
		std::uint32_t inputs = 0;
		if (offset >= from && edc_token_id(event.record[0]) != EDC_ID_THREAD)
			evaluate(event, uncounted, inputs);
		if (inputs)
			triggers_.note(event, inputs);
	});
}

} // namespace monitor::card
