// SPDX-License-Identifier: MIT
// A flight recorder's rings: what a hold keeps and what is taken of it, while writers go on. The long run, by hand:
//   record_tests '[stress]'
#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include <catch2/catch.hpp>

#include "fake_card.h"
#include "monitor/block.h"
#include "monitor/token.h"
#include "recording/flight/flight_rings.h"

namespace test_flight_rings {

using namespace monitor::record;
using monitor::card::CardMemory;

namespace {

constexpr unsigned cpus = 2, levels_used = 2;
constexpr std::uint64_t ring_blocks = 96;
constexpr std::uint64_t end_time = 1'000'000'000'000;
constexpr unsigned in_block = (EDC_BLOCK_SIZE - EDC_BLOCK_HEADER - EDC_BLOCK_COUNTS_BYTES) / 16;

// What one hold gave of a ring: the words of its tokens must follow each other, except where its headers report losses.
struct Stream {
	std::uint64_t blocks = 0, first = 0, next = 0, reported = 0, begin = 0;
	std::uint64_t lost_until = 0; // of a loss that no token follows
	std::string wrong;

	void expect(bool holds, const char *what)
	{
		if (!holds && wrong.empty())
			wrong = what;
	}

	void take(const std::byte *block)
	{
		edc_block header;
		std::memcpy(&header, block, sizeof header);
		expect(header.magic == EDC_BLOCK_MAGIC, "a block without a magic");
		expect(header.packet_seq_num == blocks, "a block is missing");
		const std::uint64_t bytes = header.content_size / 8;
		expect(bytes >= EDC_BLOCK_HEADER && bytes <= EDC_BLOCK_SIZE, "a size that is none");
		const std::uint64_t lost = header.events_discarded - reported;
		reported = header.events_discarded;
		if (bytes > EDC_BLOCK_SIZE || bytes <= EDC_BLOCK_HEADER) {
			next += lost;
			lost_until = header.timestamp_begin;
			return;
		}
		std::uint64_t record[2];
		std::memcpy(record, block + EDC_BLOCK_HEADER, sizeof record);
		expect(edc_token_id(record[0]) == EDC_ID_BLOCK_TOKENS, "a block without its count");
		for (std::uint64_t at = EDC_BLOCK_HEADER + EDC_BLOCK_COUNTS_BYTES; at + 16 <= bytes; at += 16) {
			std::memcpy(record, block + at, sizeof record);
			expect(edc_token_id(record[0]) == EDC_ID_SCHED_WAKING &&
				   edc_token_arg(record[0]) == (record[1] & 0xffff),
			       "a torn token");
			if (blocks == 0 && at == EDC_BLOCK_HEADER + EDC_BLOCK_COUNTS_BYTES) {
				first = next = record[1];
				begin = header.timestamp_begin;
			} else if (at == EDC_BLOCK_HEADER + EDC_BLOCK_COUNTS_BYTES) {
				next += lost;
			}
			expect(record[1] == next, "tokens that do not follow each other");
			next = record[1] + 1;
		}
		++blocks;
	}
};

struct Taken {
	std::map<StreamNumber, Stream> streams;
	std::uint64_t room = ~std::uint64_t(0); // blocks that are still accepted

	FlightRings::Push push()
	{
		return [this](StreamNumber stream, const std::byte *block) {
			if (room == 0)
				return false;
			--room;
			streams[stream].take(block);
			return true;
		};
	}
	std::string wrong() const
	{
		for (const auto &[number, stream] : streams)
			if (!stream.wrong.empty())
				return stream.wrong;
		return "";
	}
};

StreamNumber stream_of(const CardMemory &card, unsigned cpu, unsigned level)
{
	return static_cast<StreamNumber>(card.area(cpu).level[level].ring.stream_instance_id);
}

void post_many(CardMemory &card, std::uint64_t from, std::uint64_t to)
{
	for (std::uint64_t word = from; word < to; ++word)
		REQUIRE(fake::post_in_flight(card, 0, 0, 10 * word, word));
}

} // namespace

TEST_CASE("a hold keeps what is newest, and the ring goes on")
{
	CardMemory card(fake::options(cpus, ring_blocks));
	FlightRings rings(card);
	const std::uint64_t blocks = card.area(0).level[0].ring.blocks;
	const std::uint64_t posted = 3 * blocks * in_block + 7;
	post_many(card, 0, posted);
	rings.begin(0);
	Taken taken;
	REQUIRE(rings.mark_end());
	REQUIRE(rings.take_rest(end_time, taken.push()));
	rings.release();
	const Stream &stream = taken.streams[stream_of(card, 0, 0)];
	CHECK(taken.wrong().empty());
	CHECK(taken.streams.size() == 1);
	CHECK(stream.next == posted); // the last one, too
	CHECK(stream.first == posted - 7 - (edc_ring_kept(blocks) - 2) * in_block);
	const RingPart &part = rings.parts().front();
	CHECK(part.overwritten == stream.first);
	CHECK(part.begin_time == 10 * stream.first);
	CHECK(rings.complete_since(0) == part.begin_time);
	CHECK(rings.complete_since(1) == 0);
	CHECK(rings.oldest_time() <= part.begin_time);
	post_many(card, posted, posted + 2 * blocks * in_block); // nothing is refused any more
	rings.begin(0);
	Taken again;
	REQUIRE(rings.mark_end());
	REQUIRE(rings.take_rest(end_time, again.push()));
	CHECK(again.wrong().empty());
	CHECK(again.streams[stream_of(card, 0, 0)].next == posted + 2 * blocks * in_block);
	rings.release();
	rings.begin(0);
	Taken same; // what one snapshot has, the next one may have, too
	REQUIRE(rings.mark_end());
	REQUIRE(rings.take_rest(end_time, same.push()));
	CHECK(same.streams[stream_of(card, 0, 0)].first == again.streams[stream_of(card, 0, 0)].first);
}

TEST_CASE("a trigger's hold keeps the past from when it began, however late the recorder comes")
{
	CardMemory card(fake::options(cpus, ring_blocks));
	FlightRings rings(card);
	const std::uint64_t blocks = card.area(0).level[0].ring.blocks, kept = edc_ring_kept(blocks);
	REQUIRE(blocks - kept > 4);                          // room for what comes meanwhile
	const std::uint64_t held_at = 3 * blocks * in_block; // the next token opens a block
	post_many(card, 0, held_at);
	card.area(0).reader.hold = 12'345;
	post_many(card, held_at, held_at + 4 * in_block);
	CHECK(rings.oldest_time() == 10 * (held_at - kept * in_block)); // what goes with it is kept, too
	rings.begin(0);
	Taken taken;
	REQUIRE(rings.mark_end());
	REQUIRE(rings.take_rest(end_time, taken.push()));
	const Stream &stream = taken.streams[stream_of(card, 0, 0)];
	CHECK(taken.wrong().empty());
	CHECK(stream.first == held_at - kept * in_block);
	CHECK(stream.next == held_at + 4 * in_block);
	CHECK(rings.parts().front().torn == 0);
}

TEST_CASE("blocks that ended before the wanted time are left out")
{
	CardMemory card(fake::options(cpus, ring_blocks));
	FlightRings rings(card);
	post_many(card, 0, 20 * in_block);
	rings.begin(10 * (12 * in_block + 3));
	Taken taken;
	REQUIRE(rings.mark_end());
	REQUIRE(rings.take_rest(end_time, taken.push()));
	CHECK(taken.streams[stream_of(card, 0, 0)].first == 12 * in_block);
	CHECK(rings.complete_since(0) == 0); // nothing that was wanted is missing
}

TEST_CASE("without room the rest waits, and what does not fit meanwhile is told")
{
	CardMemory card(fake::options(cpus, ring_blocks));
	FlightRings rings(card);
	const std::uint64_t blocks = card.area(0).level[0].ring.blocks;
	post_many(card, 0, 2 * blocks * in_block);
	rings.begin(0);
	Taken taken;
	taken.room = 3;
	CHECK_FALSE(rings.take(taken.push()));
	std::uint64_t word = 2 * blocks * in_block, refused = 0;
	for (; refused < 5; ++word)
		refused += !fake::post_in_flight(card, 0, 0, 10 * word, word);
	REQUIRE(rings.mark_end());
	CHECK_FALSE(rings.take_rest(end_time, taken.push()));
	taken.room = ~std::uint64_t(0);
	REQUIRE(rings.take_rest(end_time, taken.push()));
	rings.release();
	CHECK(taken.wrong().empty());
	CHECK(taken.streams[stream_of(card, 0, 0)].next == word);
	CHECK(rings.parts().front().discarded == 5);
	CHECK(taken.streams[stream_of(card, 0, 0)].lost_until == end_time); // nothing is known of the time since
	CHECK(rings.parts().front().torn == 0);
}

namespace {

struct Writers {
	CardMemory &card;
	std::atomic<bool> stop{false};
	std::array<std::atomic<std::uint64_t>, cpus * levels_used>
	    posted{}; // word of the last token that was stored, + 1
	std::vector<std::thread> threads;

	// `hold`: see post_in_flight().
	explicit Writers(CardMemory &of, const std::uint64_t *hold = nullptr) : card(of)
	{
		for (unsigned i = 0; i < posted.size(); ++i)
			threads.emplace_back([this, i, hold] {
				for (std::uint64_t word = 0; !stop.load(std::memory_order_relaxed); ++word)
					if (fake::post_in_flight(card, i / levels_used, i % levels_used, 10 * word,
								 word, hold))
						posted[i].store(word + 1, std::memory_order_release);
			});
	}
	~Writers()
	{
		stop = true;
		for (std::thread &thread : threads)
			thread.join();
	}
	std::uint64_t blocks() const
	{
		std::uint64_t sum = 0;
		for (const auto &of : posted)
			sum += of / in_block;
		return sum;
	}
};

// Holds the rings again and again while four writers run, until they have written this number of blocks.
void hold_under_load(std::uint64_t wanted_blocks)
{
	CardMemory card(fake::options(cpus, 4 * ring_blocks));
	FlightRings rings(card);
	Writers writers(card);
	std::uint64_t holds = 0, taken_blocks = 0, torn = 0, late = 0;
	for (; writers.blocks() < wanted_blocks; ++holds) {
		std::this_thread::sleep_for(std::chrono::microseconds(200 + holds % 7 * 300));
		std::array<std::uint64_t, cpus * levels_used> before;
		for (std::size_t i = 0; i < before.size(); ++i)
			before[i] = writers.posted[i].load(std::memory_order_acquire);
		rings.begin(0);
		std::array<std::uint64_t, cpus * levels_used> after; // this thread may have slept in between
		for (std::size_t k = 0; k < after.size(); ++k)
			after[k] = writers.posted[k].load(std::memory_order_acquire);
		Taken taken;
		for (std::uint64_t pass = 0; pass < holds % 4; ++pass)
			rings.take(taken.push());
		rings.mark_end();
		REQUIRE(rings.take_rest(end_time, taken.push()));
		rings.release();
		const std::string wrong = taken.wrong();
		INFO(wrong << " at hold " << holds);
		REQUIRE(wrong.empty());
		for (std::size_t i = 0; i < before.size(); ++i) {
			const Stream &stream =
			    taken.streams[stream_of(card, static_cast<unsigned>(i / levels_used), i % levels_used)];
			taken_blocks += stream.blocks;
			late += before[i] && !(stream.first < after[i] && before[i] <= stream.next);
		}
		for (const RingPart &part : rings.parts())
			torn += part.torn;
	}
	CHECK(late == 0); // what was stored before the hold is in the snapshot
	CHECK(torn == 0);
	CHECK(taken_blocks > holds);
	WARN(holds << " holds, " << writers.blocks() << " blocks written, " << taken_blocks << " taken");
}

} // namespace

TEST_CASE("a hold at full speed loses nothing of the past")
{
	hold_under_load(30'000);
}

TEST_CASE("ten million blocks under four writers", "[.][stress]")
{
	hold_under_load(10'000'000);
}

TEST_CASE("a block that its writer comes round to is dropped, never torn")
{
	CardMemory card(fake::options(cpus, ring_blocks));
	FlightRings rings(card);
	static const std::uint64_t no_hold = 0; // the writers do not see any
	Writers writers(card, &no_hold);
	std::uint64_t torn = 0, whole = 0;
	while (writers.blocks() < 100'000) {
		rings.begin(0);
		std::string wrong;
		const auto push = [&](StreamNumber, const std::byte *block) {
			Stream alone;
			edc_block header;
			std::memcpy(&header, block, sizeof header);
			alone.blocks = header.packet_seq_num;
			std::memcpy(&alone.next, block + EDC_BLOCK_HEADER + EDC_BLOCK_COUNTS_BYTES + 8, 8);
			alone.reported = header.events_discarded;
			alone.take(block);
			if (!alone.wrong.empty())
				wrong = alone.wrong;
			++whole;
			return true;
		};
		rings.take(push);
		rings.release();
		REQUIRE(wrong.empty());
		for (const RingPart &part : rings.parts())
			torn += part.torn;
	}
	CHECK(whole > 0);
	CHECK(torn > 0);
}

} // namespace test_flight_rings
