// SPDX-License-Identifier: MIT
#include "user_block.h"

#include <algorithm>

namespace monitor::card {
const char *validate_user_block(std::byte *block, std::uint64_t content_bytes, std::uint64_t now,
				const WordsById &words, UserRingInfo &info, const std::function<void()> &learn)
{
	const auto number = [&info](std::uint32_t tid) { return info.translate_tid ? info.translate_tid(tid) : tid; };
	const edc_block untrusted = header_of(block);
	const char *wrong = nullptr;
	std::uint64_t begin = untrusted.timestamp_begin;
	if (begin < info.last_time || begin > now) {
		wrong = "a block starts before the previous one, or in the future";
		begin = info.last_time;
		content_bytes = EDC_BLOCK_HEADER;
	}
	if (content_bytes < EDC_BLOCK_HEADER || content_bytes > EDC_BLOCK_SIZE || content_bytes % 8 != 0) {
		wrong = "a block's content is not inside the block";
		content_bytes = EDC_BLOCK_HEADER;
	}
	std::uint64_t at = EDC_BLOCK_HEADER, time = begin;
	while (at < content_bytes) {
		const std::uint64_t token = word_at(block, at);
		const std::uint32_t id = edc_token_id(token);
		const std::uint32_t delta = edc_token_time(token) - static_cast<std::uint32_t>(time);
		if (words[id] == unknown_class && learn)
			learn();
		if (words[id] == unknown_class || edc_token_mode(token) != EDC_MODE_USER)
			wrong = "an event of a class that its program did not declare";
		else if (at + 8 + 8u * words_of(words, id) > content_bytes)
			wrong = "an event extends beyond its block's content";
		else if (delta >= EDC_BLOCK_MAX_TICKS || time + delta > now)
			wrong = "an event's time steps back or is in the future";
		if (wrong)
			break;
		time += delta;
		if (id == EDC_ID_THREAD) {
			const std::uint64_t tid = number(static_cast<std::uint32_t>(word_at(block, at + 8)));
			const std::uint64_t who = tid | static_cast<std::uint64_t>(info.process) << 32;
			std::memcpy(block + at + 8, &who, sizeof who);
		} else {
			++info.tokens;
		}
		at += 8 + 8u * words_of(words, id);
	}
	edc_block header{};
	header.magic = EDC_BLOCK_MAGIC;
	std::copy(info.uuid.begin(), info.uuid.end(), header.uuid);
	header.stream_instance_id = info.stream;
	header.timestamp_begin = begin;
	header.timestamp_end = time;
	header.content_size = at * 8;
	header.packet_size = EDC_BLOCK_SIZE * 8;
	header.packet_seq_num = info.sequence;
	// A count that steps back, or is larger than possible, is ignored; the last one reported holds.
	if (untrusted.events_discarded >= info.discarded && untrusted.events_discarded <= info.max_discarded)
		info.discarded = untrusted.events_discarded;
	header.events_discarded = info.discarded;
	header.cpu_id = info.cpu;
	header.level = EDC_LEVEL_USER;
	header.tid = number(untrusted.tid);
	header.process = info.process;
	std::memcpy(block, &header, sizeof header);
	info.last_time = time;
	return wrong;
}

} // namespace monitor::card
