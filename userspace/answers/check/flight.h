// SPDX-License-Identifier: MIT
// A flight recorder's snapshot: whether all that its rings had between their first and their last block is in it. Each
// block begins with the number of tokens that its ring had so far (block_tokens), counted by the card as it wrote them;
// what is older than the first block is overwritten. Part of check.cpp, which feeds it every event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"

namespace monitor::check {

class FlightCheck {
public:
	explicit FlightCheck(const trace::Description &description);

	void event(const trace::Event &event);
	void judge(const RecordingInfo &info, Statements &statements) const;

private:
	struct Ring {
		std::string name;
		bool is_known = false;
		std::uint64_t first = 0, expected = 0; // tokens so far, at its first block and now
		std::uint64_t missing = 0, surplus = 0, blocks = 0;
	};

	std::vector<Ring> rings_;            // by stream
	std::vector<trace::FieldRef> count_; // by class index: of block_tokens
	std::uint64_t user_events_ = 0;
};

} // namespace monitor::check
