// SPDX-License-Identifier: MIT
// The operator's side of a fleet (answers/fleet_operator/): which hosts are meant, and what their answers add up to.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/fleet_operator/command.h"
#include "answers/fleet_operator/fleet_tables.h"
#include "base/error.h"

using namespace monitor;
using namespace monitor::fleet_operator;
using Catch::Matchers::Contains;

namespace {

Received heard(const char *host, fleet::CommandAnswer::Kind kind, Clock::time_point when = {})
{
	Received received;
	received.host = host;
	received.answer.kind = kind;
	received.arrived = when;
	return received;
}

} // namespace

TEST_CASE("fleet operator: patterns choose hosts")
{
	for (const auto &[pattern, host] :
	     {std::pair("*", "web1"), std::pair("web1", "web1"), std::pair("web*", "web1"), std::pair("*1", "web1"),
	      std::pair("w?b?", "web1"), std::pair("*e*1*", "web1"), std::pair("**", "a"),
	      std::pair("a*b*c", "aXbXbYc")})
		CHECK(is_match(pattern, host));
	for (const auto &[pattern, host] :
	     {std::pair("", "web1"), std::pair("web", "web1"), std::pair("web?", "web12"), std::pair("*2", "web1"),
	      std::pair("web1?", "web1"), std::pair("Web1", "web1"), std::pair("a*b*c", "aXbXbY")})
		CHECK_FALSE(is_match(pattern, host));
	const std::set<std::string> hosts = {"db1", "web1", "web2"};
	CHECK(chosen_hosts("*", hosts) == std::vector<std::string>{"db1", "web1", "web2"});
	CHECK(chosen_hosts("web2,w*", hosts) == std::vector<std::string>{"web1", "web2"});
	CHECK_THROWS_WITH(chosen_hosts("web1,x*", hosts), Contains("no host matches 'x*'"));
	CHECK_THROWS_WITH(chosen_hosts("", hosts), Contains("no host matches ''"));
}

TEST_CASE("fleet operator: what became of a command on each host")
{
	using Kind = fleet::CommandAnswer::Kind;
	const Clock::time_point start{};
	std::vector<Received> answers = {
	    heard("a", Kind::accepted),
	    heard("b", Kind::accepted),
	    heard("c", Kind::refused),
	    heard("a", Kind::started, start + std::chrono::milliseconds(5)),
	    heard("b", Kind::started, start + std::chrono::milliseconds(2)),
	    heard("stranger", Kind::started),
	    heard("a", Kind::ended, start),
	    heard("a", Kind::started, start + std::chrono::seconds(9)),
	};
	answers[2].answer.reason = "because\n";
	answers[3].answer.late_ns = answers[7].answer.late_ns = 3'000'000;
	answers[4].answer.late_ns = -1'000'000;
	answers[6].answer.exit_code = 125;
	const Outcomes all = outcomes({"a", "b", "c", "d", "e"}, answers);
	CHECK(all.size() == 5);
	CHECK_FALSE(all.contains("stranger"));
	const StartSpread spread = start_spread(all);
	CHECK(spread.hosts == 2);
	CHECK(spread.arrived_ns == 3e6); // the first word of a host counts
	CHECK(spread.earliest_ns == -1'000'000);
	CHECK(spread.latest_ns == 3'000'000);
	CHECK_THAT(spread_text(spread, 5), Contains("2 of 5 hosts started, within 3.00 ms"));
	CHECK(spread_text({}, 5) == "no host has started");
	const std::string text = report::to_csv(outcome_table(all, {"a", "b", "c", "d"}));
	CHECK_THAT(text, Contains("\n\"a\",\"failed\",3000000,125,"));
	CHECK_THAT(text, Contains("\n\"b\",\"recording\",-1000000,,"));
	CHECK_THAT(text, Contains("\n\"c\",\"refused\",,,\"because\\n\""));
	CHECK_THAT(text, Contains("\n\"d\",\"no answer\",,,\"it was there before the command"));
	CHECK_THAT(text, Contains("\n\"e\",\"no answer\",,,\"no agent of this host"));
}

TEST_CASE("fleet operator: answers to this command are kept, and no host fills the place of others")
{
	KeptAnswers kept;
	const auto hear = [&](const char *host, const char *nonce) {
		Received received = heard(host, fleet::CommandAnswer::Kind::accepted);
		received.answer.nonce = nonce;
		kept.add(received);
	};
	hear("a", "one");
	kept.expect("one");
	kept.expect("two");
	hear("a", "other");
	hear("a", "");
	CHECK(kept.all().empty());
	hear("a", "two");
	for (std::size_t i = 0; i < 2 * KeptAnswers::max_of_host; ++i)
		hear("b", "one");
	hear("c", "one");
	REQUIRE(kept.all().size() == KeptAnswers::max_of_host + 2);
	CHECK(kept.all().front().host == "a");
	CHECK(kept.all().back().host == "c");
}

TEST_CASE("fleet operator: hosts that should be there and are not, and two agents of one name")
{
	std::map<std::string, HostSeen> seen;
	seen["web1"].sessions = {"1", "2"};
	seen["web1"].presence.runs = {{"r", "recording"}, {"s", "waiting"}};
	seen["new"].presence.user_only = true;
	const std::string text = report::to_csv(status_table(seen, {"web1", "db1"}));
	CHECK_THAT(text, Contains("\n\"db1\",\"no answer\",,"));
	CHECK_THAT(text, Contains("\n\"new\",\"idle\",") && Contains("programs' own events only"));
	CHECK_THAT(text,
		   Contains("\n\"web1\",\"recording\",\"r, s (waiting)\"") && Contains("2 agents have this name"));
}
