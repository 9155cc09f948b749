// SPDX-License-Identifier: MIT
// POET's cursor in traces of another layout: packets of any size, packets without times, values that
// walks save, and memory that stays bounded.
#include <catch2/catch.hpp>

#include "poet_samples.h"

namespace test_poet_generic {

using namespace poet_samples;

namespace {

const std::string types = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
clock { name = c; freq = 1000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
)";
const std::string no_times =
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "stream { event.header := struct { u8 id; stamp timestamp; }; };\n";
const std::string with_times =
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "stream { packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u64 content_size;"
    " u64 packet_size; u64 events_discarded; u32 cpu_id; };\n"
    "event.header := struct { u8 id; stamp timestamp; }; };\n";
const std::string no_times_but_sizes =
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "stream { packet.context := struct { u64 content_size; u64 packet_size; };\n"
    "event.header := struct { u8 id; stamp timestamp; }; };\n";
const std::string events = "event { name = \"plain\"; id = 0; fields := struct { u32 arg; }; };\n"
			   "event { name = \"counted\"; id = 1; fields := struct { u32 arg; u8 count; u16 list[count];"
			   " struct { u8 x; u32 y; } point; string text; }; };\n";

template <class T> void put(std::string &out, T value)
{
	out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

// What packets say of themselves.
enum class Said { nothing, size, all };

// Packets of `per_packet` events; a single packet if its size is not in it.
std::string stream_bytes(std::mt19937 &random, int count, int per_packet, std::uint32_t cpu, Said reported)
{
	std::string out, packet;
	std::uint64_t time = 100 + random() % 10, begin = time, lost = 0;
	const auto close = [&] {
		if (packet.empty())
			return;
		put(out, std::uint32_t(0xC1FC1FC1));
		if (reported == Said::size) {
			const std::uint64_t bits = (packet.size() + 4 + 2 * 8) * 8;
			put(out, bits);
			put(out, bits);
		}
		if (reported == Said::all) {
			const std::uint64_t bits = (packet.size() + 4 + 5 * 8 + 4) * 8;
			for (const std::uint64_t word : {begin, time, bits, bits, lost})
				put(out, word);
			put(out, cpu);
		}
		out += packet;
		packet.clear();
	};
	for (int i = 0; i < count; ++i) {
		if (per_packet > 0 && i % per_packet == 0) {
			close();
			lost += random() % 3 == 0 ? 2 : 0;
			begin = time;
		}
		time += random() % 3;
		const unsigned list = random() % 4;
		put(packet, std::uint8_t(random() % 2));
		put(packet, time);
		put(packet, std::uint32_t(i));
		if (packet[packet.size() - 13] == 0)
			continue;
		put(packet, std::uint8_t(list));
		for (unsigned n = 0; n < list; ++n)
			put(packet, std::uint16_t(1000 * n + i % 1000));
		put(packet, std::uint8_t(i % 256));
		put(packet, std::uint32_t(i * 2));
		packet += "text " + std::to_string(i) + '\0';
	}
	close();
	return out;
}

void write_trace(const Directory &directory, int count, int per_packet, unsigned streams, bool has_packet_times = true)
{
	const Said reported = per_packet == 0 ? Said::nothing : has_packet_times ? Said::all : Said::size;
	const std::string &head = reported == Said::nothing ? no_times
				  : has_packet_times        ? with_times
							    : no_times_but_sizes;
	std::mt19937 random(static_cast<unsigned>(count + per_packet));
	directory.write("metadata", types + head + events);
	for (unsigned i = 0; i < streams; ++i)
		directory.write("s" + std::to_string(i), stream_bytes(random, count, per_packet, i, reported));
}

// Whether all values of an event are those that stream_bytes() made of its number.
bool is_whole(const poet::Event &event, const poet::Field &list)
{
	const auto i = event.get<std::uint32_t>("arg");
	if (!i || event.name() == "plain")
		return i && !event.has(list) && !event.has("point.x") && !event.get<int>("count");
	const auto values = event.values(list);
	bool good = event.get<std::size_t>("count") == values.size() && !event.get<std::uint64_t>("list");
	for (std::size_t n = 0; n < values.size(); ++n)
		good = good && values[n] == poet::Value(std::uint64_t(std::uint16_t(1000 * n + *i % 1000)));
	return good && event.get<std::uint8_t>("point.x") == *i % 256 &&
	       event.get<std::uint32_t>("point.y") == *i * 2 &&
	       event.get<std::string_view>("text") == "text " + std::to_string(*i);
}

std::vector<Shown> walked(const poet::Trace &trace, bool forward, std::size_t &not_whole)
{
	const poet::Field value = trace.field("arg"), list = trace.field("list");
	poet::Cursor cursor(trace);
	if (!forward)
		cursor.to_end();
	std::vector<Shown> shown;
	while ((forward ? cursor.next() : cursor.previous()) != poet::Item::none) {
		shown.push_back(show(cursor, value));
		if (cursor.item() == poet::Item::event && !is_whole(cursor.event(), list))
			++not_whole;
	}
	return shown;
}

} // namespace

TEST_CASE("poet: packets of any size, with times or without, read the same from both sides")
{
	std::vector<StreamWriter> none;
	for (const int per_packet : {0, 1, 7, 900, 20000}) {
		const Directory directory(none);
		write_trace(directory, 30000, per_packet, 3);
		const poet::Trace trace(directory.path());
		auto expected = merged(directory.path());
		REQUIRE(expected.size() >= 90000);
		std::size_t not_whole = 0;
		CHECK(walked(trace, true, not_whole) == expected);
		std::reverse(expected.begin(), expected.end());
		CHECK(walked(trace, false, not_whole) == expected);
		CHECK(not_whole == 0);
		visit(trace,
		      [&](const poet::Event &event) { not_whole += is_whole(event, trace.field("list")) ? 0 : 1; });
		CHECK(not_whole == 0);
	}
}

TEST_CASE("poet: a packet of many windows, there and back with one cursor")
{
	std::vector<StreamWriter> none;
	const Directory directory(none);
	write_trace(directory, 300000, 0, 1);
	const poet::Trace trace(directory.path());
	const poet::Field value = trace.field("arg");
	const auto expected = merged(directory.path());
	poet::Cursor cursor(trace);
	std::size_t wrong = 0;
	for (const Shown &shown : expected)
		wrong += cursor.next() != poet::Item::none && show(cursor, value) == shown ? 0 : 1;
	CHECK(cursor.next() == poet::Item::none);
	for (std::size_t i = expected.size(); i-- > 0;)
		wrong += cursor.previous() != poet::Item::none && show(cursor, value) == expected[i] ? 0 : 1;
	CHECK(cursor.previous() == poet::Item::none);
	for (const Shown &shown : expected)
		wrong += cursor.next() != poet::Item::none && show(cursor, value) == shown ? 0 : 1;
	cursor.to_end();
	for (std::size_t i = expected.size(); i-- > 0;)
		wrong += cursor.previous() != poet::Item::none && show(cursor, value) == expected[i] ? 0 : 1;
	CHECK(wrong == 0);
}

TEST_CASE("poet: many streams with windows of few items")
{
	std::vector<StreamWriter> none;
	for (const int per_packet : {0, 1000}) {
		const Directory directory(none);
		write_trace(directory, 1000, per_packet, 300); // of each, some 500 items fit
		const poet::Trace trace(directory.path());
		auto expected = merged(directory.path());
		std::size_t not_whole = 0;
		CHECK(walked(trace, true, not_whole) == expected);
		std::reverse(expected.begin(), expected.end());
		CHECK(walked(trace, false, not_whole) == expected);
		CHECK(not_whole == 0);
	}
}

TEST_CASE("poet: a seek finds events where packets do not tell their times, as the merge does")
{
	std::vector<StreamWriter> none;
	for (const bool has_packet_times : {false, true}) {
		const Directory directory(none);
		write_trace(directory, 20000, 100, 2, has_packet_times);
		const poet::Trace trace(directory.path());
		const poet::Field value = trace.field("arg");
		const auto expected = merged(directory.path());
		poet::Cursor cursor(trace);
		for (std::size_t i = 0; i < expected.size(); i += 1777) {
			std::size_t first = i;
			while (first > 0 && expected[first - 1].time >= expected[i].time)
				--first;
			cursor.seek(expected[i].time);
			CHECK(show(cursor, value) == expected[first]);
			CHECK(merged(directory.path(), {expected[i].time, ~std::uint64_t(0)}).size() >=
			      expected.size() - first);
			CHECK(cursor.position() ==
			      std::size_t(std::count_if(expected.begin(), expected.begin() + std::ptrdiff_t(first),
							[](const Shown &s) { return s.is_event; })));
		}
	}
}

} // namespace test_poet_generic
