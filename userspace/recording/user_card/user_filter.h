// SPDX-License-Identifier: MIT
// Which events of programs a recording keeps (record --filter) and counts (--count), and which its triggers wait for:
// programs post all of theirs, the drain leaves out those that the matcher rejects, and counts them by class. Works on
// validated blocks, under the lock of the card. Invariant: `thread` tokens, without which no event names its thread,
// are kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/event_matcher.h"
#include "user_block.h"
#include "user_classes.h"
#include "user_triggers.h"

namespace monitor::card {

// The matcher for all classes that programs have declared so far.
using MakeMatcher = std::function<std::shared_ptr<const EventMatcher>(const std::vector<UserClass> &)>;

// Each record of a validated block: call(event, payload words, byte that it begins at).
template <typename Call> void for_each_record(const std::byte *block, const WordsById &words, const Call &call)
{
	const edc_block header = header_of(block);
	PostedEvent event{{header.cpu_id, header.tid, header.process, header.timestamp_begin}, {}};
	for (std::uint64_t from = EDC_BLOCK_HEADER; from < header.content_size / 8;) {
		event.record[0] = word_at(block, from);
		const std::uint32_t id = edc_token_id(event.record[0]), payload = words_of(words, id);
		std::memcpy(event.record.data(), block + from, 8 + 8u * payload);
		std::fill(event.record.begin() + 1 + payload, event.record.end(), 0);
		event.at.time += edc_token_time(event.record[0]) - static_cast<std::uint32_t>(event.at.time);
		if (id == EDC_ID_THREAD)
			event.at.tid = static_cast<std::uint32_t>(event.record[1]);
		call(event, payload, from);
		from += 8 + 8u * payload;
	}
}

class UserFilter {
public:
	// Events of each --count.
	using Counts = std::array<__u64, EDC_MATCH_COUNTS>;

	// Empty: every event is kept.
	explicit UserFilter(MakeMatcher make) : make_(std::move(make)) {}

	bool filters() const { return static_cast<bool>(make_); }
	// Not under the lock: it may take a while.
	std::shared_ptr<const EventMatcher> make(const std::vector<UserClass> &classes) const { return make_(classes); }
	void set(std::shared_ptr<const EventMatcher> matcher)
	{
		matcher_ = std::move(matcher);
		triggers_.set(matcher_);
	}
	UserTriggers &triggers() { return triggers_; }
	const UserTriggers &triggers() const { return triggers_; }

	// Evaluates and counts the event. True: it is kept.
	bool keeps(const PostedEvent &event);

	// Removes rejected events from a validated block. Returns their number; count() counts afterwards.
	std::uint64_t strip(std::byte *block, const WordsById &words);
	// Counts the events of the last strip(); triggers have seen those before byte `from`.
	void count(std::uint64_t from);
	// Evaluates triggers for a validated block before it is taken, from byte `from` on.
	void evaluate_triggers(const std::byte *block, const WordsById &words, std::uint64_t from);

	const std::map<std::uint32_t, std::uint64_t> &rejected() const { return rejected_; } // by id
	const Counts &counts() const { return counts_; }

private:
	// `inputs`: of which triggers it is an input, as in UserTriggers::note().
	bool evaluate(const PostedEvent &event, Counts &counts, std::uint32_t &inputs) const;

	MakeMatcher make_;
	std::shared_ptr<const EventMatcher> matcher_; // null: there are no classes yet
	std::map<std::uint32_t, std::uint64_t> rejected_;
	Counts counts_{};
	// From the last strip():
	std::vector<std::uint32_t> stripped_; // ids
	Counts counted_{};
	struct Input {
		std::uint64_t offset; // its offset in the block
		std::uint32_t inputs;
		PostedEvent event;
	};
	std::vector<Input> inputs_;
	UserTriggers triggers_;
};

} // namespace monitor::card
