// SPDX-License-Identifier: MIT
// Whatever a process may leave in its ring, and whatever it says of its classes: the block test, the merge of several
// rings, the shared ring, the parser of the classes' texts. The input's first byte picks a content size; then block
// after block. It is also a class's name and fields, as in a handshake.
#include <algorithm>
#include <cstring>

#include "recording/user_card/user_block.h"
#include "recording/user_card/user_classes.h"
#include "recording/user_card/user_merge.h"

using namespace monitor::card;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), std::min<std::size_t>(size, 400));
	const std::string_view name = text.substr(0, text.find('\0'));
	const std::string_view fields = text.substr(std::min(name.size() + 1, text.size()));
	std::string why;
	if (const auto cls = parse_user_class(name, fields.substr(0, fields.find('\0')), why))
		if (cls->words() > EDC_MAX_WORDS || cls->words() != words_of_user_class(fields) ||
		    std::ranges::any_of(name, [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\'; }))
			std::abort();

	WordsById words;
	words.fill(unknown_class);
	words[EDC_ID_THREAD] = 1;
	for (unsigned id = 1024; id < 1032; ++id)
		words[id] = static_cast<std::uint8_t>(id - 1024);
	constexpr std::uint64_t now = 1ull << 44;
	UserRingInfo rings[2];
	rings[1].process = 1;
	MergedStream merged(rings[0]);
	std::uint64_t last = 0, taken = 0, packed = 0;
	const auto push = [&](std::uint32_t, const std::byte *bytes) {
		edc_block header;
		std::memcpy(&header, bytes, sizeof header);
		if (header.timestamp_begin < last || header.timestamp_end < header.timestamp_begin ||
		    header.content_size > EDC_BLOCK_SIZE * 8)
			std::abort();
		last = header.timestamp_end;
		UserRingInfo again;
		again.discarded = header.events_discarded;
		alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy;
		std::memcpy(copy.data(), bytes, copy.size());
		if (validate_user_block(copy.data(), header.content_size / 8, now, words, again))
			std::abort(); // what was merged is as good as what came in
		packed += again.tokens;
		return true;
	};
	for (std::size_t at = 1; at < size; at += EDC_BLOCK_SIZE) {
		alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block{};
		std::memcpy(block.data(), data + at, std::min<std::size_t>(EDC_BLOCK_SIZE, size - at));
		UserRingInfo &info = rings[std::to_integer<unsigned>(block[4]) & 1];
		const std::uint64_t content = data[0] ? data[0] * 16ull : EDC_BLOCK_SIZE;
		const UserRingInfo before = info;
		validate_user_block(block.data(), content, now, words, info);
		if (info.last_time < before.last_time || info.last_time > now || info.discarded < before.discarded)
			std::abort();
		taken += merged.add(block.data(), EDC_BLOCK_HEADER, words);
		merged.pack(info.last_time, false, push); // too early, so that times would step back
	}
	alignas(EDC_BLOCK_SIZE) std::array<std::uint64_t, 2 * EDC_USER_BLOCK_WORDS> memory{};
	std::memcpy(memory.data(), data, std::min(size, sizeof memory));
	SharedRing shared(reinterpret_cast<edc_user_ring *>(memory.data()), 1, 0,
			  [](std::uint32_t tid) { return tid % 2 == 0; });
	const bool waits = size && data[0] & 1;
	for (const bool over : {!waits, true}) {
		shared.take({[] { return now; }, over, 1}, words, [&](const SharedRecord &record) {
			if (record.words > 1 + EDC_MAX_WORDS || record.time > now + 1'000'000)
				std::abort();
			SharedRecord kept = record;
			kept.time = std::min(record.time, now);
			merged.add(kept, 1);
			++taken;
		});
	}
	merged.pack(~0ull, true, push);
	if (!merged.empty() || packed != taken)
		std::abort();
	return 0;
}
