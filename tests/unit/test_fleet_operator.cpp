// SPDX-License-Identifier: MIT
// The operator's side of a fleet (fleet/operator/): which hosts are meant, and what their answers add up to.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/json.h"
#include "fleet/operator/command.h"
#include "fleet/operator/coordinated_view.h"
#include "fleet/operator/cost_table.h"
#include "fleet/operator/fleet_tables.h"

using namespace monitor;
using namespace monitor::fleet_operator;
using Catch::Matchers::Contains;

namespace {

Received answer_from(const char *host, fleet::CommandAnswer::Kind kind, Clock::time_point when = {})
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
	using AnswerKind = fleet::CommandAnswer::Kind;
	const Clock::time_point start{};
	std::vector<Received> answers = {
	    answer_from("a", AnswerKind::accepted),
	    answer_from("b", AnswerKind::accepted),
	    answer_from("c", AnswerKind::refused),
	    answer_from("a", AnswerKind::started, start + std::chrono::milliseconds(5)),
	    answer_from("b", AnswerKind::started, start + std::chrono::milliseconds(2)),
	    answer_from("stranger", AnswerKind::started),
	    answer_from("a", AnswerKind::ended, start),
	    answer_from("a", AnswerKind::started, start + std::chrono::seconds(9)),
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
	const auto receive = [&](const char *host, const char *nonce) {
		Received received = answer_from(host, fleet::CommandAnswer::Kind::accepted);
		received.answer.nonce = nonce;
		kept.add(received);
	};
	receive("a", "one");
	kept.expect("one");
	kept.expect("two");
	receive("a", "other");
	receive("a", "");
	CHECK(kept.all().empty());
	receive("a", "two");
	for (std::size_t i = 0; i < 2 * KeptAnswers::max_of_host; ++i)
		receive("b", "one");
	receive("c", "one");
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

TEST_CASE("fleet operator: what became of a command to take a snapshot")
{
	using AnswerKind = fleet::CommandAnswer::Kind;
	std::vector<Received> answers = {answer_from("a", AnswerKind::accepted), answer_from("a", AnswerKind::ended),
					 answer_from("b", AnswerKind::ended), answer_from("c", AnswerKind::refused),
					 answer_from("d", AnswerKind::accepted)};
	answers[1].answer.run = "night";
	answers[1].answer.snapshot = "002";
	answers[1].answer.exit_code = 0;
	answers[1].answer.late_ns = 1'500'000;
	answers[2].answer.exit_code = 1;
	answers[2].answer.reason = "no room";
	answers[3].answer.reason = "no flight recorder";
	const std::string text =
	    report::to_csv(snapshot_table(outcomes({"a", "b", "c", "d", "e"}, answers), {"a", "b", "c", "d"}));
	CHECK_THAT(text, Contains("\n\"a\",\"taken\",\"night/002\",1500000,"));
	CHECK_THAT(text, Contains("\n\"b\",\"failed\",,,\"no room\""));
	CHECK_THAT(text, Contains("\n\"c\",\"refused\",,,\"no flight recorder\""));
	CHECK_THAT(text, Contains("\n\"d\",\"accepted\",,,"));
	CHECK_THAT(text, Contains("\n\"e\",\"no answer\",,,"));
}

TEST_CASE("fleet operator: from a trigger to the last host that froze")
{
	using std::chrono::milliseconds;
	const Clock::time_point start{};
	const auto news = [](std::uint64_t number, std::uint64_t realtime_ns, std::uint64_t frozen_ns,
			     const char *cause = "") {
		return fleet::SnapshotNews{"night",   number, "slow",          0, realtime_ns, 0,
					   frozen_ns, cause,  *cause ? 3u : 0u};
	};
	const std::set<std::string> hosts = {"a", "b", "c"};
	KeptCoordinatedSnapshots kept;
	kept.add("b", false, news(1, 2'000'000, 2'100'000, "a"),
		 start + milliseconds(4)); // before the word of its cause
	kept.add("a", true, news(3, 1'000'000, 1'000'000), start + milliseconds(3));
	kept.add("b", false, news(1, 9'000'000, 9'000'000, "a"), start + milliseconds(9)); // said twice
	kept.add("a", false, news(3, 1, 1, "a"), start);                                   // of itself
	kept.add("c", true, news(5, 1, 1, "a"), start); // fired because of another one
	CHECK(kept.take_settled(hosts, start).empty());
	kept.add("c", false, news(1, 2'000'000, 3'500'000, "a"), start + milliseconds(5));
	const auto settled = kept.take_settled(hosts, start);
	REQUIRE(settled.size() == 1);
	CHECK(settled[0].host == "a");
	CHECK(settled[0].froze.size() == 2);
	const auto time = freeze_time(settled[0]);
	REQUIRE(time);
	CHECK(time->last_host == "c");
	CHECK(time->by_arrival_ns == 2e6);
	CHECK(time->by_clocks_ns == 2'500'000);
	CHECK(coordinated_text(settled[0], hosts) ==
	      "the trigger slow of a fired (snapshot 003): 2 of 2 other hosts froze, the last, "
	      "c, 2.00 ms after it as heard here; 2.50 ms at most by the hosts' own clocks");
	const auto json = coordinated_json(settled[0]);
	CHECK(json["fired"]["snapshot"] == "003");
	CHECK(json["froze"].size() == 2);
	CHECK(json["last_frozen_by_clocks_ns"] == 2'500'000);

	kept.add("c", false, news(1, 2, 3, "a"), start + milliseconds(6)); // reported already
	CHECK(kept.take_settled(hosts, Clock::time_point::max()).empty());
	kept.add("b", true, news(9, 1, 1), start + milliseconds(7)); // nobody follows
	CHECK(kept.take_settled(hosts, start + milliseconds(7)).empty());
	const auto alone = kept.take_settled(hosts, start + milliseconds(8));
	REQUIRE(alone.size() == 1);
	CHECK_FALSE(freeze_time(alone[0]));
	CHECK(coordinated_text(alone[0], hosts) ==
	      "the trigger slow of b fired (snapshot 009): 0 of 2 other hosts froze");
}

TEST_CASE("fleet operator: hosts that say that they froze without end are kept in bounds")
{
	KeptCoordinatedSnapshots kept;
	for (std::uint64_t i = 0; i < KeptCoordinatedSnapshots::max_snapshots + 10; ++i)
		kept.add("a", true, {"night", i, "slow", 0, 1, 0, 1, "", 0}, {});
	CHECK(kept.take_settled({"a"}, {}).size() == KeptCoordinatedSnapshots::max_snapshots);
	kept.add("b", true, {"night", 1, "slow", 0, 1, 0, 1, "", 0}, {});
	CHECK(kept.take_settled({"a"}, Clock::time_point::max()).empty());
}

TEST_CASE("fleet operator: the cost of a run, in which a sum over what is unknown is unknown")
{
	const auto row = [](const report::Table &table, std::size_t i) {
		return parse_json(report::to_json(table))[i];
	};
	const report::Table known = cost_table(parse_json(
	    R"({"cost":{"agents":{"a":{"cpu_ns":3000,"bytes":1048576,"messages":5},"b":{"cpu_ns":1000,"bytes":1048576,"messages":6}},
		"server":{"cpu_ns":500},"collector":{"cpu_ns":700,"bytes":4194304,"messages":11}}})"));
	REQUIRE(known.rows.size() == 6);
	CHECK(row(known, 0)["host"] == "a");
	CHECK(row(known, 0)["cpu_ns_per_mib"] == 3000);
	CHECK(row(known, 2)["part"] == "agents");
	CHECK(row(known, 2)["cpu_ns"] == 4000);
	CHECK(row(known, 2)["cpu_ns_per_mib"] == 2000);
	CHECK(row(known, 2)["messages"] == 11);
	CHECK(row(known, 3)["cpu_ns_per_mib"] == 125);
	CHECK(row(known, 4)["cpu_ns"] == 700);
	CHECK(row(known, 5)["cpu_ns"] == 5200);
	CHECK(row(known, 3)["note"] == "");
	const report::Table partly = cost_table(parse_json(
	    R"({"cost":{"agents":{"a":{"cpu_ns":3000,"bytes":1,"messages":5}},"server":{"cpu_ns":500,"partly":true},
		"collector":{"cpu_ns":700,"bytes":4194304,"messages":11}}})"));
	CHECK(row(partly, 2)["cpu_ns"] == 500);
	CHECK(row(partly, 2)["note"].get<std::string>().find("at least") == 0);
	CHECK(row(partly, 4)["cpu_ns"] == 4200);
	CHECK(row(partly, 4)["note"].get<std::string>().find("at least") == 0);
	const report::Table unknown = cost_table(parse_json(
	    R"({"cost":{"agents":{"a":{"cpu_ns":3000,"bytes":0,"messages":0},"b":null},"server":null,
		"collector":{"cpu_ns":700,"bytes":0,"messages":0}}})"));
	CHECK(row(unknown, 0)["cpu_ns"] == 3000);
	CHECK(row(unknown, 0)["cpu_ns_per_mib"].is_null()); // of no bytes
	for (const std::size_t i : {1u, 2u, 3u, 5u}) {
		CHECK(row(unknown, i)["cpu_ns"].is_null());
		CHECK(row(unknown, i)["note"].get<std::string>().find("unknown") == 0);
	}
	for (const char *text : {"null", "[]", "{}", R"({"cost":{"agents":[1]}})", R"({"cost":7})"})
		CHECK(cost_table(parse_json(text)).rows.size() == 4);
}

TEST_CASE("fleet operator: arrival rate times demand is the utilization; without times only the demand is known")
{
	constexpr const char *accounts =
	    R"({{"cost":{{"agents":{{"a":{{"cpu_ns":200000000,"bytes":1,"messages":100{0}}},
		"b":{{"cpu_ns":100000000,"bytes":1,"messages":50{0}}}}},"server":{{"cpu_ns":51000000{1}{0}}},
		"collector":{{"cpu_ns":300000000,"bytes":1,"messages":150{0}}}}}}})";
	const auto rows_of = [&](const char *elapsed, const char *partly) {
		return parse_json(report::to_json(cost_table(parse_json(fmt::format(accounts, elapsed, partly)))));
	};
	const auto rows = rows_of(R"(,"elapsed_ns":10000000000)", "");
	struct Expected {
		double rate, demand_ns, percent;
	};
	const Expected expected[] = {{10, 2e6, 2},    {5, 2e6, 1},  {15, 2e6, 3},
				     {15, 34e4, .51}, {15, 2e6, 3}, {15, 434e4, 6.51}};
	for (std::size_t i = 0; i < std::size(expected); ++i) {
		CHECK(rows[i]["elapsed_ns"].is_null() == (i == 2 || i == 5));
		CHECK(rows[i]["messages_per_s"].get<double>() == Approx(expected[i].rate));
		CHECK(rows[i]["cpu_ns_per_message"].get<double>() == Approx(expected[i].demand_ns));
		CHECK(rows[i]["cpu_percent"].get<double>() == Approx(expected[i].percent));
		CHECK(rows[i]["hosts_at_100_percent"].is_null() == (i != 3 && i != 4));
	}
	CHECK(rows[3]["hosts_at_100_percent"] == 392); // two hosts need 0.51 %
	CHECK(rows[4]["hosts_at_100_percent"] == 66);
	for (const auto &row : rows_of("", ""))
		for (const char *unknown : {"elapsed_ns", "messages_per_s", "cpu_percent", "hosts_at_100_percent"})
			CHECK(row[unknown].is_null());
	CHECK(rows_of("", "")[4]["cpu_ns_per_message"] == 2e6);
	const auto partly = rows_of(R"(,"elapsed_ns":10000000000)", R"(,"partly":true)");
	CHECK(partly[3]["messages_per_s"].is_null()); // it is not known how many came while its process was measured
	CHECK(partly[3]["cpu_percent"].get<double>() == Approx(.51));
}

TEST_CASE("fleet operator: the traces that hosts keep are listed, a row for each")
{
	std::map<std::string, HostSeen> seen;
	seen["a"].presence.kept = std::vector<fleet::Presence::Kept>{
	    {"day", 4096, 1, 0, 1'700'000'000'000'000'000, 1'700'000'001'000'000'000, true},
	    {"night", 8192, 2, 2, 0, 0, false}};
	seen["b"];
	const auto rows = parse_json(report::to_json(kept_table(seen, {"a", "b", "c"}, "")));
	REQUIRE(rows.size() == 2);
	CHECK(rows[0]["begin_ns"] == 1'700'000'000'000'000'000);
	CHECK(rows[0]["state"] == "ended");
	CHECK(rows[1]["begin_ns"].is_null());
	CHECK(rows[1]["from"] == "");
	CHECK(rows[1]["state"] == "recording");
	CHECK(kept_table(seen, {"a"}, "night").rows.size() == 1);
}
