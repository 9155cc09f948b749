// SPDX-License-Identifier: MIT
// Clock questions that go from host to host: to whom, how many, what is written down, and what it says of the lines.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

#include "base/encoding.h"
#include "base/fd.h"
#include "fleet/clocks/clock_loops.h"
#include "fleet/collector/clock_relays.h"

namespace test_clock_loops {

using namespace monitor;
using namespace std::chrono_literals;
using fleet::ClockQuestion;
using fleet::ClockRelays;
using fleet::JudgedLoops;

namespace {

namespace fs = std::filesystem;

constexpr Uuid boot{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
const std::string boot_text = "01234567-89ab-cdef-0123-456789abcdef";

class Run {
public:
	Run() : path_(fs::temp_directory_path() / ("clock-loops-" + std::to_string(::getpid())))
	{
		fs::create_directories(path_ / ".monitor" / "clock_loops");
		fs::create_directories(path_ / ".monitor" / "clocks");
	}
	~Run() { fs::remove_all(path_); }
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	std::string path() const { return path_.string(); }
	std::string loops(const std::string &host) const { return path() + "/.monitor/clock_loops/" + host; }
	// Two hosts whose ticks are ns of the reference, with bounds of 10 and 20 ns; a third one without a bound.
	void write_clocks() const
	{
		const std::string nodes = "\"nodes\": [[0, 1000], [1000000, 1001000]], \"bounds_ns\": [null, ";
		std::ofstream(path_ / ".monitor" / "collection.json")
		    << R"({"parts": [{"directory": "a", "clock": {)" << nodes
		    << R"(10, null]}}, {"directory": "b", "clock": {)" << nodes
		    << R"(20, null]}}, {"directory": "c", "clock": {)" << nodes << "null, null]}}]}";
		for (const char *host : {"a", "b", "c"}) {
			fs::create_directories(path_ / host / ".monitor");
			std::ofstream(path_ / host / ".monitor" / "recording.json")
			    << R"({"boot_id": ")" << boot_text << "\"}";
		}
	}
	// Received by `host`.
	void write(const std::string &host, const std::string &lines) const
	{
		std::ofstream(loops(host)) << "monitor-clock-loop 1\n" << lines;
	}

private:
	fs::path path_;
};

std::string line(const std::string &from, std::uint64_t sent, std::uint64_t received,
		 const std::string &to_boot = boot_text)
{
	return from + ' ' + boot_text + ' ' + std::to_string(sent) + ' ' + to_boot + ' ' + std::to_string(received) +
	       '\n';
}

ClockQuestion question_at(std::uint64_t t1)
{
	ClockQuestion question;
	question.clock = {true, 1'000'000'000, boot};
	question.t1 = t1;
	return question;
}

std::uint64_t number_of(const ClockRelays::Relay &relay)
{
	const auto number = fleet::decode_clock_relay(relay.data);
	REQUIRE(number);
	return *number;
}

} // namespace

TEST_CASE("clock loops: questions go round in both directions, to hosts that ask themselves")
{
	const Run run;
	ClockRelays relays(run.path());
	auto now = ClockRelays::Clock::now();
	CHECK_FALSE(relays.question("a", question_at(1), "_INBOX.a.x.1", now)); // alone
	std::set<std::pair<std::string, std::string>> pairs;
	for (int turn = 0; turn < 20; ++turn)
		for (const char *host : {"a", "b", "c", "d"}) {
			const auto relay =
			    relays.question(host, question_at(5), std::string("_INBOX.") + host + ".x.1", now += 300ms);
			if (!relay)
				continue;
			CHECK(relay->subject == "_INBOX." + relay->to + ".x.1");
			pairs.emplace(host, relay->to);
		}
	using Pairs = std::set<std::pair<std::string, std::string>>;
	CHECK(pairs ==
	      Pairs{{"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "a"}, {"b", "a"}, {"c", "b"}, {"d", "c"}, {"a", "d"}});
	// those that have left are passed over
	now += 10s;
	relays.question("c", question_at(5), "_INBOX.c.x.1", now);
	std::set<std::string> to;
	for (int turn = 0; turn < 2; ++turn)
		if (const auto relay = relays.question("a", question_at(5), "_INBOX.a.x.1", now += 1s))
			to.insert(relay->to);
	CHECK(to == std::set<std::string>{"c"});
}

TEST_CASE("clock loops: what a host says it received is taken once, and only what it was given")
{
	const Run run;
	ClockRelays relays(run.path());
	const auto now = ClockRelays::Clock::now();
	relays.question("b", question_at(1), "_INBOX.b.x.1", now);
	const auto relay = relays.question("a", question_at(77), "_INBOX.a.x.1", now);
	REQUIRE(relay);
	REQUIRE(relay->to == "b");
	fleet::ClockReceipt receipt{{true, 1'000'000'000, boot}, number_of(*relay), 88};
	CHECK_FALSE(relays.receipt("a", receipt));
	CHECK_FALSE(relays.receipt("stranger", receipt));
	receipt.number = 0;
	CHECK_FALSE(relays.receipt("b", receipt));
	receipt.number = number_of(*relay);
	const auto sent = fleet::decode_clock_receipt(fleet::encode_clock_receipt(receipt));
	REQUIRE(sent);
	CHECK(relays.receipt("b", *sent));
	CHECK_FALSE(relays.receipt("b", *sent));
	CHECK(read_file(run.loops("b"), 1000) == "monitor-clock-loop 1\na " + boot_text + " 77 " + boot_text + " 88\n");
}

TEST_CASE("clock loops: however often hosts ask, a host receives few")
{
	const Run run;
	ClockRelays relays(run.path());
	auto now = ClockRelays::Clock::now();
	relays.question("b", question_at(1), "_INBOX.b.x.1", now);
	unsigned given = 0;
	for (int i = 0; i < 20'000; ++i, now += 1ms) {
		if (i % 1000 == 0)
			relays.question("b", question_at(1), "_INBOX.b.x.1", now);
		if (const auto relay = relays.question("a", question_at(1), "_INBOX.a.x.1", now)) {
			++given;
			relays.receipt("b", {{true, 1'000'000'000, boot}, number_of(*relay), 5});
		}
	}
	CHECK(given > 20);
	CHECK(given <= 31); // ten in the first second, then one each second
	// and all of them together
	for (int i = 0; i < 3000; ++i)
		relays.question("h" + std::to_string(i), question_at(1), "_INBOX.h.x.1", now);
	now += 1s;
	unsigned all = 0;
	for (int i = 0; i < 3000; ++i)
		all += relays.question("h" + std::to_string(i), question_at(1), "_INBOX.h.x.1", now).has_value();
	CHECK(all == ClockRelays::max_relays_per_second);
}

TEST_CASE("clock loops: messages are taken for what they are, damaged ones for nothing")
{
	CHECK_FALSE(fleet::decode_clock_relay(fleet::encode_clock_receipt({{true, 1'000'000'000, boot}, 1, 2})));
	CHECK_FALSE(fleet::decode_clock_receipt(fleet::encode_clock_relay(1)));
	CHECK_FALSE(fleet::decode_clock_receipt(fleet::encode_clock_receipt({{true, 5, boot}, 1, 2})));
	CHECK_FALSE(fleet::decode_clock_relay({}));
	std::uint64_t damaged = 0;
	const std::string text = "monitor-clock-loop 1\n" + line("a", 5, 6) + "a b c\n" + line("a", 7, 8) +
				 "a x 1 y 2 3\n" + line("unfinished", 1, 2).substr(0, 20);
	const auto messages = fleet::parse_loops(text, damaged);
	REQUIRE(messages.size() == 2);
	CHECK(messages[1].from == "a");
	CHECK(messages[1].sent == 7);
	CHECK(messages[1].received == 8);
	CHECK(messages[1].boot == boot_text);
	CHECK(damaged == 2);
	CHECK(fleet::parse_loops("monitor-clock-loop 2\n" + line("a", 5, 6), damaged).empty());
	CHECK(damaged == 3);
}

TEST_CASE("clock loops: a message that arrives before it was sent by more than both bounds is found")
{
	const Run run;
	run.write_clocks();
	run.write("b", line("a", 1000, 1500) + line("a", 2000, 2100));
	run.write("a", line("b", 1600, 1970) + line("b", 3000, 2975));
	const JudgedLoops fine = fleet::judge_loops(run.path());
	CHECK(fine.messages == 4);
	CHECK(fine.early == 0);
	CHECK(fine.unknown == 0);
	CHECK(fine.loops == 1);
	CHECK(fine.max_open_ns == 100 + 30); // there; back 5 are left
	run.write("a", line("b", 3000, 2969));
	const JudgedLoops early = fleet::judge_loops(run.path());
	CHECK(early.messages == 3);
	CHECK(early.early == 1);
	CHECK(early.first_early == "b to a");
	// of another boot, of a host that is none, where a bound is unknown, and one way
	run.write("a", line("b", 1, 2, "11111111-89ab-cdef-0123-456789abcdef") + line("z", 1, 2) + line("c", 1, 2));
	const JudgedLoops unknown = fleet::judge_loops(run.path());
	CHECK(unknown.unknown == 3);
	CHECK(unknown.messages == 2);
	CHECK(unknown.loops == 0);
	CHECK(fleet::judge_loops(run.path() + "/none").messages == 0);
}

} // namespace test_clock_loops
