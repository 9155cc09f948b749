// SPDX-License-Identifier: MIT
// Snapshots that a host takes because the operator asked, or because a trigger of another host fired
// (fleet/agent/): who is asked, how often, and what is said of it. The recorder's end of the socket is the real
// one.
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/fd.h"
#include "base/json.h"
#include "fleet/agent/coordinated_snapshots.h"
#include "fleet/agent/snapshot_answer.h"
#include "fleet/agent/snapshot_commands.h"
#include "recording/flight/begun_snapshots.h"
#include "recording/flight/snapshot_requests.h"
#include "recording/flight/snapshot_window.h"
#include "recording/recorder/recorders.h"
#include "recording/recorder/snapshot_question.h"

using namespace monitor;
using namespace monitor::agent;
using Catch::Matchers::Contains;
using By = record::SnapshotRequest::By;

namespace {

// A spool with one run, whose flight recorder is this process.
struct SpoolOfOne {
	std::filesystem::path runs =
	    std::filesystem::temp_directory_path() / ("monitor-joint-" + std::to_string(::getpid()));
	record::BegunSnapshots reported;

	SpoolOfOne()
	{
		std::filesystem::create_directories(runs / "night" / ".monitor");
		write();
	}
	~SpoolOfOne() { std::filesystem::remove_all(runs); }
	void write() const
	{
		replace_file(runs / "night" / ".monitor" / "flight.json",
			     json_dump(nlohmann::json{{"begun", reported.json()}}), 0600);
	}
	void begin(unsigned number, By by, const std::string &why, const std::string &trigger = "",
		   std::uint64_t age_ns = 0)
	{
		const std::uint64_t now_ns = clock_ns(CLOCK_REALTIME) - age_ns;
		reported.add({number, by, why, trigger, 100 + number, now_ns, 200 + number, now_ns + 5});
		write();
	}
};

struct CoordinatedHost {
	SpoolOfOne spool;
	record::SnapshotRequests recorder{::getuid(), "/flight", false};
	std::vector<std::pair<std::string, fleet::SnapshotNews>> published;
	std::vector<std::string> reported;
	bool is_connected = true;
	CoordinatedSnapshots coordinated;

	CoordinatedHost()
	    : coordinated(
		  "web1", spool.runs,
		  [this](std::string_view kind, const std::string &text) {
			  if (is_connected)
				  published.emplace_back(kind, fleet::parse_snapshot_news(text).value());
			  return is_connected;
		  },
		  [this](const std::string &sentence) { reported.push_back(sentence); })
	{
	}
	void take_part(std::uint64_t snapshots = 9) { coordinated.set_runs({{"night", ::getpid(), snapshots}}); }
	void receive(const char *subject = "m.fired.db1", std::uint64_t number = 3, const char *run = "night",
		     const char *cause = "")
	{
		const fleet::SnapshotNews news{run, number, "slow", 1, 2, 4, 3, cause, 0};
		coordinated.receive(subject, fleet::snapshot_news_text(news));
		coordinated.step();
	}
	std::vector<record::SnapshotRequests::Received> asked() { return recorder.take(); }
};

} // namespace

TEST_CASE("agent: a trigger of this host is passed on once; what was asked for is not")
{
	CoordinatedHost host;
	host.take_part();
	host.coordinated.step();
	CHECK(host.published.empty());
	host.spool.begin(1, By::trigger, "the trigger slow", "slow");
	host.coordinated.step();
	REQUIRE(host.published.size() == 1);
	const auto &[kind, news] = host.published[0];
	CHECK(kind == "fired");
	CHECK(news.run == "night");
	CHECK(news.number == 1);
	CHECK(news.trigger == "slow");
	CHECK(news.time == 101);
	CHECK(news.frozen_ns == news.realtime_ns + 5);
	CHECK(news.cause_host == "");
	host.spool.write();
	host.coordinated.step();
	host.spool.begin(2, By::request, "the operator");
	host.spool.begin(3, By::signal, "SIGUSR1");
	host.coordinated.step();
	CHECK(host.published.size() == 1);
}

TEST_CASE("agent: a trigger waits for a connection for two seconds, also after a restart")
{
	using namespace std::chrono_literals;
	const auto now = CoordinatedSnapshots::Clock::now();
	for (const bool was_restarted : {false, true}) {
		CoordinatedHost host;
		host.is_connected = false;
		if (!was_restarted)
			host.take_part();
		host.spool.begin(1, By::trigger, "the trigger slow", "slow");
		if (was_restarted)
			host.take_part();
		host.coordinated.step(now);
		host.coordinated.step(now + 1s);
		CHECK(host.reported.empty());
		host.is_connected = true;
		host.coordinated.step(now + 2s);
		CHECK(host.published.size() == 1);
		host.coordinated.step(now + 9s);
		CHECK(host.published.size() == 1);
		CHECK(host.reported.empty());
		host.is_connected = false;
		host.spool.begin(2, By::trigger, "the trigger slow", "slow");
		host.coordinated.step(now);
		host.coordinated.step(now + 3s);
		REQUIRE(host.reported.size() == 1);
		CHECK_THAT(host.reported[0], Contains("no connection"));
		host.is_connected = true;
		host.coordinated.step(now + 4s);
		CHECK(host.published.size() == 1);
	}
}

TEST_CASE("agent: a trigger of another host whose word comes twice makes one snapshot")
{
	CoordinatedHost host;
	host.take_part();
	for (const auto &[sender, number, expected] :
	     {std::tuple("m.fired.db1", 3u, 1u), std::tuple("m.fired.db1", 3u, 0u)}) {
		host.receive(sender, number);
		auto asked = host.asked();
		CHECK(asked.size() == expected);
		for (auto &each : asked)
			record::SnapshotRequests::answer(each.caller, "{}");
		host.coordinated.step();
	}
	CHECK(host.reported.empty());
	host.receive("m.fired.db1", 4);
	REQUIRE(host.reported.size() == 1);
	CHECK_THAT(host.reported[0], Contains("less than a second ago"));
}

TEST_CASE("agent: a host that says without end that triggers fire is not listened to, and costs two lines")
{
	using namespace std::chrono_literals;
	SenderRateLimit limits;
	auto now = SenderRateLimit::Clock::now();
	unsigned accepted = 0;
	for (unsigned i = 0; i < 10'000; ++i) // ten seconds
		accepted += limits.use("liar", now += 1ms);
	CHECK(accepted >= 16 + 39);
	CHECK(accepted <= 16 + 40);
	CHECK(limits.use("honest", now));
	auto sentences = limits.take_messages(now);
	REQUIRE(sentences.size() == 1);
	CHECK_THAT(sentences[0], Contains("host liar says too often"));
	CHECK(limits.take_messages(now + 59s).empty());
	CHECK(limits.use("liar", now + 59s));
	sentences = limits.take_messages(now + 60s);
	REQUIRE(sentences.size() == 1);
	CHECK_THAT(sentences[0], Contains("host liar said " + std::to_string(10'000 - accepted) + " times too often"));
	CHECK(limits.take_messages(now + 1h).empty());
	for (std::size_t i = 0; i < 2 * SenderRateLimit::max_hosts; ++i)
		limits.use("invented" + std::to_string(i), now + 1h);
	CHECK_FALSE(limits.use("one more", now + 1h));
	CHECK(limits.use("one more", now + 2h)); // the others are forgotten

	CoordinatedHost host;
	host.take_part(1000);
	for (unsigned i = 1; i <= 1000; ++i)
		host.receive("m.fired.liar", i);
	CHECK(host.reported.size() < 30);
	host.receive();
	CHECK_THAT(host.reported.back(), Contains("host db1"));
}

TEST_CASE("agent: a trigger of another host makes this one take a snapshot, which causes no further one")
{
	CoordinatedHost host;
	host.take_part();
	host.receive();
	auto asked = host.asked();
	REQUIRE(asked.size() == 1);
	const record::SnapshotRequest &request = asked[0].request;
	CHECK(request.why == "the trigger slow of host db1 (snapshot 003 there)");
	CHECK(request.trigger == "slow");
	CHECK(request.joins);
	CHECK_FALSE(request.before_ns);
	host.spool.begin(1, By::request, request.why);
	host.coordinated.step();
	REQUIRE(host.published.size() == 1);
	CHECK(host.published[0].first == "froze");
	CHECK(host.published[0].second.cause_host == "db1");
	CHECK(host.published[0].second.cause_number == 3);
	CHECK(host.published[0].second.number == 1);
	record::SnapshotRequests::answer(asked[0].caller, R"({"number": 1, "frozen_ns": 5})");
	host.coordinated.step();
	CHECK(host.published.size() == 1);
	CHECK(host.reported.empty());
}

TEST_CASE("agent: only runs that the privileged process names, and only triggers of others, lead to snapshots")
{
	CoordinatedHost host;
	host.receive(); // before it takes part
	host.take_part();
	host.receive("m.fired.web1");                               // its own
	host.receive("m.froze.db1");                                // of a snapshot that was caused
	host.receive("m.fired.db1", 3, "night", "web2");            // likewise, by a host that lies
	host.receive("m.fired.db1", 3, "day");                      // another run
	host.receive("m.fired.db1.x");                              // no subject of ours
	host.coordinated.receive("m.fired.db1", "{\"version\":1}"); // no news
	host.coordinated.step();
	CHECK(host.asked().empty());
	host.coordinated.set_runs({});
	host.receive();
	CHECK(host.asked().empty());
	host.take_part();
	host.receive();
	CHECK(host.asked().size() == 1);
}

TEST_CASE("agent: other hosts cause one snapshot a second at most, and as many as the run may have")
{
	using namespace std::chrono_literals;
	CoordinatedLimits limits(2);
	const CoordinatedLimits::Clock::time_point start{};
	CHECK(limits.use(start) == "");
	CHECK_THAT(limits.use(start + 999ms), Contains("less than a second ago"));
	CHECK(limits.use(start + 1s) == "");
	CHECK_THAT(limits.use(start + 100s), Contains("as many as --snapshots"));
	CHECK_THAT(CoordinatedLimits(0).use(start), Contains("as many as"));

	CoordinatedHost host;
	host.take_part(1);
	host.receive();
	auto asked = host.asked();
	REQUIRE(asked.size() == 1);
	host.receive("m.fired.db2");
	REQUIRE(host.reported.size() == 1);
	CHECK_THAT(host.reported[0], Contains("the one before is being taken"));
	record::SnapshotRequests::answer(asked[0].caller, "{}");
	host.coordinated.step();
	host.receive("m.fired.db2", 4);
	CHECK_THAT(host.reported.back(), Contains("as many as --snapshots"));
	CHECK(host.asked().empty());
}

TEST_CASE("agent: a snapshot that has just begun here will do for another host's trigger, too")
{
	CoordinatedHost host;
	host.take_part();
	host.receive();
	auto asked = host.asked();
	REQUIRE(asked.size() == 1);
	record::SnapshotRequests::answer(
	    asked[0].caller, R"({"joined": 7, "time": 1, "realtime_ns": 2, "frozen_time": 4, "frozen_ns": 3})");
	host.coordinated.step();
	REQUIRE(host.published.size() == 1);
	CHECK(host.published[0].first == "froze");
	CHECK(host.published[0].second.number == 7);
	CHECK(host.published[0].second.frozen_ns == 3);
	CHECK(host.published[0].second.cause_host == "db1");
}

TEST_CASE("agent: a snapshot that has begun will do for another one whose time it has")
{
	using record::SnapshotWindow;
	const std::uint64_t s = 1'000'000'000, t0 = 100 * s;
	const SnapshotWindow taken{t0, 2 * s, 3 * s};
	CHECK(taken.covers({t0, 2 * s, 3 * s}));
	CHECK(taken.covers({t0 + s / 5, 2 * s, 3 * s})); // nearly
	CHECK_FALSE(taken.covers({t0 + s / 2, 2 * s, 3 * s}));
	CHECK(taken.covers({t0 + 3 * s, 5 * s, 0}));
	CHECK_FALSE(taken.covers({t0 + 3 * s, 6 * s, 0})); // more of the past
	CHECK_FALSE(taken.covers({t0, 2 * s, 4 * s}));
	CHECK_FALSE(taken.covers({t0, {}, 0})); // all that there is
	CHECK_FALSE(taken.covers({t0 + 4 * s, 0, 0}));
	const SnapshotWindow all{t0, {}, 0};
	CHECK(all.covers({t0 + s / 5, {}, 0}));
	CHECK(all.covers({t0, 50 * s, 0}));
	CHECK_FALSE(all.covers({t0 + s / 2, {}, 0}));
	CHECK_FALSE(all.covers({t0, {}, 1 * s}));
}

TEST_CASE("agent: a recorder that refuses a snapshot, or ends, is reported")
{
	for (const bool ends : {false, true}) {
		CoordinatedHost host;
		host.take_part();
		host.receive();
		auto asked = host.asked();
		REQUIRE(asked.size() == 1);
		if (!ends)
			record::SnapshotRequests::answer(asked[0].caller, R"({"error": "no room"})");
		asked.clear();
		host.coordinated.step();
		REQUIRE(host.reported.size() == 1);
		CHECK_THAT(host.reported[0], Contains(ends ? "has ended" : "no room"));
		CHECK(host.published.empty());
	}
	CoordinatedHost host; // a process that is no recorder
	host.coordinated.set_runs({{"night", 1, 9}});
	host.receive();
	REQUIRE(host.reported.size() == 1);
	CHECK_THAT(host.reported[0], Contains("cannot be asked"));
}

TEST_CASE("agent: after a restart, old triggers are not passed on again")
{
	CoordinatedHost host;
	host.spool.begin(1, By::trigger, "the trigger slow", "slow", 10'000'000'000);
	host.spool.begin(2, By::trigger, "the trigger slow", "slow");
	host.take_part();
	REQUIRE(host.published.size() == 1);
	CHECK(host.published[0].second.number == 2);
	host.take_part(); // as each time that the privileged process says what runs
	CHECK(host.published.size() == 1);
}

TEST_CASE("flight: a name that somebody took does not keep a recorder from being asked")
{
	const Fd taken(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
	const record::SocketAddress plain(fmt::format("monitor-flight-{}", ::getpid()));
	REQUIRE(::bind(taken.get(), plain.get(), plain.length) == 0);
	record::SnapshotRequests recorder(::getuid(), "/flight", false);
	const record::SnapshotQuestion question(::getpid(), {});
	CHECK(recorder.take().size() == 1);
	CHECK_THAT(record::flight_recorders(), Catch::Matchers::VectorContains(::getpid()));
}

TEST_CASE("agent: the operator's command for a snapshot is passed to the recorder and answered once")
{
	record::SnapshotRequests recorder(::getuid(), "/flight", false);
	SnapshotCommands commands;
	fleet::ControlMessage message;
	message.nonce = "n";
	message.run = "night";
	message.issued_ns = 1000;
	CHECK(commands.ask(::getpid(), message) == "");
	message.why = "slow since 9:40";
	message.nonce = "m";
	CHECK(commands.ask(::getpid(), message) == "");
	auto asked = recorder.take();
	REQUIRE(asked.size() == 2);
	CHECK(asked[0].request.why == "the operator");
	CHECK(asked[1].request.why == "the operator: slow since 9:40");
	CHECK_FALSE(asked[1].request.joins);
	CHECK(commands.take().empty());
	record::SnapshotRequests::answer(asked[0].caller, R"({"number": 2, "frozen_ns": 1500, "text": "a sentence"})");
	auto answers = commands.take();
	REQUIRE(answers.size() == 1);
	CHECK(answers[0].nonce == "n");
	CHECK(answers[0].run == "night");
	CHECK(answers[0].snapshot == "002");
	CHECK(answers[0].late_ns == 500);
	CHECK(answers[0].exit_code == 0);
	CHECK(answers[0].reason == "a sentence");
	asked.clear(); // the recorder ends
	answers = commands.take();
	REQUIRE(answers.size() == 1);
	CHECK(answers[0].nonce == "m");
	CHECK(answers[0].exit_code == 1);
	CHECK_THAT(answers[0].reason, Contains("ended before"));
	for (std::size_t i = 0; i < SnapshotCommands::max_waiting; ++i)
		CHECK(commands.ask(::getpid(), message) == "");
	CHECK_THAT(commands.ask(::getpid(), message), Contains("asked for already"));
	CHECK_THROWS_WITH(SnapshotCommands().ask(1, message), Contains("cannot be asked"));
}

TEST_CASE("agent: whatever a recorder replies makes a bounded answer")
{
	CHECK(snapshot_answer(R"({"error": "no room"})", 0).reason == "no room");
	for (const char *const reply : {"", "[]", "null", R"({"number": 1})", R"({"number": -1, "frozen_ns": 1})",
					R"({"number": 1, "frozen_ns": 1e30})", R"({"error": 1})"}) {
		CHECK(snapshot_answer(reply, 0).exit_code == 1);
		CHECK(snapshot_answer(reply, 0).snapshot == "");
	}
	CHECK(snapshot_answer("{\"error\": \"" + std::string(10000, 'x') + "\"}", 0).reason.size() < 100);
}

TEST_CASE("agent: snapshots that have begun are read back, and bounded")
{
	record::BegunSnapshots reported;
	for (unsigned i = 1; i <= 40; ++i)
		reported.add({i, By::trigger, "why", "slow", i, i, i, i});
	const auto text = [](const nlohmann::ordered_json &begun) {
		return json_dump(nlohmann::ordered_json{{"begun", begun}});
	};
	const auto begun = record::parse_begun_snapshots(text(reported.json()));
	REQUIRE(begun.size() == record::BegunSnapshots::max_kept);
	CHECK(begun.back().number == 40);
	CHECK(begun.back().by == By::trigger);
	CHECK(begun.back().trigger == "slow");
	const auto changed = [&](const char *name, const nlohmann::ordered_json &value) {
		auto json = reported.json();
		json[15][name] = value;
		return record::parse_begun_snapshots(text(json)).size();
	};
	CHECK(changed("later", 1) == 16);
	for (const char *const name :
	     {"number", "by", "why", "trigger", "time", "realtime_ns", "frozen_time", "frozen_ns"})
		CHECK(changed(name, nullptr) == 15);
	CHECK(changed("number", 3) == 15); // not in rising order
	CHECK(changed("by", "magic") == 15);
	CHECK(changed("why", std::string(513, 'x')) == 15);
	for (const char *const bytes : {"", "[]", "{\"begun\":{}}", "{\"begun\":[1,[]]}"})
		CHECK(record::parse_begun_snapshots(bytes).empty());
}

TEST_CASE("agent: what the privileged process says of runs with snapshots of all is read back")
{
	const auto runs = parse_coordinated_runs(coordinated_runs_text({{"night", 7, 3}, {"day", 8, 1}}));
	REQUIRE(runs.size() == 2);
	CHECK(runs[0].run == "night");
	CHECK(runs[0].recorder == 7);
	CHECK(runs[0].snapshots == 3);
	CHECK(parse_coordinated_runs("[]").empty());
}
