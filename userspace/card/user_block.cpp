// SPDX-License-Identifier: MIT
#include "user_block.h"

#include <algorithm>
#include <cstring>

#include "monitor/token.h"

namespace monitor::card {
namespace {

std::uint32_t words_of(const WordsById &words, std::uint32_t id)
{
	return words[id] & ~refused_class;
}

} // namespace

const char *validate_user_block(std::byte *block, std::uint64_t content_bytes, std::uint64_t now,
				const WordsById &words, UserRingFacts &facts, const std::function<void()> &learn)
{
	edc_block untrusted;
	std::memcpy(&untrusted, block, sizeof untrusted);
	const char *wrong = nullptr;
	std::uint64_t begin = untrusted.timestamp_begin;
	if (begin < facts.last_time || begin > now) {
		wrong = "a block begins before the one before it, or in the future";
		begin = facts.last_time;
		content_bytes = EDC_BLOCK_HEADER;
	}
	if (content_bytes < EDC_BLOCK_HEADER || content_bytes > EDC_BLOCK_SIZE || content_bytes % 8 != 0) {
		wrong = "a block's content does not lie inside it";
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
			wrong = "an event of a class that was never asked for";
		else if (at + 8 + 8u * words_of(words, id) > content_bytes)
			wrong = "an event reaches behind its block's content";
		else if (delta >= EDC_BLOCK_MAX_TICKS || time + delta > now)
			wrong = "an event's time steps back or lies in the future";
		if (wrong)
			break;
		time += delta;
		if (id == EDC_ID_THREAD) {
			const std::uint64_t tid =
			    facts.one_thread ? facts.process : word_at(block, at + 8) & 0xffffffffu;
			const std::uint64_t who = tid | static_cast<std::uint64_t>(facts.process) << 32;
			std::memcpy(block + at + 8, &who, sizeof who);
		} else {
			++facts.tokens;
		}
		at += 8 + 8u * words_of(words, id);
	}
	edc_block header{};
	header.magic = EDC_BLOCK_MAGIC;
	std::copy(facts.uuid.begin(), facts.uuid.end(), header.uuid);
	header.stream_instance_id = facts.stream;
	header.timestamp_begin = begin;
	header.timestamp_end = time;
	header.content_size = at * 8;
	header.packet_size = EDC_BLOCK_SIZE * 8;
	header.packet_seq_num = facts.sequence;
	// A count that steps back, or is larger than can be, is not one; the one that was told holds.
	if (untrusted.events_discarded >= facts.discarded && untrusted.events_discarded <= facts.most_discarded)
		facts.discarded = untrusted.events_discarded;
	header.events_discarded = facts.discarded;
	header.cpu_id = facts.cpu;
	header.level = EDC_LEVEL_USER;
	header.tid = facts.one_thread ? facts.process : untrusted.tid;
	header.process = facts.process;
	std::memcpy(block, &header, sizeof header);
	facts.last_time = time;
	return wrong;
}

} // namespace monitor::card
