// SPDX-License-Identifier: MIT
// Which events of programs a recording keeps (record --filter) and counts (--count): programs post all of theirs, the
// drain leaves out those that the matcher rejects, and counts them by class. Called by user_drain.cpp, on what was
// validated; under the lock of the card. Invariant: `thread` tokens, without which no event names its thread, are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/event_matcher.h"
#include "user_block.h"
#include "user_classes.h"

namespace monitor::card {

// The matcher for all classes that programs have declared so far.
using MakeMatcher = std::function<std::shared_ptr<const EventMatcher>(const std::vector<UserClass> &)>;

// Where an event was posted.
struct PostedAt {
	std::uint32_t cpu = EDC_CPU_UNKNOWN, tid = 0;
	std::uint64_t time = 0;
};

class UserFilter {
public:
	// Events of each --count.
	using Counts = std::array<std::uint64_t, EDC_MATCH_COUNTS>;

	// Empty: every event is kept.
	explicit UserFilter(MakeMatcher make) : make_(std::move(make)) {}

	bool filters() const { return static_cast<bool>(make_); }
	// Not under the lock: it may take a while.
	std::shared_ptr<const EventMatcher> make(const std::vector<UserClass> &classes) const { return make_(classes); }
	void set(std::shared_ptr<const EventMatcher> matcher) { matcher_ = std::move(matcher); }

	// `record`: a token and its payload. It is counted.
	bool keeps(const std::uint64_t *record, std::uint32_t payload_words, const PostedAt &at);

	// Leaves out of a validated block what is not kept. Returns how many; all is counted by count() only.
	std::uint64_t strip(std::byte *block, const WordsById &words);
	// Counts what the last strip() judged.
	void count();

	const std::map<std::uint32_t, std::uint64_t> &rejected() const { return rejected_; } // by id
	const Counts &counts() const { return counts_; }

private:
	bool judge(const std::uint64_t *record, std::uint32_t payload_words, const PostedAt &at, Counts &counts) const;

	MakeMatcher make_;
	std::shared_ptr<const EventMatcher> matcher_; // null: there are no classes yet
	std::map<std::uint32_t, std::uint64_t> rejected_;
	Counts counts_{};
	// Of the last strip():
	std::vector<std::uint32_t> stripped_; // ids
	Counts counted_{};
};

} // namespace monitor::card
