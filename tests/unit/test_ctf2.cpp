// SPDX-License-Identifier: MIT
// CTF 2: the examples of its specification and of LEB128 as bytes, what an origin or a role means, and what is refused.
// tests/ctf/ctf2.py has every field class with values of all kinds.
#include <catch2/catch.hpp>

#include "reading/ctf/field_text.h"
#include "reading/ctf/interpret.h"
#include "reading/ctf/metadata.h"
#include "reading/events/field_ref.h"
#include "reading/events/merge.h"

namespace test_ctf2 {

using namespace monitor::trace;

namespace {

const std::string preamble = "\x1e{\"type\": \"preamble\", \"version\": 2}";
const std::string stream = "\x1e{\"type\": \"data-stream-class\"}";

// A description with a stream class, and an event class with these members.
std::string with_members(const std::string &members)
{
	return preamble + stream +
	       "\x1e{\"type\": \"event-record-class\", \"name\": \"e\", \"payload-field-class\":"
	       " {\"type\": \"structure\", \"member-classes\": [" +
	       members + "]}}";
}

std::string member(const std::string &name, const std::string &type)
{
	return "{\"name\": \"" + name + "\", \"field-class\": " + type + "}";
}

std::string bits(const std::string &type, int length, const std::string &order, const std::string &more = "")
{
	return "{\"type\": \"fixed-length-" + type + "\", \"length\": " + std::to_string(length) +
	       ", \"byte-order\": \"" + order + "-endian\"" + more + "}";
}

std::shared_ptr<const Description> read(const std::string &text)
{
	std::string why;
	std::shared_ptr<const Description> made = read_description(text, why);
	INFO(why);
	REQUIRE(made);
	return made;
}

std::string refusal(const std::string &text)
{
	std::string why;
	CHECK_FALSE(read_description(text, why));
	return why;
}

// The payloads of all events as JSON, each after its time.
std::vector<std::string> events_of(const std::shared_ptr<const Description> &description,
				   const std::vector<unsigned> &bytes)
{
	std::vector<std::byte> content;
	for (const unsigned byte : bytes)
		content.push_back(static_cast<std::byte>(byte));
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("a", description, std::move(content)));
	Trace trace(description, std::move(streams));
	std::vector<std::string> lines;
	merge(
	    trace, {},
	    [&](const Event &event) {
		    LineBuffer line;
		    std::uint64_t at_bits = event.at_bits;
		    FieldText(event.cls->payload, true).put(event.view(), at_bits, line);
		    lines.push_back(std::to_string(event.time) + ' ' + std::string(line.view()));
		    return true;
	    },
	    [](const auto &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	return lines;
}

std::vector<std::string> events_of(const std::string &members, const std::vector<unsigned> &bytes)
{
	return events_of(read(with_members(members)), bytes);
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("ctf2: the bits of an integer, in either order of bytes and of bits")
{
	const std::string back = ", \"alignment\": 8, \"bit-order\": \"last-to-first\"";
	const std::string members = member("a", bits("signed-integer", 64, "little", ", \"alignment\": 8")) + ',' +
				    member("b", bits("signed-integer", 64, "little", back)) + ',' +
				    member("c", bits("unsigned-integer", 64, "big", ", \"alignment\": 8"));
	CHECK(events_of(members, {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55,
				  0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}) ==
	      Lines{"0 \"a\":1234605616436508552,\"b\":1292083024016196744,\"c\":9833440827789222417"});
	const std::string small = member("n", bits("signed-integer", 8, "little")) + ',' +
				  member("r", bits("signed-integer", 8, "little", back));
	CHECK(events_of(small, {0x9e, 0x9e, 0x80, 0x80, 0x33, 0x33}) ==
	      Lines{"0 \"n\":-98,\"r\":121", "0 \"n\":-128,\"r\":1", "0 \"n\":51,\"r\":-52"});
}

TEST_CASE("ctf2: integers of variable length")
{
	const std::string members = member("u", "{\"type\": \"variable-length-unsigned-integer\"}") + ',' +
				    member("s", "{\"type\": \"variable-length-signed-integer\"}");
	CHECK(events_of(members, {0xe5, 0x8e, 0x26, 0xc0, 0xbb, 0x78}) == Lines{"0 \"u\":624485,\"s\":-123456"});
	CHECK(events_of(members, {0x80, 0x80, 0x00, 0xff, 0xff, 0x7f}) == Lines{"0 \"u\":0,\"s\":-1"});
	const std::vector<unsigned> largest = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
					       0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
	CHECK(events_of(members, largest) == Lines{"0 \"u\":18446744073709551615,\"s\":-9223372036854775808"});
	// a bit too many, and a byte too many
	std::vector<unsigned> wide = largest;
	wide[9] = 0x02;
	CHECK(events_of(members, wide).empty());
	wide[9] = 0x81;
	CHECK(events_of(members, wide).empty());
	wide = largest;
	wide[19] = 0x7e;
	CHECK(events_of(members, wide).empty());
	CHECK(events_of(members, {0xff}).empty());
}

TEST_CASE("ctf2: a flag holds if any of its bits is set")
{
	const std::string flags =
	    ", \"flags\": {\"meow\": [[1, 3]], \"mix\": [[2, 7]], \"salut\": [[9, 10], [12, 12]]}";
	CHECK(events_of(member("bm", bits("bit-map", 16, "big", flags)), {0xd5, 0x97, 0x10, 0x01, 0x00, 0x01}) ==
	      Lines{"0 \"bm\":\"meow|mix|salut|0xc101\"", "0 \"bm\":\"salut|0x1\"", "0 \"bm\":1"});
}

TEST_CASE("ctf2: texts in each encoding end at the first zero")
{
	const std::string wide = "{\"type\": \"null-terminated-string\", \"encoding\": \"utf-16be\"}";
	CHECK(events_of(member("s", wide), {0, 'm', 0xd8, 0x3d, 0xde, 0x00, 0, 0, 0, 'x', 0, 0}) ==
	      Lines{"0 \"s\":\"m\xf0\x9f\x98\x80\"", "0 \"s\":\"x\""});
	const std::string fixed = "{\"type\": \"static-length-string\", \"length\": 9, \"encoding\": \"utf-32le\"}";
	// what is no character, and a last unit that is cut off
	CHECK(events_of(member("s", fixed), {'a', 0, 0, 0, 0, 0xd8, 0, 0, 'b'}) == Lines{"0 \"s\":\"a\xef\xbf\xbd\""});
	CHECK(events_of(member("s", wide), {0, 'm', 0}).empty());
}

TEST_CASE("ctf2: a converted text outlives the one it is compared with")
{
	const std::string text = "{\"type\": \"null-terminated-string\", \"encoding\": \"utf-16le\"}";
	const auto description = read(with_members(member("a", text) + ',' + member("b", text)));
	std::vector<std::unique_ptr<Stream>> streams;
	std::vector<std::byte> bytes;
	for (const char c : {'x', '\0', '\0', '\0', 'y', '\0', '\0', '\0'})
		bytes.push_back(static_cast<std::byte>(c));
	streams.push_back(std::make_unique<Stream>("a", description, bytes));
	Trace trace(description, std::move(streams));
	int events = 0;
	merge(
	    trace, {},
	    [&](const Event &event) {
		    const auto a = FieldRef(*event.cls, "a").get<std::string_view>(event);
		    const auto b = FieldRef(*event.cls, "b").get<std::string_view>(event);
		    CHECK(a == "x");
		    CHECK(b == "y");
		    ++events;
	    },
	    [](const auto &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	CHECK(events == 1);
}

TEST_CASE("ctf2: floating-point numbers of 16 bits")
{
	CHECK(events_of(member("h", bits("floating-point-number", 16, "big", ", \"alignment\": 8")),
			{0x3c, 0x00, 0xc0, 0x00, 0x7b, 0xff, 0x00, 0x01, 0x7c, 0x00, 0xfc, 0x00, 0x7e, 0x00}) ==
	      Lines{"0 \"h\":1", "0 \"h\":-2", "0 \"h\":65504", "0 \"h\":5.960464477539063e-08", "0 \"h\":\"inf\"",
		    "0 \"h\":\"-inf\"", "0 \"h\":\"nan\""});
}

TEST_CASE("ctf2: an optional field and an option are chosen by ranges")
{
	const std::string u8 = bits("unsigned-integer", 8, "big", ", \"alignment\": 8");
	const std::string s8 = bits("signed-integer", 8, "big", ", \"alignment\": 8");
	const auto optional = [](const std::string &more) {
		return "{\"type\": \"optional\", \"selector-field-location\": {\"path\": [\"sel\"]}" + more +
		       ", \"field-class\": {\"type\": \"null-terminated-string\"}}";
	};
	CHECK(events_of(member("sel", bits("boolean", 8, "big", ", \"alignment\": 8")) + ',' +
			    member("opt", optional("")),
			{0, 85, 'x', 0}) == Lines{"0 \"sel\":\"false\"", "0 \"sel\":\"true\",\"opt\":\"x\""});
	CHECK(events_of(member("sel", u8) + ',' + member("opt", optional(", \"selector-field-ranges\": [[33, 55]]")),
			{32, 33, 'y', 0, 56}) == Lines{"0 \"sel\":32", "0 \"sel\":33,\"opt\":\"y\"", "0 \"sel\":56"});
	CHECK(events_of(member("sel", s8) + ',' + member("opt", optional(", \"selector-field-ranges\": [[-23, 17]]")),
			{232, 233, 'z', 0, 16, 0, 18}) ==
	      Lines{"0 \"sel\":-24", "0 \"sel\":-23,\"opt\":\"z\"", "0 \"sel\":16,\"opt\":\"\"", "0 \"sel\":18"});
	const std::string variant =
	    "{\"type\": \"variant\", \"selector-field-location\": {\"path\": [\"sel\"]}, \"options\": ["
	    "{\"name\": \"a\", \"selector-field-ranges\": [[-5, -1], [3, 3]], \"field-class\": " +
	    u8 + "}, {\"selector-field-ranges\": [[0, 2]], \"field-class\": {\"type\": \"structure\"}}]}";
	CHECK(events_of(member("sel", s8) + ',' + member("v", variant), {255, 7, 3, 8, 1, 4}) ==
	      Lines{"0 \"sel\":-1,\"v\":{\"a\":7}", "0 \"sel\":3,\"v\":{\"a\":8}", "0 \"sel\":1,\"v\":{\"1\":{}}"});
}

TEST_CASE("ctf2: roles, not names, say what a field means")
{
	const std::string u8 =
	    "{\"type\": \"fixed-length-unsigned-integer\", \"length\": 8, \"byte-order\": \"big-endian\"";
	const auto with = [&](const char *role) { return u8 + ", \"roles\": [\"" + role + "\"]}"; };
	const std::string text =
	    preamble +
	    "\x1e{\"type\": \"trace-class\", \"packet-header-field-class\": {\"type\": \"structure\", "
	    "\"member-classes\": [" +
	    member("magic", u8 + "}") + ',' + member("b", with("data-stream-class-id")) + "]}}" +
	    "\x1e{\"type\": \"clock-class\", \"id\": \"c\", \"frequency\": 1000}" +
	    "\x1e{\"type\": \"data-stream-class\", \"id\": 1}" +
	    "\x1e{\"type\": \"data-stream-class\", \"id\": 2, \"default-clock-class-id\": \"c\","
	    " \"packet-context-field-class\": {\"type\": \"structure\", \"member-classes\": [" +
	    member("timestamp_begin", with("packet-total-length")) + ',' + member("x", with("packet-content-length")) +
	    ',' + member("packet_size", with("default-clock-timestamp")) +
	    "]}, \"event-record-header-field-class\": {\"type\": \"structure\", \"member-classes\": [" +
	    member("timestamp", with("event-record-class-id")) + ',' + member("id", with("default-clock-timestamp")) +
	    "]}}" +
	    "\x1e{\"type\": \"event-record-class\", \"data-stream-class-id\": 2, \"id\": 9, \"payload-field-class\":"
	    " {\"type\": \"structure\", \"member-classes\": [" +
	    member("p", u8 + "}") + "]}}";
	// two packets: 10 bytes of which 8 are content, then 11; the time of the last event has wrapped
	const std::vector<unsigned> packets = {7, 2,  80, 64,  200, 9,   201, 1, 0, 0, 5,
					       2, 88, 88, 250, 9,   251, 2,   9, 4, 3};
	CHECK(events_of(read(text), packets) == Lines{"201 \"p\":1", "251 \"p\":2", "260 \"p\":3"});
}

TEST_CASE("ctf2: a clock's offset and origin")
{
	const auto clock = [](const std::string &more) {
		const auto description = read(
		    preamble + "\x1e{\"type\": \"clock-class\", \"id\": \"c\", \"name\": \"n\", \"frequency\": 1000" +
		    more + "}");
		return description->clocks.at(0);
	};
	const Clock epoch =
	    clock(", \"origin\": \"unix-epoch\", \"offset-from-origin\": {\"seconds\": -7, \"cycles\": 999}");
	CHECK(epoch.wall_ns(1) == -6'000'000'000);
	CHECK(epoch.name == "n");
	CHECK(epoch.origin.empty());
	const Clock boot = clock(", \"origin\": {\"name\": \"boot\", \"uid\": \"5\"}");
	CHECK(boot.is_same(clock(", \"origin\": {\"name\": \"boot\", \"uid\": \"5\"}")));
	CHECK_FALSE(boot.is_same(clock(", \"origin\": {\"name\": \"boot\", \"uid\": \"6\"}")));
	CHECK_FALSE(boot.is_same(clock(", \"origin\": \"unix-epoch\"")));
}

TEST_CASE("ctf2: a refusal says where, and what is expected instead")
{
	CHECK(refusal(with_members(member("a", bits("boolean", 65, "big")))) ==
	      "line 1, column 67: payload-field-class.member-classes[0].field-class.length: more than 64 bits are not "
	      "supported here");
	CHECK(refusal(preamble + "\n\x1e\n{\"type\": \"trace-class\", }") == "line 3, column 25: this is not JSON");
	CHECK(refusal(preamble + "\x1e{\"type\": \"trace-class\", \"extensions\": {\"my.org\": {\"piano\": {}}}}") ==
	      "line 1, column 37: extensions: the trace uses the extension my.org piano, which changes its meaning and "
	      "is "
	      "not known to this version");
}

TEST_CASE("ctf2: a description in packets is of either version")
{
	const std::string text = with_members("");
	for (const unsigned char major : {1, 2}) {
		std::string packet("\x57\x1d\xd1\x75", 4);
		packet += std::string(20, '\0');
		const std::size_t size_bits = 8 * (37 + text.size());
		for (int twice = 0; twice < 2; ++twice)
			for (unsigned shift = 0; shift < 32; shift += 8)
				packet += static_cast<char>(size_bits >> shift & 0xff);
		packet += std::string(3, '\0') + static_cast<char>(major) + (major == 1 ? '\x08' : '\0') + text;
		std::string found, why;
		TextForm form = TextForm::plain;
		REQUIRE(metadata_text(std::as_bytes(std::span(packet)), found, why, form));
		CHECK(found == text);
		CHECK(read(found)->classes().size() == 1);
	}
}

} // namespace test_ctf2
