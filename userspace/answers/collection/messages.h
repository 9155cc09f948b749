// SPDX-License-Identifier: MIT
// What messages between two machines prove about their clocks: no message arrives before it was sent.
// The sending and the arrival of a message have the same key. Messages in one direction give a lower bound of the
// other's clock, messages in the other direction an upper bound; lines_of() (clock_lines.h) makes lines of both.
// Messages in one direction only give one end of a constant offset, without a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "clock_lines.h"
#include "reading/activities/keys.h"
#include "reading/events/event_order.h"
#include "reading/events/trace.h"

namespace monitor::collection {

// FDL, and names as in `monitor stat --key`.
struct MessageText {
	std::string send, receive, key;
};

// When each message was sent and received, and where.
struct Messages {
	static constexpr std::size_t max_messages = 1'000'000;

	std::unordered_map<std::string, trace::EventOrder::Instant> sent, received; // by key; the first one counts
};

// Throws ParseError or Error.
Messages find_messages(trace::Trace &trace, const MessageText &text);

// The messages as samples of the other's clock relative to the first one's.
struct Exchanged {
	ClockSamples samples;            // of the other's ticks
	std::size_t forth = 0, back = 0; // messages from the first to the other, and back
};
Exchanged exchanged(const Messages &first, const trace::Clock &first_clock, const Messages &other);

// An offset to add to the other's times.
struct Offset {
	std::int64_t shift_ns = 0;
	std::optional<std::uint64_t> bound_ns; // empty: unknown
};
// The offset at which no message arrives before it was sent, if all went in one direction.
Offset offset_of(const ClockSamples &one_way, const trace::Clock &clock);
// The best constant offset for all times of the lines, for readers that do not know lines. It has a bound if all
// `times`, in ticks, are between nodes with one.
Offset offset_of(const ClockLines &lines, const trace::Clock &clock, std::pair<std::uint64_t, std::uint64_t> times);
// The largest time by which a message arrives before it was sent, by a clock with this offset; 0: none does.
std::uint64_t contradiction_ns(const ClockSamples &samples, const trace::Clock &clock, std::int64_t shift_ns);

} // namespace monitor::collection
