// SPDX-License-Identifier: MIT
// The file of a host's clock exchanges: what is taken, what is left out and counted, what is refused.
#include <catch2/catch.hpp>

#include "fleet/clocks/clock_exchanges.h"

namespace test_clock_exchanges {

using namespace monitor;
using fleet::ClockExchanges;

namespace {

const std::string head =
    "monitor-clock 1 node-1.site clock=tsc frequency_hz=2999999123 boot=01234567-89ab-cdef-0123-456789abcdef\n";

ClockExchanges parsed(const std::string &text)
{
	std::string why;
	auto made = fleet::parse_exchanges(text, why);
	INFO(why);
	REQUIRE(made);
	return *made;
}

std::string refused(const std::string &text)
{
	std::string why;
	CHECK_FALSE(fleet::parse_exchanges(text, why));
	return why;
}

} // namespace

TEST_CASE("clock exchanges: each line is two samples")
{
	const auto made = parsed(head + "10 2000 2003 40\n50 2100 2100 50\n");
	CHECK(made.host == "node-1.site");
	CHECK(made.boot == "01234567-89ab-cdef-0123-456789abcdef");
	CHECK(made.is_tsc);
	CHECK(made.frequency_hz == 2'999'999'123);
	REQUIRE(made.all.size() == 2);
	const auto samples = made.samples();
	REQUIRE(samples.at_most.size() == 2);
	CHECK(samples.at_most[0].ticks == 10);
	CHECK(samples.at_most[0].ns == 2000);
	CHECK(samples.at_least[0].ticks == 40);
	CHECK(samples.at_least[0].ns == 2003);
	CHECK_FALSE(parsed("monitor-clock 1 a clock=monotonic frequency_hz=1000000000 "
			   "boot=01234567-89ab-cdef-0123-456789abcdef\n")
			.is_tsc);
}

TEST_CASE("clock exchanges: what is no exchange is left out and counted")
{
	const auto made =
	    parsed(head + "1 2 3 4\n1 2 3\n1 2 3 4 5\n-1 2 3 4\n1  2 3 4\n1 2 3 x\n\n" + std::string(5000, '7') +
		   "\n1 9223372036854775808 3 4\n18446744073709551616 2 3 4\n" + // 9 damaged
		   "5 2 3 4\n1 3 2 4\n" +                                        // end before they begin
		   head + "6 2 3 9\n" +                                          // the same clock again
		   "monitor-clock 1 node-1.site clock=tsc frequency_hz=5 "
		   "boot=01234567-89ab-cdef-0123-456789abcdef\n7 2 3 9\n8 2 3 9\n" +
		   head + "7 2 3 9\n8 2 3"); // still being written
	CHECK(made.all.size() == 3);
	CHECK(made.damaged == 9);
	CHECK(made.impossible == 2);
	CHECK(made.foreign == 2);
	CHECK(made.beyond == 0);
}

TEST_CASE("clock exchanges: a first line that is none is refused in a sentence")
{
	CHECK(refused("") == "has no whole line; record the run again");
	CHECK(refused(head.substr(0, head.size() - 1)) == "has no whole line; record the run again");
	CHECK(refused("1 2 3 4\n") == "does not start with a line `monitor-clock`");
	const auto with = [](const std::string &from, const std::string &to) {
		std::string text = head;
		return text.replace(text.find(from), from.size(), to);
	};
	CHECK(refused(with(" 1 ", " 2 ")).find("version") != std::string::npos);
	for (const char *host : {"../etc", "", ".hidden", "-o", "a/b", "a\x1b"})
		CHECK(refused(with("node-1.site", host)).find("host") != std::string::npos);
	CHECK(refused(with("node-1.site", std::string(64, 'a'))).find("host") != std::string::npos);
	CHECK(refused(with("clock=tsc", "clock=sun")).find("clock=tsc") != std::string::npos);
	for (const char *frequency : {"0", "-1", "", "1e9", "99999999999999999999"})
		CHECK(refused(with("2999999123", frequency)).find("frequency_hz") != std::string::npos);
	CHECK(refused(with("abcdef\n", "abcde\n")).find("boot") != std::string::npos);
	CHECK(refused(with("abcdef\n", "abcdef more\n")).find("boot") != std::string::npos);
}

} // namespace test_clock_exchanges
