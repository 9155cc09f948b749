// SPDX-License-Identifier: MIT
// The description language: what is read, and that everything else is refused in one sentence.
#include <catch2/catch.hpp>

#include "reading/ctf/tsdl.h"
#include "samples.h"

namespace test_tsdl {

using namespace monitor::trace;

namespace {

std::string refusal(const std::string &text)
{
	std::string why;
	return read_description(text, why) ? "" : why;
}

std::string refusal_of_event(const std::string &fields)
{
	return refusal(samples::description_text(samples::event_block(300, "e", fields)));
}

std::string replaced(std::string text, const std::string &from, const std::string &to)
{
	const std::size_t at = text.find(from);
	REQUIRE(at != std::string::npos);
	return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("tsdl: a description of monitor's own kind is read")
{
	const auto made = samples::description();
	CHECK(made->uuid == samples::uuid);
	CHECK(made->clock.name == "tsc");
	CHECK(made->clock.frequency_hz == 1000000000);
	CHECK(made->clock.offset_s == 1700000000);
	CHECK(made->clock.offset == 5);
	REQUIRE(made->env.size() == 2);
	CHECK(made->env[0] == std::pair<std::string, std::string>("domain", "monitor"));
	CHECK(made->env[1].second == "1");
	REQUIRE(made->by_id(257));
	CHECK(made->by_id(257)->name == "pair");
	CHECK(made->by_id(257)->size_bytes == 16);
	CHECK(made->by_id(258)->size_bytes == 24);
	CHECK(made->by_id(259) == nullptr);
	CHECK(made->by_id(0) == nullptr);
}

TEST_CASE("tsdl: comments, numbers and escapes")
{
	const auto made =
	    samples::description("// line\n/* block\n * more */event { name = \"a\\\"b\\x41\\102\"\n;id=0x101;"
				 "fields := struct { u16_t /* here too */ a; } align(16); };");
	REQUIRE(made->classes().size() == 1);
	CHECK(made->by_id(0x101)->name == "a\"bAB");
}

TEST_CASE("tsdl: control characters in names of clocks are refused")
{
	CHECK_THAT(refusal("trace { byte_order = le; }; clock { name = \"a\\x1b[31m\"; };"),
		   Catch::Contains("control character"));
}

TEST_CASE("tsdl: syntax errors name line and column")
{
	CHECK_THAT(refusal("clock {\n\tname = tsc\n};"), Catch::StartsWith("line 3, column 1: expected `;` here"));
	CHECK_THAT(refusal("clock { name = 99999999999999999999; };"), Catch::Contains("does not fit into 64 bits"));
	CHECK_THAT(refusal("/* no end"), Catch::StartsWith("line 1, column 1: a comment does not end"));
	CHECK_THAT(refusal("\"no end"), Catch::Contains("a string literal does not end"));
	CHECK_THAT(refusal("clock { name = 12ab; };"), Catch::Contains("malformed"));
	CHECK_THAT(refusal("clock @"), Catch::Contains("this character is not valid"));
	CHECK_THAT(refusal(std::string("clock \0 {", 9)), Catch::Contains("this character is not valid"));
	CHECK_THAT(refusal(""), Catch::Contains("lacks a trace block"));
}

TEST_CASE("tsdl: what makes no sense is refused")
{
	CHECK_THAT(refusal_of_event("floating_point { exp_dig = 8; } f;"), Catch::Contains("floating_point"));
	CHECK_THAT(refusal_of_event("variant <a> { u16_t a; } v;"), Catch::Contains("no field a before"));
	CHECK_THAT(refusal_of_event("variant { u16_t a; } v;"), Catch::Contains("has no tag"));
	CHECK_THAT(refusal_of_event("u16_t t; variant <t> { u16_t a; } v;"), Catch::Contains("is not an enum"));
	CHECK(refusal_of_event("range_t t; variant <t> { u16_t a; } v;") == ""); // an option that is never chosen
	CHECK_THAT(refusal_of_event("u16_t s[n]; u16_t n;"), Catch::Contains("no field n before"));
	CHECK_THAT(refusal_of_event("s16_t n; u16_t s[n];"), Catch::Contains("signed"));
	CHECK_THAT(refusal_of_event("string n; u16_t s[n];"), Catch::Contains("not an integer"));
	CHECK_THAT(refusal_of_event("nothing a;"), Catch::Contains("not defined"));
	CHECK_THAT(refusal_of_event("u16_t a; u16_t a;"), Catch::Contains("appears twice"));
	CHECK(refusal_of_event("integer { size = 65; } a;") == "");
	CHECK_THAT(refusal_of_event("integer { size = 4097; } a;"), Catch::Contains("4096 bits"));
	CHECK_THAT(refusal_of_event("integer { size = 8; align = 3; } a;"), Catch::Contains("power of two"));
	CHECK_THAT(refusal_of_event("u64_t a[1000000000][1000];"), Catch::Contains("too large"));
	CHECK_THAT(refusal_of_event("enum : u16_t { a = 5 ... 1 } e;"), Catch::Contains("backwards"));
	CHECK_THAT(refusal(samples::description_text(samples::some_events + samples::some_events)),
		   Catch::Contains("same id"));
	CHECK_THAT(refusal(samples::description_text("stream { id = 0; };")), Catch::Contains("two streams"));
	CHECK_THAT(refusal(samples::description_text("event { name = \"e\"; id = 5; stream_id = 7; };")),
		   Catch::Contains("a stream that is not described"));
	const std::string text = samples::description_text(samples::some_events);
	CHECK_THAT(refusal(replaced(text, "minor = 8", "minor = 9")), Catch::Contains("CTF 1.8"));
	CHECK_THAT(refusal(replaced(text, "byte_order = le;", "")), Catch::Contains("byte_order"));
	CHECK_THAT(refusal(replaced(text, "uuid_byte uuid[16]", "uuid_byte uuid[8]")), Catch::Contains("16 bytes"));
	CHECK_THAT(refusal(replaced(text, samples::clock_block, "")), Catch::Contains("clock"));
}

TEST_CASE("tsdl: only monitor's own layout is one of tokens, any other is read all the same")
{
	const std::string text = samples::description_text(samples::some_events);
	const auto has_tokens = [](const std::string &described) {
		std::string why;
		const auto made = read_description(described, why);
		INFO(why);
		REQUIRE(made);
		CHECK(made->classes().size() >= 3);
		return made->has_tokens();
	};
	CHECK(has_tokens(text));
	for (const auto &[from, to] :
	     {std::pair("header_u32 level;", ""),
	      std::pair("header_u32 process;", "header_u32 process; header_u32 more;"),
	      std::pair("align(64)", "align(32)"), std::pair("token_mode mode;", "token_mode mode; token_mode more;"),
	      std::pair("size = 12; align = 1;", "size = 13; align = 1;"),
	      std::pair("byte_order = le", "byte_order = be")})
		CHECK_FALSE(has_tokens(replaced(text, from, to)));
	for (const char *fields :
	     {"string s;", "struct { u16_t a; } s;", "u16_t n; u16_t s[n];", "u16_t a[4];", "text_t a[59];",
	      "integer { size = 64; align = 1; } a;", "uuid_byte a[4];", "integer { size = 8; byte_order = be; } a;"})
		CHECK_FALSE(has_tokens(text + samples::event_block(300, "e", fields)));
	CHECK_FALSE(has_tokens(text + "event { name = \"e\"; id = 4096; };"));
	CHECK_FALSE(has_tokens(text + "event { name = \"e\"; id = 5; context := struct { u16_t a; }; };"));
	CHECK(has_tokens(text + "callsite { id = 1; };"));
}

TEST_CASE("tsdl: hostile texts end soon")
{
	const std::string deep(100000, '{');
	CHECK_FALSE(refusal(deep).empty());
	std::string nested = "typealias ";
	for (int i = 0; i < 100000; ++i)
		nested += "struct { ";
	CHECK_THAT(refusal(nested), Catch::Contains("nested too deeply"));
	nested = "typealias ";
	for (int i = 0; i < 100000; ++i)
		nested += "enum : ";
	CHECK_THAT(refusal(nested), Catch::Contains("expected an integer type"));

	std::string labels = "typealias enum : u16_t { ";
	for (int i = 0; i < 1100000; ++i)
		labels += "a,";
	CHECK_THAT(refusal(labels + "b } := t;"), Catch::Contains("too many declarations"));
	CHECK_THAT(refusal(std::string(300, 'a') + " {"), Catch::Contains("longer than 255 bytes"));
	CHECK_THAT(refusal(std::string((16u << 20) + 1, ' ')), Catch::Contains("16 MiB"));
	CHECK_FALSE(refusal(std::string(16u << 20, ' ')).empty());
}

TEST_CASE("tsdl: every beginning of a description is refused, not a crash")
{
	const std::string text = samples::description_text(samples::some_events);
	const std::size_t last = text.find_last_not_of(" \n") + 1;
	for (std::size_t size = 0; size < text.size(); ++size) {
		std::string why;
		const bool read = read_description(text.substr(0, size), why) != nullptr;
		CHECK(read == why.empty());
		if (size < last && size > text.rfind("event {"))
			CHECK_FALSE(read);
	}
}

} // namespace test_tsdl
