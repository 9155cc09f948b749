// SPDX-License-Identifier: MIT
#include "clock_message.h"

#include <algorithm>
#include <cstring>

namespace monitor::fleet {
namespace {

constexpr std::uint32_t question_magic = 0x3151464d, clock_answer_magic = 0x3154464d; // MFQ1, MFT1
constexpr std::uint32_t relay_magic = 0x3152464d, receipt_magic = 0x3143464d;         // MFR1, MFC1
constexpr std::uint64_t min_frequency_hz = 1'000'000, max_frequency_hz = 1'000'000'000'000;

struct WireQuestion {
	std::uint32_t magic;
	std::uint8_t is_tsc, has_last, pad[2];
	std::uint8_t boot[16];
	std::uint64_t frequency_hz, t1, last[4];
};
static_assert(sizeof(WireQuestion) == 72);

struct WireClockAnswer {
	std::uint32_t magic, pad;
	std::uint64_t t1, t2, t3;
};
static_assert(sizeof(WireClockAnswer) == 32);

struct WireRelay {
	std::uint32_t magic, pad;
	std::uint64_t number;
};
static_assert(sizeof(WireRelay) == 16);

struct WireReceipt {
	std::uint32_t magic;
	std::uint8_t is_tsc, pad[3];
	std::uint8_t boot[16];
	std::uint64_t frequency_hz, number, received;
};
static_assert(sizeof(WireReceipt) == 48);

bool is_frequency(std::uint64_t hz)
{
	return hz >= min_frequency_hz && hz <= max_frequency_hz;
}

template <class Wire> std::vector<std::byte> bytes_of(const Wire &wire)
{
	std::vector<std::byte> bytes(sizeof wire);
	std::memcpy(bytes.data(), &wire, sizeof wire);
	return bytes;
}

} // namespace

std::vector<std::byte> encode_clock_question(const ClockQuestion &question)
{
	WireQuestion wire{};
	wire.magic = question_magic;
	wire.is_tsc = question.clock.is_tsc;
	wire.has_last = question.has_last;
	std::ranges::copy(question.clock.boot, wire.boot);
	wire.frequency_hz = question.clock.frequency_hz;
	wire.t1 = question.t1;
	wire.last[0] = question.last.t1;
	wire.last[1] = question.last.t2;
	wire.last[2] = question.last.t3;
	wire.last[3] = question.last.t4;
	return bytes_of(wire);
}

std::vector<std::byte> encode_clock_answer(const ClockAnswer &answer)
{
	return bytes_of(WireClockAnswer{clock_answer_magic, 0, answer.t1, answer.t2, answer.t3});
}

bool decode_clock_question(std::span<const std::byte> untrusted, ClockQuestion &question, std::string &why)
{
	WireQuestion wire;
	if (untrusted.size() != sizeof wire ||
	    std::memcmp(untrusted.data(), &question_magic, sizeof question_magic) != 0) {
		why = "it is not a clock question of this version";
		return false;
	}
	std::memcpy(&wire, untrusted.data(), sizeof wire);
	question.clock.is_tsc = wire.is_tsc;
	question.clock.frequency_hz = wire.frequency_hz;
	std::ranges::copy(wire.boot, question.clock.boot.begin());
	question.t1 = wire.t1;
	question.has_last = wire.has_last;
	question.last = {wire.last[0], wire.last[1], wire.last[2], wire.last[3]};
	if (!is_frequency(wire.frequency_hz)) {
		why = "its clock has an impossible frequency";
		return false;
	}
	if (wire.has_last && (question.last.t1 > question.last.t4 || question.last.t2 > question.last.t3 ||
			      question.last.t4 > question.t1)) {
		why = "its times are not in order";
		return false;
	}
	return true;
}

bool decode_clock_answer(std::span<const std::byte> untrusted, ClockAnswer &answer, std::string &why)
{
	WireClockAnswer wire;
	if (untrusted.size() != sizeof wire) {
		why = "it is not a clock answer of this version";
		return false;
	}
	std::memcpy(&wire, untrusted.data(), sizeof wire);
	if (wire.magic != clock_answer_magic || wire.t2 > wire.t3) {
		why = "it is not a clock answer of this version, or its times are not in order";
		return false;
	}
	answer = {wire.t1, wire.t2, wire.t3};
	return true;
}

std::vector<std::byte> encode_clock_relay(std::uint64_t number)
{
	return bytes_of(WireRelay{relay_magic, 0, number});
}

std::vector<std::byte> encode_clock_receipt(const ClockReceipt &receipt)
{
	WireReceipt wire{};
	wire.magic = receipt_magic;
	wire.is_tsc = receipt.clock.is_tsc;
	std::ranges::copy(receipt.clock.boot, wire.boot);
	wire.frequency_hz = receipt.clock.frequency_hz;
	wire.number = receipt.number;
	wire.received = receipt.received;
	return bytes_of(wire);
}

std::optional<std::uint64_t> decode_clock_relay(std::span<const std::byte> untrusted)
{
	WireRelay wire;
	if (untrusted.size() != sizeof wire)
		return std::nullopt;
	std::memcpy(&wire, untrusted.data(), sizeof wire);
	return wire.magic == relay_magic ? std::optional(wire.number) : std::nullopt;
}

std::optional<ClockReceipt> decode_clock_receipt(std::span<const std::byte> untrusted)
{
	WireReceipt wire;
	if (untrusted.size() != sizeof wire)
		return std::nullopt;
	std::memcpy(&wire, untrusted.data(), sizeof wire);
	if (wire.magic != receipt_magic || !is_frequency(wire.frequency_hz))
		return std::nullopt;
	ClockReceipt receipt{{wire.is_tsc != 0, wire.frequency_hz, {}}, wire.number, wire.received};
	std::ranges::copy(wire.boot, receipt.clock.boot.begin());
	return receipt;
}

} // namespace monitor::fleet
