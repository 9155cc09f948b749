// SPDX-License-Identifier: MIT
// How far apart the clocks of two traces are, from messages between the machines: no message arrives before it was
// sent.
//
// Called by `monitor merge --sync`. The sending and the arrival of a message have the same key. Messages one way give a
// minimum offset, messages the other way a maximum; the result is the middle, the bound is half the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "reading/activities/keys.h"
#include "reading/events/trace.h"
#include "reading/filter/filter.h"

namespace monitor::collection {

// FDL, and names as in `monitor stat --key`.
struct MessageText {
	std::string send, receive, key;
};

// When each message was sent and received, by one trace's clock, in ns since the epoch.
struct Messages {
	static constexpr std::size_t most = 1'000'000;

	std::unordered_map<std::string, std::int64_t> sent, received; // by key; the first one counts
};

// Throws Refusal or Error.
Messages find_messages(trace::Trace &trace, const MessageText &text);

struct Offset {
	std::int64_t shift_ns = 0;             // to add to the other's times
	std::optional<std::uint64_t> bound_ns; // empty: messages went one way only
	std::size_t forth = 0, back = 0;       // messages from the first to the other, and back
};

// Throws Error: no messages, or no offset that lets all arrive after they were sent.
Offset offset_between(const Messages &first, const Messages &other, const std::string &name);

} // namespace monitor::collection
