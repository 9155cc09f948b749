// SPDX-License-Identifier: MIT
// For a flight recorder's snapshot: whether it has all tokens that its rings had between their first and last block.
// Each block begins with the ring's number of tokens so far (block_tokens), counted by the card when writing; tokens
// before the first block are overwritten. Part of check.cpp, which feeds it every event.
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
		std::uint64_t first = 0, expected = 0; // number of tokens at its first block, and now
		std::uint64_t missing = 0, surplus = 0, blocks = 0;
	};

	std::vector<Ring> rings_;            // by stream
	std::vector<trace::FieldRef> count_; // by class index: fields of block_tokens
	std::uint64_t user_events_ = 0;
};

} // namespace monitor::check
