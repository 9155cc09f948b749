// SPDX-License-Identifier: MIT
// The two parts of a cursor by themselves: the packets in their order, and the events of one packet.
#include <catch2/catch.hpp>

#include "reading/events/decoder.h"
#include "reading/events/packet_reader.h"
#include "samples.h"

namespace test_packet_reader {

using namespace monitor::trace;
using samples::StreamWriter;

namespace {

StreamWriter four()
{
	StreamWriter writer(2, 1);
	for (std::uint64_t begin = 100; begin <= 400; begin += 100) {
		writer.open(begin);
		writer.post(begin, 256, 1);
		writer.post(begin + 10, 257, 2, {3});
	}
	return writer;
}

edc_block &header(std::span<std::byte> bytes, std::size_t packet)
{
	return *reinterpret_cast<edc_block *>(bytes.data() + packet * EDC_BLOCK_SIZE);
}

} // namespace

TEST_CASE("packet reader: each good packet, and what is missing before it")
{
	auto writer = four();
	const auto bytes = writer.bytes();
	header(bytes, 1).magic = 0;
	header(bytes, 3).events_discarded = 7;
	const Stream stream("s", bytes, samples::uuid);
	Problems problems;
	PacketReader packets(stream, problems, 50);
	packets.start_at(0);

	REQUIRE(packets.open_next(0));
	CHECK(packets.number() == 0);
	CHECK(packets.head().begin == 100);
	CHECK(packets.end_time() == 110);
	CHECK(packets.gap().lost == 0);

	REQUIRE(packets.open_next(110));
	CHECK(packets.number() == 2);
	CHECK(packets.gap().from_time == 110);
	CHECK(packets.gap().to_time == 300);
	CHECK(packets.gap().lost == unknown_count);
	CHECK(problems.total() == 1);

	REQUIRE(packets.open_next(305));
	CHECK(packets.gap().lost == 7);
	CHECK(packets.gap().from_time == 310); // the end of the packet before it
	CHECK_FALSE(packets.open_next(410));
	CHECK_FALSE(packets.finish(410));
}

TEST_CASE("packet reader: a packet that begins before the last event is skipped, which is a gap at the end")
{
	auto writer = four();
	const Stream stream("s", writer.bytes(), samples::uuid);
	Problems problems;
	PacketReader packets(stream, problems, 0);
	packets.start_at(3);
	CHECK(packets.follows_in_order(3));
	packets.start_at(2);
	REQUIRE(packets.open_next(0));
	CHECK_FALSE(packets.open_next(401));
	CHECK(problems.kept().back().message == "the packet begins before the last event of the previous packet");
	REQUIRE(packets.finish(401));
	CHECK(packets.gap().from_time == 401);
	CHECK(packets.gap().lost == unknown_count);
	CHECK_FALSE(packets.finish(401)); // it is one gap
}

TEST_CASE("decoder: the events of a packet, until one is damaged")
{
	auto writer = four();
	const Stream stream("s", writer.bytes(), samples::uuid);
	const auto description = samples::description();
	Problems problems;
	PacketReader packets(stream, problems, 0);
	Decoder decoder(stream, *description);
	CHECK_FALSE(decoder.next());
	CHECK_FALSE(decoder.is_damaged());

	packets.start_at(1);
	REQUIRE(packets.open_next(0));
	REQUIRE(decoder.open(packets.head(), packets.end_time()));
	CHECK(decoder.time() == 200);
	REQUIRE(decoder.next());
	Decoder other = decoder.copy();
	REQUIRE(decoder.next());
	CHECK(decoder.event().cls->name == "pair");
	CHECK(decoder.time() == 210);
	CHECK_FALSE(decoder.next());
	CHECK_FALSE(decoder.is_damaged());
	REQUIRE(other.next());
	CHECK(other.time() == 210);

	REQUIRE(decoder.open(packets.head(), 205)); // as if the packet ended before its last event
	REQUIRE(decoder.next());
	CHECK_FALSE(decoder.next());
	REQUIRE(decoder.is_damaged());
	CHECK(decoder.offset() == EDC_BLOCK_SIZE + EDC_BLOCK_HEADER + 8);
	CHECK(decoder.why_damaged() == "the event's time steps back or is after the packet's end");
	CHECK_FALSE(decoder.can_resume());
	decoder.skip_damage();
	CHECK_FALSE(decoder.is_damaged());
}

} // namespace test_packet_reader
