// SPDX-License-Identifier: MIT
// The scanner below all lexers: positions, numbers, escapes, and texts that end where they should not.
#include <catch2/catch.hpp>

#include "base/scanner.h"

namespace test_scanner {

using monitor::ParseError;
using monitor::Scanner;
using monitor::take_until;
using monitor::trimmed;
using namespace std::literals;

TEST_CASE("scanner: a position is line, column and byte")
{
	Scanner scanner("ab\n\n  c\n");
	CHECK(scanner.position().in_words() == "line 1, column 1");
	CHECK(scanner.identifier() == "ab");
	CHECK(scanner.position().in_numbers() == "1:3");
	CHECK(scanner.take() == '\n');
	CHECK(scanner.position().in_numbers() == "2:1");
	CHECK(scanner.take_any(" \n") == "\n  ");
	CHECK(scanner.position().in_numbers() == "3:3");
	CHECK(scanner.position().offset == 6);
	CHECK(scanner.position().plus(2).in_numbers() == "3:5");
	CHECK(scanner.skip_to("\n"));
	CHECK(scanner.since(6) == "c");
	CHECK(scanner.skip(100) == "\n");
	CHECK(scanner.at_end());
	CHECK(scanner.position().in_numbers() == "4:1");
	CHECK(Scanner("").position().is_before(scanner.position()));
}

TEST_CASE("scanner: text up to a separator is taken with the separator, and without one all of it")
{
	std::string_view text = "a,,b,c";
	CHECK(take_until(text, ',') == "a");
	CHECK(take_until(text, ',').empty());
	CHECK(text == "b,c");
	CHECK(take_until(text, ';') == "b,c");
	CHECK(text.empty());
	CHECK(take_until(text, ',').empty());
	text = "a,";
	CHECK(take_until(text, ',') == "a");
	CHECK(text.empty());
}

TEST_CASE("scanner: the end is not passed")
{
	Scanner scanner("ab");
	CHECK_FALSE(scanner.accept("abc"));
	CHECK(scanner.peek(1) == 'b');
	CHECK(scanner.peek(2) == '\0');
	CHECK(scanner.accept("ab"));
	CHECK(scanner.peek() == '\0');
	CHECK(scanner.skip().empty());
	CHECK(scanner.identifier().empty());
	CHECK(scanner.take_any("ab").empty());
	CHECK(scanner.digits(10) == 0u);
	CHECK_FALSE(scanner.accept("a"));
	CHECK_FALSE(scanner.skip_to("a"));
	CHECK(scanner.at() == 2);
}

TEST_CASE("scanner: NUL and bytes beyond ASCII are bytes like others")
{
	Scanner scanner("\0\xff\xc3\xa4\0x"sv);
	CHECK(scanner.identifier().empty());
	CHECK(scanner.take() == '\0');
	CHECK(scanner.take_any("\xff\xc3") == "\xff\xc3");
	CHECK(scanner.take() == '\xa4');
	CHECK(scanner.accept("\0"sv));
	CHECK(scanner.identifier() == "x");
	CHECK(scanner.at_end());
}

TEST_CASE("scanner: the first of several texts that is next")
{
	static constexpr std::string_view signs[] = {"<<", "<", "="};
	Scanner scanner("<<<=>");
	CHECK(scanner.accept_one(signs) == "<<");
	CHECK(scanner.accept_one(signs) == "<");
	CHECK(scanner.accept_one(signs) == "=");
	CHECK(scanner.accept_one(signs).empty());
	CHECK(scanner.rest() == ">");
}

TEST_CASE("scanner: numbers are read up to 64 bits, larger ones are refused")
{
	CHECK(Scanner("18446744073709551615x").digits(10) == ~0ull);
	CHECK(Scanner("18446744073709551616").digits(10) == std::nullopt);
	CHECK(Scanner("FfffFFFFffffFFFF").digits(16) == ~0ull);
	CHECK(Scanner("1ffffFFFFffffFFFF").digits(16) == std::nullopt);
	CHECK(Scanner(std::string(64, '1')).digits(2) == ~0ull);
	CHECK(Scanner("129").digits(2) == 1u);
	CHECK(Scanner("0778").digits(8) == 63u);
	CHECK(Scanner("x").digits(10) == 0u);
	Scanner scanner("1234");
	CHECK(scanner.digits(10, 3) == 123u);
	CHECK(scanner.rest() == "4");
	const std::string zeros = std::string(1 << 20, '0') + "7";
	CHECK(Scanner(zeros).digits(10) == 7u);
}

TEST_CASE("scanner: escapes are replaced, unknown ones refused")
{
	Scanner scanner(R"(a\n\x4a\"\x4g)");
	const auto next = [&] { return scanner.character("n\"", "\n\"", "unknown escape"); };
	CHECK(next() == 'a');
	CHECK(next() == '\n');
	CHECK(next() == 'J');
	CHECK(next() == '"');
	try {
		next();
		FAIL("an escape of one digit");
	} catch (const ParseError &error) {
		CHECK(error.position().column == 10);
		CHECK(error.what() == "unknown escape"s);
	}
	CHECK_THROWS_AS(Scanner("\\").character("n", "\n", "unknown escape"), ParseError);
	CHECK_THROWS_AS(Scanner("\\\0"sv).character("n", "\n", "unknown escape"), ParseError);
}

TEST_CASE("scanner: a refusal with a caret counts characters and shows no control character")
{
	Scanner scanner("\xc3\xa4\n\x01 ?", "text");
	CHECK(scanner.skip_to("?"));
	try {
		scanner.refuse(scanner.position(), "a question");
	} catch (const ParseError &error) {
		CHECK(error.sentence() == "a question");
		CHECK(error.position().column == 5);
		CHECK(error.position().offset == 5);
		CHECK(error.what() == "text, column 5: a question\n  \xc3\xa4 \\x01 ?\n         ^"s);
	}
}

TEST_CASE("scanner: blanks and line ends are trimmed at both ends only")
{
	CHECK(trimmed(" \t a b\r ") == "a b");
	CHECK(trimmed(" \t\r") == "");
	CHECK(trimmed("") == "");
	CHECK(trimmed("\n a\nb \n") == "a\nb");
}

} // namespace test_scanner
