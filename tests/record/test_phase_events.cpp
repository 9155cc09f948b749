// SPDX-License-Identifier: MIT
// Events of threads in parts of a recording (recording/calibration/phase_events.h), counted in blocks as the drain
// thread shows them.
#include <array>
#include <cstring>

#include <catch2/catch.hpp>

#include "monitor/card.h"
#include "recording/calibration/phase_events.h"

namespace test_phase_events {

namespace {

using monitor::record::PhaseEvents;

// A block of a CPU in which `first` runs until a switch.
class Block {
public:
	Block(std::uint64_t begin, std::uint32_t first, std::uint32_t level = 0)
	{
		edc_block header{};
		header.timestamp_begin = begin;
		header.tid = first;
		header.level = level;
		std::memcpy(bytes_.data(), &header, sizeof header);
	}

	Block &call(std::uint64_t time) { return add(time, {edc_token(EDC_ID_SYS_ENTER, EDC_MODE_KERNEL, time, 39)}); }
	Block &switch_to(std::uint64_t time, std::uint64_t next)
	{
		return add(time, {edc_token(EDC_ID_SCHED_SWITCH, EDC_MODE_KERNEL, time, 0), next << 32});
	}
	void show(PhaseEvents &events)
	{
		edc_block header;
		std::memcpy(&header, bytes_.data(), sizeof header);
		header.timestamp_end = end_;
		header.content_size = at_ * 8;
		std::memcpy(bytes_.data(), &header, sizeof header);
		events.count_block(bytes_.data());
	}

private:
	Block &add(std::uint64_t time, std::initializer_list<std::uint64_t> words)
	{
		for (const std::uint64_t word : words) {
			std::memcpy(bytes_.data() + at_, &word, sizeof word);
			at_ += sizeof word;
		}
		end_ = time;
		return *this;
	}

	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> bytes_{};
	std::size_t at_ = EDC_BLOCK_HEADER;
	std::uint64_t end_ = 0;
};

std::uint64_t sum(const std::map<unsigned, std::uint64_t> &events)
{
	std::uint64_t sum = 0;
	for (const auto &[id, number] : events)
		sum += number;
	return sum;
}

} // namespace

TEST_CASE("events of a part are those of its threads between its times", "[phases]")
{
	const std::uint64_t start = (5ull << 32) - 1000; // the low half wraps in the block
	PhaseEvents events;
	const std::size_t part = events.begin(start + 100);
	Block block(start, 7);
	block.call(start + 50).call(start + 150).switch_to(start + 200, 8).call(start + 1500);
	block.switch_to(start + 1600, 7).call(start + 1700).call(start + 2000);
	block.show(events);
	events.end(start + 2000);
	CHECK(events.events_of(part, {7}) ==
	      std::map<unsigned, std::uint64_t>{{EDC_ID_SYS_ENTER, 3}, {EDC_ID_SCHED_SWITCH, 1}});
	CHECK(events.events_of(part, {8}) ==
	      std::map<unsigned, std::uint64_t>{{EDC_ID_SYS_ENTER, 1}, {EDC_ID_SCHED_SWITCH, 1}});
	CHECK(sum(events.events_of(part, {7, 8})) == 6);
	CHECK(events.events_of(part, {9}).empty());
}

TEST_CASE("blocks between the parts, and those of nested probes, are not counted", "[phases]")
{
	PhaseEvents events;
	const std::size_t first = events.begin(100);
	events.end(200);
	const std::size_t second = events.begin(300);
	Block(210, 7).call(220).call(290).show(events);
	Block(150, 7, 1).call(160).show(events);
	Block(150, 7).call(199).call(200).call(299).call(300).show(events); // in both
	CHECK(sum(events.events_of(first, {7})) == 1);
	CHECK(sum(events.events_of(second, {7})) == 1);
	Block(400, 7).call(450).show(events); // the part goes on
	events.end(500);
	Block(450, 7).call(499).call(500).show(events);
	CHECK(sum(events.events_of(second, {7})) == 3);
}

} // namespace test_phase_events
