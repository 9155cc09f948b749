// SPDX-License-Identifier: MIT
// The syntax of TSDL: every form of the grammar gives its tree.
#include <catch2/catch.hpp>

#include "tsdl_shown.h"

namespace test_tsdl_syntax {

using namespace monitor::trace::tsdl;

namespace {

// The type of a typealias
std::string type(const std::string &text)
{
	const Tree tree = parse("typealias " + text + " := t;");
	REQUIRE(tree.definitions.size() == 1);
	CHECK(tree.definitions[0].name == "t");
	return shown(*tree.definitions[0].type) + shown(tree.definitions[0].dimensions);
}

// What stands in a struct
std::string members(const std::string &text)
{
	const std::string made = type("struct { " + text + " }");
	REQUIRE(made.substr(0, 7) == "struct{");
	return made.substr(7, made.size() - 8);
}

// The value of an attribute
std::string value(const std::string &text)
{
	const Tree tree = parse("env { a = " + text + "; };");
	REQUIRE(tree.blocks.size() == 1);
	REQUIRE(tree.blocks[0].attributes.size() == 1);
	return shown(tree.blocks[0].attributes[0].value);
}

} // namespace

TEST_CASE("tsdl syntax: blocks, attributes and bindings")
{
	CHECK(shown("/* CTF 1.8 */\n").empty());
	CHECK(shown("") == "");
	CHECK(shown("clock { name = tsc; freq = 1000; };trace { major = 1; };") ==
	      "clock{name=tsc;freq=1000;}trace{major=1;}");
	CHECK(shown("env { hostname = \"h\"; }; callsite { line = 4; };") == "env{hostname=\"h\";}callsite{line=4;}");
	CHECK(shown("event { }; stream { };") == "event{}stream{}");
	CHECK(shown("event { model.emf.uri = \"http://\"; };") == "event{model.emf.uri=\"http://\";}");
	CHECK(shown("stream { event.header := struct h; packet . context := struct { u8 a; }; };") ==
	      "stream{event.header:=struct h;packet.context:=struct{'u8' a;};}");
	CHECK(shown("event { id = 1; fields := unsigned long int; };") == "event{id=1;fields:='unsigned long int';}");
	CHECK(shown("stream { event->header := struct h align(8); };") == "stream{event.header:=struct h align 8;}");
}

TEST_CASE("tsdl syntax: keywords and literals as names of attributes")
{
	CHECK(shown("env { struct = 1; enum = 2; variant.a = 3; typedef = 4; typealias = 5; };") ==
	      "env{struct=1;enum=2;variant.a=3;typedef=4;typealias=5;}");
	CHECK(shown("event { stream.event = string; integer := struct s; };") ==
	      "event{stream.event=string;integer:=struct s;}");
	CHECK(shown("env { \"two words\" = 1; };") == "env{two words=1;}");
	CHECK(type("integer { \"size\" = 8; a.b = c; }") == "integer{size=8;a.b=c;}");
}

TEST_CASE("tsdl syntax: definitions")
{
	CHECK(shown("typealias integer { size = 8; } := unsigned char;") == "def unsigned char=integer{size=8;};");
	CHECK(shown("typealias unsigned long := long unsigned;") == "def long unsigned='unsigned long';");
	CHECK(shown("typealias integer { } := const char *;") == "def char *=integer{};");
	CHECK(shown("typealias integer { } := void * const *;") == "def void * *=integer{};");
	CHECK(shown("typealias int := struct s *;") == "def struct s *='int';");
	CHECK(shown("typealias int * := p;") == "def p='int *';");
	CHECK(shown("typealias u8 [16] := uuid;") == "def uuid='u8'[16];");
	CHECK(shown("typedef unsigned long int size;") == "def size='unsigned long int';");
	CHECK(shown("typedef int a, b[4], *c;") == "def a='int';def b='int'[4];def c='int *';");
	CHECK(shown("typedef integer { size = 4; } nibble[2][n];") == "def nibble=integer{size=4;}[2][n];");
	CHECK(shown("struct s { u8 a; }; variant v { u8 a; }; enum e : u8 { A };") ==
	      "def =struct s{'u8' a;};def =variant v{'u8' a;};def =enum e:'u8'{A=0..0,};");
	CHECK(shown("struct s { } align(8);") == "def =struct s{} align 8;");
	CHECK(shown("struct { }; variant { }; enum { };") == "def =struct{};def =variant{};def =enum{};");
}

TEST_CASE("tsdl syntax: definitions in blocks and bodies")
{
	CHECK(
	    shown(
		"trace { typealias int := a; typedef int b, c; struct s { }; variant v { }; enum e { A }; x = 1; };") ==
	    "trace{x=1;def a='int';def b='int';def c='int';def =struct s{};def =variant v{};def =enum e{A=0..0,};}");
	CHECK(members("typealias int := a; typedef int b[2]; struct s { }; enum e { A }; variant v { }; a x;") ==
	      "def a='int';def b='int'[2];def =struct s{};def =enum e{A=0..0,};def =variant v{};'a' x;");
	CHECK(type("variant { typedef int a; a b; }") == "variant{def a='int';'a' b;}");
	CHECK(members("struct s { u8 a; } b;") == "struct s{'u8' a;} b;");
}

TEST_CASE("tsdl syntax: scalar types")
{
	CHECK(type("integer { size = 8; align = 8; signed = true; map = clock.tsc.value; }") ==
	      "integer{size=8;align=8;signed=true;map=clock.tsc.value;}");
	CHECK(type("floating_point { exp_dig = 8; mant_dig = 24; byte_order = le; }") ==
	      "floating_point{exp_dig=8;mant_dig=24;byte_order=le;}");
	CHECK(type("floating_point { }") == "floating_point{}");
	CHECK(type("string") == "string{}");
	CHECK(type("string { encoding = UTF8; }") == "string{encoding=UTF8;}");
	CHECK(type("const string const") == "string{}");
}

TEST_CASE("tsdl syntax: named types")
{
	CHECK(type("unsigned long int") == "'unsigned long int'");
	CHECK(type("const  unsigned\n/* c */ const int const") == "'unsigned int'");
	CHECK(type("_Bool") == "'_Bool'");
	CHECK(type("char const * const *") == "'char * *'");
	CHECK(type("struct s *") == "'struct s *'");
	CHECK(type("enum e * [3]") == "'enum e *'[3]");
	CHECK(type("unsigned integer string") == "'unsigned integer string'");
	CHECK(type(repeated("abcd ", 50) + "abcde") == '\'' + repeated("abcd ", 50) + "abcde'");
}

TEST_CASE("tsdl syntax: enums")
{
	CHECK(type("enum { A }") == "enum{A=0..0,}");
	CHECK(type("enum e") == "enum e");
	CHECK(type("const enum e const") == "enum e");
	CHECK(type("enum e { A, }") == "enum e{A=0..0,}");
	CHECK(type("enum e : integer { size = 3; } { A }") == "enum e:integer{size=3;}{A=0..0,}");
	CHECK(type("enum : unsigned const long { A }") == "enum:'unsigned long'{A=0..0,}");
	CHECK(type("enum : u8 { }") == "enum:'u8'{}");
}

TEST_CASE("tsdl syntax: labels")
{
	CHECK(type("enum { A, B, C = 5, D, E = 7 ... 9, F, }") == "enum{A=0..0,B=1..1,C=5..5,D=6..6,E=7..9,F=10..10,}");
	CHECK(type("enum { A = 1...3, B = 2 ... 2, A = 0 }") == "enum{A=1..3,B=2..2,A=0..0,}");
	CHECK(type("enum { \"a b\\n\" = 0x10, struct = 010, A = 'c' }") == "enum{a b\n=16..16,struct=8..8,A=99..99,}");
	CHECK(type("enum { A = -1, B, C = -3 ... -2, D = +4 }") ==
	      "enum{A=18446744073709551615..18446744073709551615,B=0..0,"
	      "C=18446744073709551613..18446744073709551614,D=4..4,}");
	CHECK(type("enum { A = -9223372036854775808, B = 0xffffffffffffffff }") ==
	      "enum{A=9223372036854775808..9223372036854775808,B=18446744073709551615..18446744073709551615,}");
}

TEST_CASE("tsdl syntax: structs")
{
	CHECK(type("struct { }") == "struct{}");
	CHECK(type("struct s") == "struct s");
	CHECK(type("struct s align(32)") == "struct s align 32");
	CHECK(type("struct s { u8 a; } align(0x40)") == "struct s{'u8' a;} align 64");
	CHECK(type("struct { struct { struct { u8 a; } b; } c; }") == "struct{struct{struct{'u8' a;} b;} c;}");
}

TEST_CASE("tsdl syntax: variants")
{
	CHECK(type("variant { u8 a; }") == "variant{'u8' a;}");
	CHECK(type("variant <tag> { u8 a; }") == "variant<tag>{'u8' a;}");
	CHECK(type("variant v <stream.event.header.id> { string a; }") ==
	      "variant v<stream.event.header.id>{string{} a;}");
	CHECK(type("variant v { }") == "variant v{}");
	CHECK(type("variant v <a->b>") == "variant v<a.b>");
	CHECK(members("variant v <a> f; variant <b> { } g[2];") == "variant v<a> f;variant<b>{} g[2];");
}

TEST_CASE("tsdl syntax: declarations")
{
	CHECK(members("u8 a; unsigned long b;") == "'u8' a;'unsigned long' b;");
	CHECK(members("u8 a, b[4], c[len][2];") == "'u8' a;'u8' b[4];'u8' c[len][2];");
	CHECK(members("unsigned char name[8]; u8 s[v.header.len];") == "'unsigned char' name[8];'u8' s[v.header.len];");
	CHECK(members("const unsigned const int const x;") == "'unsigned int' x;");
	CHECK(members("struct s a; struct s align(8) b; enum e c; struct s const d;") ==
	      "struct s a;struct s align 8 b;enum e c;struct s d;");
	CHECK(members("integer { size = 1; } a, b; string s; string { } t;") ==
	      "integer{size=1;} a;integer{size=1;} b;string{} s;string{} t;");
	CHECK(members("char *a, *const *b, c; struct s *d; unsigned int * e[2];") ==
	      "'char *' a;'char * *' b;'char' c;'struct s *' d;'unsigned int *' e[2];");
	CHECK(members("int (a); unsigned int ((b)[2])[3]; int *(c);") == "'int' a;'unsigned int' b[2][3];'int *' c;");
	CHECK(members("u8 a['A'][(2)][+3];") == "'u8' a[65][2][3];");
}

TEST_CASE("tsdl syntax: keywords as names of fields")
{
	CHECK(members("u8 string; u8 event; u8 integer[2]; u8 struct, align, typedef; u8 typedef;") ==
	      "'u8' string;'u8' event;'u8' integer[2];'u8' struct;'u8' align;'u8' typedef;'u8' typedef;");
	CHECK(members("string stream; struct s align; struct { } align; struct { } align(8) align; enum e enum;") ==
	      "string{} stream;struct s align;struct{} align;struct{} align 8 align;enum e enum;");
}

TEST_CASE("tsdl syntax: numbers")
{
	CHECK(value("0") == "0");
	CHECK(value("10") == "10");
	CHECK(value("0x1F") == "31");
	CHECK(value("0XfF") == "255");
	CHECK(value("017") == "15");
	CHECK(value("0b101") == "5");
	CHECK(value("-5") == "-5");
	CHECK(value("+5") == "5");
	CHECK(value("-0") == "0");
	CHECK(value("-(-(5))") == "5");
	CHECK(value("18446744073709551615") == "18446744073709551615");
	CHECK(value("-9223372036854775808") == "-9223372036854775808");
	for (const char *suffix : {"u", "U", "l", "L", "ul", "UL", "lu", "ll", "LL", "ull", "ULL", "llu", "LLU"})
		CHECK(value(std::string("7") + suffix) == "7");
}

TEST_CASE("tsdl syntax: literals and words")
{
	CHECK(value(R"("a\"b\\\x41\101\0012\n\t\'\?")") == "\"a\"b\\AA\x01" + std::string("2\n\t'?\""));
	CHECK(value("\"\"") == "\"\"");
	CHECK(value("(\"a\")") == "\"a\"");
	CHECK(value("\"/* no comment */ // 'x'\"") == "\"/* no comment */ // 'x'\"");
	CHECK(value('"' + std::string(4096, 'a') + '"').size() == 4098);
	CHECK(value("'a'") == "97");
	CHECK(value("'\\n'") == "10");
	CHECK(value("'\\''") == "39");
	CHECK(value("'\\xff'") == "255");
	CHECK(value("-'\\101'") == "-65");
	CHECK(value("clock . tsc /**/ -> value") == "clock.tsc.value");
	CHECK(value("struct.enum") == "struct.enum");
}

TEST_CASE("tsdl syntax: comments and blanks")
{
	CHECK(shown("// line\nenv { /* b * / \n ** */ a // = 2\n\t= 1;\r\n\f\v} /**/;// end") == "env{a=1;}");
	CHECK(shown("typealias int:=a;typedef int b[2];enum e:u8{A=1...2};") ==
	      "def a='int';def b='int'[2];def =enum e:'u8'{A=1..2,};");
}

TEST_CASE("tsdl syntax: positions are those of the first token")
{
	const Tree tree = parse("typealias const int := a;\n"
				" struct s { } ;\n"
				"typedef int b, *c [2];\n"
				"/* */ trace { x . y = - 3; enum e { A,\n B = 1 };\n"
				"  p.h := struct { long int f, g [1] [ n ]; }; };\n");
	REQUIRE(tree.definitions.size() == 4);
	CHECK(place(tree.definitions[0].position) == "1:24");
	CHECK(place(tree.definitions[0].type->position) == "1:11");
	CHECK(place(tree.definitions[1].position) == "2:2");
	CHECK(place(tree.definitions[1].type->position) == "2:2");
	CHECK(place(tree.definitions[2].position) == "3:13");
	CHECK(place(tree.definitions[3].position) == "3:17");
	CHECK(place(tree.definitions[3].type->position) == "3:9");
	CHECK(place(tree.definitions[3].dimensions.at(0).position) == "3:19");
	const Block &trace = tree.blocks.at(0);
	CHECK(place(trace.position) == "4:7");
	CHECK(place(trace.attributes.at(0).position) == "4:15");
	CHECK(place(trace.attributes.at(0).value.position) == "4:23");
	CHECK(place(trace.definitions.at(0).position) == "4:28");
	CHECK(place(trace.definitions.at(0).type->labels.at(1).position) == "5:2");
	CHECK(place(trace.bindings.at(0).position) == "6:3");
	const Type &header = *trace.bindings.at(0).type;
	CHECK(place(header.position) == "6:10");
	CHECK(place(header.fields.at(0).position) == "6:28");
	CHECK(place(header.fields.at(1).position) == "6:31");
	CHECK(place(header.fields.at(1).type->position) == "6:19");
	CHECK(place(header.fields.at(1).dimensions.at(0).position) == "6:33");
	CHECK(place(header.fields.at(1).dimensions.at(1).position) == "6:37");
	CHECK(header.fields[0].type == header.fields[1].type);
}

// LTTng's kernel tracer, each system call with its entry and exit
TEST_CASE("tsdl syntax: a description with 2500 events of 20 fields is read")
{
	const std::string field = "\t\tinteger { size = 64; align = 8; signed = 0; encoding = none; base = 16; } _f;\n";
	const std::string event = "event {\n\tname = \"syscall_entry_x\";\n\tid = 7;\n\tstream_id = 0;\n"
				  "\tfields := struct {\n" +
				  repeated(field, 20) + "\t};\n};\n\n";
	const Tree tree = parse(repeated(event, 2500));
	REQUIRE(tree.blocks.size() == 2500);
	CHECK(tree.blocks.back().bindings.at(0).type->fields.size() == 20);
	CHECK(place(tree.blocks.back().position) == std::to_string(2499 * 28 + 1) + ":1");
}

} // namespace test_tsdl_syntax
