// SPDX-License-Identifier: MIT
// Messages of a clock exchange: the agent asks at t1, the collector receives at t2 and answers at t3, the agent
// receives at t4.
//
// A question carries the times of the previous exchange, so the collector learns all four. t1 and t4 are ticks of the
// host's trace clock, t2 and t3 ns since the epoch by the collector's reference clock. Untrusted on both sides.
//
// The collector may relay a question to another host, as a number; that host reports when it received it. This compares
// the clocks of two hosts without the collector's (fleet/collector/clock_relays.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "batch.h"

namespace monitor::fleet {

struct ClockTimes {
	std::uint64_t t1 = 0, t2 = 0, t3 = 0, t4 = 0;
};

struct HostClock {
	bool is_tsc = true; // else CLOCK_MONOTONIC, in ns
	std::uint64_t frequency_hz = 0;
	Uuid boot{};
};

struct ClockQuestion {
	HostClock clock;
	std::uint64_t t1 = 0;
	bool has_last = false;
	ClockTimes last;
};

struct ClockAnswer {
	std::uint64_t t1 = 0, t2 = 0, t3 = 0; // t1: from the question
};

// When a host received the relayed question of this number.
struct ClockReceipt {
	HostClock clock;
	std::uint64_t number = 0, received = 0;
};

std::vector<std::byte> encode_clock_question(const ClockQuestion &question);
std::vector<std::byte> encode_clock_answer(const ClockAnswer &answer);
// False: invalid; sets `why`. Accepted exchanges have t1 <= t4 and t2 <= t3, and a frequency from 1 MHz to 1 THz.
bool decode_clock_question(std::span<const std::byte> untrusted, ClockQuestion &question, std::string &why);
bool decode_clock_answer(std::span<const std::byte> untrusted, ClockAnswer &answer, std::string &why);

std::vector<std::byte> encode_clock_relay(std::uint64_t number);
std::vector<std::byte> encode_clock_receipt(const ClockReceipt &receipt);
// nullopt: another kind of message.
std::optional<std::uint64_t> decode_clock_relay(std::span<const std::byte> untrusted);
std::optional<ClockReceipt> decode_clock_receipt(std::span<const std::byte> untrusted);

} // namespace monitor::fleet
