// SPDX-License-Identifier: MIT
// The syntax of TSDL: what is none of its forms, or beyond a bound, is refused in one sentence with its place.
#include <catch2/catch.hpp>

#include "base/limits.h"
#include "tsdl_shown.h"

namespace test_tsdl_refused {

using namespace monitor::trace::tsdl;

TEST_CASE("tsdl refused: malformed statements are refused at their place")
{
	const std::string no_statement =
	    "expected clock, trace, stream, event, env, callsite or the definition of a type here";
	CHECK(refusal("clock {\n\tname = tsc\n};") == "3:1 expected `;` here");
	CHECK(refusal("clock { }") == "1:10 expected `;` here");
	CHECK(refusal("clocks { };") == "1:1 " + no_statement);
	CHECK(refusal(" int;") == "1:2 " + no_statement);
	CHECK(refusal("env { };;") == "1:9 " + no_statement);
	CHECK(refusal("\"env\" { };") == "1:1 " + no_statement);
	CHECK(refusal("event x { };") == "1:7 expected `{` here");
	CHECK(refusal("event { a; };") == "1:10 expected `=` here");
	CHECK(refusal("event { a. = 1; };") == "1:12 expected a name here");
	CHECK(refusal("event { = 1; };") == "1:9 expected a name here");
	CHECK(refusal("event { a = ; };") == "1:13 expected a value here");
	CHECK(refusal("event { a = - x; };") == "1:15 expected a number after the sign");
	CHECK(refusal("event { a = - - 1; };") == "1:15 expected a value here");
	CHECK(refusal("event { a = (1; };") == "1:15 expected `)` here");
	CHECK(refusal("event { a = \"x\" \"y\"; };") == "1:17 expected `;` here");
	CHECK(refusal("event { a := ; };") == "1:14 expected a type here");
	CHECK(refusal("event { a = 1;") == "1:15 expected a name here");
	CHECK(refusal("event { 1 = 1; };") == "1:9 expected a name here");
	CHECK(refusal("event { event { }; };") == "1:15 expected `=` here");
}

TEST_CASE("tsdl refused: malformed definitions are refused at their place")
{
	CHECK(refusal("typealias int a;") == "1:16 expected `:=` here");
	CHECK(refusal("typealias int := ;") == "1:18 expected a name here");
	CHECK(refusal("typealias int := *;") == "1:18 expected a name here");
	CHECK(refusal("typealias int := const;") == "1:23 expected a name here");
	CHECK(refusal("typealias int := a * b;") == "1:22 expected `;` here");
	CHECK(refusal("typealias int := a[2];") == "1:19 expected `;` here");
	CHECK(refusal("typealias := a;") == "1:11 expected a type here");
	CHECK(refusal("typealias const := a;") == "1:17 expected a type here");
	CHECK(refusal("typedef int;") == "1:12 expected a name here");
	CHECK(refusal("typedef int a,;") == "1:15 expected a name here");
	CHECK(refusal("struct s;") == "1:9 expected `{` here");
	CHECK(refusal("struct s { } x;") == "1:14 expected `;` here");
	CHECK(refusal("enum e x;") == "1:8 expected `{` here");
	CHECK(refusal("typealias struct { } * := a;") == "1:22 a pointer can point to a named type only");
	CHECK(refusal("typealias variant v <a> * := a;") == "1:25 a pointer can point to a named type only");
}

TEST_CASE("tsdl refused: malformed types are refused at their place")
{
	CHECK(refusal("typealias integer := a;") == "1:19 expected `{` here");
	CHECK(refusal("typealias floating_point := a;") == "1:26 expected `{` here");
	CHECK(refusal("typealias integer { size = 1 } := a;") == "1:30 expected `;` here");
	CHECK(refusal("typealias integer { size := u8; } := a;") == "1:26 expected `=` here");
	CHECK(refusal("typealias struct := a;") == "1:18 expected `{` here");
	CHECK(refusal("typealias variant v := a;") == "1:21 expected `{` here");
	CHECK(refusal("typealias variant <> := a;") == "1:20 expected a name here");
	CHECK(refusal("typealias variant <a { } := a;") == "1:22 expected `>` here");
	for (const char *other : {"string", "enum : u8", "struct", "variant", "floating_point"})
		CHECK(refusal(std::string("enum : const ") + other + " { A };") ==
		      "1:14 expected an integer type here");
	CHECK(refusal("typealias enum : u8 := a;") == "1:21 expected `{` here");
	CHECK(refusal("typealias enum e : u8 := a;") == "1:23 expected `{` here");
	CHECK(refusal("enum { A B };") == "1:10 expected `}` here");
	CHECK(refusal("enum { , };") == "1:8 expected a name here");
	CHECK(refusal("enum { A = };") == "1:12 expected a value here");
	CHECK(refusal("enum { A = b };") == "1:12 expected a number here");
	CHECK(refusal("enum { A = 1 ... };") == "1:18 expected a value here");
	CHECK(refusal("enum { A = 1 .. 2 };") == "1:14 expected `}` here");
	CHECK(refusal("struct s { } align(0);") == "1:20 expected a number of bits here");
	CHECK(refusal("struct s { } align(-8);") == "1:20 expected a number of bits here");
	CHECK(refusal("struct s { } align(x);") == "1:20 expected a number here");
	CHECK(refusal("struct s { } align 8;") == "1:14 expected `;` here");
}

TEST_CASE("tsdl refused: malformed declarations are refused at their place")
{
	CHECK(refusal("struct s {\n int;\n};") == "2:5 expected a name here");
	CHECK(refusal("struct s { struct { }; };") == "1:22 expected a name here");
	CHECK(refusal("struct s { struct t; };") == "1:20 expected a name here");
	CHECK(refusal("struct s { int a };") == "1:18 expected `;` here");
	CHECK(refusal("struct s { int a, };") == "1:19 expected a name here");
	CHECK(refusal("struct s { int a b[]; };") == "1:20 expected a value here");
	CHECK(refusal("struct s { int a[-1]; };") == "1:18 expected a length or the path of a field here");
	CHECK(refusal("struct s { int a[\"n\"]; };") == "1:18 expected a length or the path of a field here");
	CHECK(refusal("struct s { int a[n; };") == "1:19 expected `]` here");
	CHECK(refusal("struct s { int (a; };") == "1:18 expected `)` here");
	CHECK(refusal("struct s { int (*a)[2]; };") == "1:17 expected a name here");
	CHECK(refusal("struct s { int a : 3; };") ==
	      "1:18 bit-fields are not supported; give the size in integer { size = N; }");
	CHECK(refusal("struct s { int typedef a; };") == "1:16 this word must come first in a typedef");
	CHECK(refusal("struct s { clock { }; };") == "1:18 expected a name here");
	CHECK(refusal("struct s { int a;") == "1:18 expected a type here");
}

TEST_CASE("tsdl refused: malformed tokens are refused at their place")
{
	CHECK(refusal("\n  /* no end\n*") == "2:3 a comment does not end");
	CHECK(refusal("env { a = \"no end") == "1:11 a string literal does not end");
	CHECK(refusal("env { a = \"no end\\") == "1:11 a string literal does not end");
	CHECK(refusal("env { a = \"no end\n\"; };") == "1:11 a string literal does not end on its line");
	CHECK(refusal("env { a = '; };") == "1:11 a character constant does not end after one character");
	CHECK(refusal("env { a = 'ab'; };") == "1:11 a character constant does not end after one character");
	CHECK(refusal("env { a = ''; };") == "1:11 a character constant is empty or does not end");
	CHECK(refusal("env { a = '\\") == "1:11 a character constant is empty or does not end");
	CHECK(refusal("env { a = \"b\\q\"; };") == "1:13 unknown escape in a literal");
	CHECK(refusal("env { a = \"b\\400\"; };") == "1:13 an escape in a literal does not fit into one byte");
	for (const char *number : {"12ab", "08", "0x", "0b2", "1uu", "1lll", "1lul", "1ulu"})
		CHECK(refusal(std::string("env { a = ") + number + "; };") == "1:11 a number is malformed");
	CHECK(refusal("env { a = 18446744073709551616; };") == "1:11 a number does not fit into 64 bits");
	CHECK(refusal("env { a = -9223372036854775809; };") == "1:11 a number does not fit into 64 bits");
	CHECK(refusal("env { a = 1.5; };") == "1:12 expected `;` here");
	CHECK(refusal("env { a = $; };") == "1:11 this character is not valid in TSDL");
	CHECK(refusal("env { a = L\"x\"; };") == "1:12 expected `;` here");
	CHECK(refusal(std::string("env\0 {", 6)) == "1:4 this character is not valid in TSDL");
}

TEST_CASE("tsdl refused: names are at most 255 bytes long")
{
	const std::string longest(255, 'a'), longer(256, 'a'), too_long = "a name is longer than 255 bytes";
	CHECK(shown("typealias int := " + longest + ";") == "def " + longest + "='int';");
	CHECK(refusal("typealias int := " + longer + ";") == "1:18 " + too_long);
	CHECK(refusal("typealias int := " + longest + " *;") == "1:274 " + too_long);
	CHECK(refusal("typealias " + repeated("abcd ", 51) + "a := t;") == "1:266 " + too_long);
	CHECK(shown("enum { \"" + longest + "\" };") == "def =enum{" + longest + "=0..0,};");
	CHECK(refusal("enum { \"" + longer + "\" };") == "1:8 " + too_long);
	CHECK(refusal("env { \"" + longer + "\" = 1; };") == "1:7 " + too_long);
	CHECK(refusal("event { name = \"" + longer + "\"; };") == "none"); // an event's may be longer
	CHECK(refusal("event { loglevel = \"" + longer + "\"; };") == "none");
	CHECK(refusal("env { a = \"" + std::string(4097, 'a') + "\"; };") ==
	      "1:11 a string literal is longer than 4096 bytes");
	CHECK(refusal("env { a = " + longest + repeated('.' + longest, 3) + "; };") == "none");
	CHECK(refusal("env { a = " + longest + repeated('.' + longest, 4) + "; };") ==
	      "1:1035 a path is longer than 1023 bytes");
}

TEST_CASE("tsdl refused: nesting and size are bounded")
{
	const auto nested = [](const std::string &inner, std::size_t times) {
		return "typealias " + repeated("struct { ", times) + inner + repeated(" a; }", times) + " := t;";
	};
	CHECK(refusal(nested("int", 32)) == "none");
	CHECK(refusal(nested("enum : u8 { A }", 32)) == "none");
	CHECK(refusal(nested("int", 33)) == "1:308 types are nested too deeply");
	CHECK(refusal("typealias " + repeated("struct { ", 1'000'000)) == "1:308 types are nested too deeply");
	CHECK(refusal("typealias " + repeated("variant { ", 1'000'000)) == "1:341 types are nested too deeply");
	CHECK(refusal("typealias " + repeated("struct { typedef ", 900'000)) == "1:572 types are nested too deeply");
	CHECK(refusal("env { a = " + repeated("(", 32) + "1" + repeated(")", 32) + "; };") == "none");
	CHECK(refusal("env { a = " + repeated("(", 1'000'000)) == "1:44 parentheses are nested too deeply");
	CHECK(refusal("struct s { int " + repeated("(", 1'000'000)) == "1:49 parentheses are nested too deeply");

	CHECK(refusal("enum { " + repeated("a,", 900'000) + "};") == "none");
	CHECK_THAT(refusal("enum { " + repeated("a,", 1'000'001) + "};"), Catch::EndsWith("too many declarations"));
	CHECK_THAT(refusal("struct s { u8 a" + repeated("[1]", 1'000'001) + "; };"),
		   Catch::EndsWith("too many declarations"));
	CHECK_THAT(refusal("struct s { " + repeated("u a;", 1'000'001) + "};"),
		   Catch::EndsWith("too many declarations"));
	CHECK_THAT(refusal("typedef int a" + repeated(",a", 1'000'001)), Catch::EndsWith("too many declarations"));
	CHECK_THAT(refusal("env { " + repeated("a=1;", 1'000'001) + "};"), Catch::EndsWith("too many declarations"));
	CHECK_THAT(refusal(repeated("env{};", 1'000'001)), Catch::EndsWith("too many declarations"));
	CHECK(refusal(std::string(monitor::max_description_bytes, ' ')) == "none");
	CHECK(refusal(std::string(monitor::max_description_bytes + 1, ' ')) ==
	      "1:1 the description is larger than 16 MiB");
}

TEST_CASE("tsdl refused: every beginning of a description is refused or whole")
{
	const std::string text =
	    "typealias integer { size = 8; } := u8 *;struct s { u8 a['\\x1'], b[a.c]; } align(8);"
	    "trace { packet.header := struct s; variant v <t> { enum : u8 { A = 1 ... 2, } e; }; };";
	std::size_t whole = 0;
	for (std::size_t size = 0; size <= text.size(); ++size)
		whole += refusal(text.substr(0, size)) == "none";
	CHECK(whole == 4); // nothing, and after each `;` of the outermost level
}

} // namespace test_tsdl_refused
