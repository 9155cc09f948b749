// SPDX-License-Identifier: MIT
// Requests of a run of two hosts, from its files to what is printed; hostile keys; limits.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "answers/requests/answer.h"
#include "answers/requests/host_clock.h"
#include "answers/requests/json.h"
#include "answers/requests/step_tables.h"
#include "answers/requests/text.h"
#include "base/error.h"
#include "samples.h"

namespace test_requests {

using namespace monitor;
using requests::Answer;
using requests::By;
using requests::Collected;
using samples::StreamWriter;

namespace {

namespace fs = std::filesystem;

enum : unsigned { begin = 1024, send, query, done, receive, end, other };

const std::string numbered = "u16_t arg; u64_t request;";
const std::string classes =
    samples::event_block(begin, "begin", numbered) + samples::event_block(send, "send", numbered) +
    samples::event_block(query, "query", numbered) + samples::event_block(done, "done", numbered) +
    samples::event_block(receive, "receive", numbered) + samples::event_block(end, "end", numbered) +
    samples::event_block(other, "other", "u16_t arg; u64_t size;");

// A run of two hosts: a table of true times, in us. The clock of `db` is 500 us ahead, known within 2 us up to 10 ms
// and from 30 ms on; in between it is not, and seems to have another rate.
class Run {
public:
	explicit Run(int requests) : path_(fs::temp_directory_path() / ("requests-" + std::to_string(::getpid())))
	{
		std::vector<Posted> web, db;
		for (int i = 0; i < requests; ++i) {
			const std::uint64_t at = 1000 + 100'000ull * i, work = i == 2 ? 50'000 : 2000 + 10ull * i;
			add(web, db, 40 + i, at, work);
		}
		add(web, db, 9, 12'000, 2000); // where the clock is not known
		std::ranges::stable_sort(web, {}, &Posted::us);
		std::ranges::stable_sort(db, {}, &Posted::us);
		write_host("web", web, 0);
		write_host("db", db, 500);
		fs::create_directories(path_ / ".monitor");
		std::ofstream(path_ / ".monitor" / "collection.json")
		    << "{\"parts\": [{\"directory\": \"web\", \"clock\": {\"nodes\": [[0, 1700000000000000000]], "
		       "\"bounds_ns\": [0, 0]}}, {\"directory\": \"db\", \"clock\": {\"nodes\": [[500000, "
		       "1700000000000000000], [10500000, 1700000000010000000], [20500000, 1700000000020020000], "
		       "[30500000, 1700000000030000000]], \"bounds_ns\": [2000, 2000, null, null, 2000]}}]}";
	}
	~Run() { fs::remove_all(path_); }
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	std::string path() const { return path_.string(); }

private:
	struct Posted {
		std::uint64_t us = 0;
		unsigned id = 0;
		std::uint64_t request = 0;
	};

	static void add(std::vector<Posted> &web, std::vector<Posted> &db, std::uint64_t request, std::uint64_t at,
			std::uint64_t work)
	{
		web.push_back({at, begin, request});
		web.push_back({at + 100, send, request});
		db.push_back({at + 130, query, request});
		db.push_back({at + 130 + work, done, request});
		web.push_back({at + 160 + work, receive, request});
		web.push_back({at + 200 + work, end, request});
		web.push_back({at + 210 + work, other, 1});
	}

	void write_host(const std::string &name, const std::vector<Posted> &events, std::uint64_t ahead_us) const
	{
		StreamWriter writer(0, 0);
		for (const Posted &event : events) {
			const std::uint64_t time = (event.us + ahead_us) * 1000;
			if (&event == events.data() || time - opened_ > 1'000'000'000)
				writer.open(opened_ = time);
			writer.post(time, event.id, 0, {event.request}, EDC_MODE_USER);
		}
		fs::create_directories(path_ / name);
		std::ofstream(path_ / name / "metadata")
		    << samples::description_text("env { hostname = \"" + name + "\"; };\n" + classes);
		const auto bytes = writer.bytes();
		std::ofstream(path_ / name / "cpu0", std::ios::binary)
		    .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	}

	fs::path path_;
	mutable std::uint64_t opened_ = 0;
};

Answer answer_of(trace::Trace &trace, const std::string &key, std::size_t slowest = 3,
		 const requests::Limits &limits = {})
{
	requests::Question question;
	question.names = key;
	Collected collected = requests::collect(trace, question, limits);
	const auto points = collected.points;
	Answer answer = requests::answer(std::move(collected), requests::PathMaker(points, trace), slowest);
	answer.key = key;
	answer.hosts = trace.machines();
	return answer;
}

nlohmann::json json_of(const Answer &answer, By by = By::step)
{
	return nlohmann::json::parse(requests::json_text(answer, requests::table(answer, by)));
}

} // namespace

TEST_CASE("requests: a run of two hosts, as it is printed")
{
	const Run run(4);
	auto opened = trace::Trace::open(run.path());
	REQUIRE(opened.warnings().empty());
	const Answer answer = answer_of(opened, "request");
	CHECK(requests::head_text(answer) == "5 requests by request, 30 events on 2 hosts\n\n");
	CHECK(report::to_text(requests::text_table(answer, By::step)) ==
	      "step                    requests     median        p99        max  share%  bound                order "
	      "unknown\n"
	      "db query -> db done            5    2.01 ms   50.00 ms   50.00 ms    98.3  exact                        "
	      "    1\n"
	      "web begin -> web send          5  100.00 us  100.00 us  100.00 us     0.8  exact                        "
	      "    1\n"
	      "web receive -> web end         5   40.00 us   40.00 us   40.00 us     0.3  exact                        "
	      "    1\n"
	      "web send -> db query           5   30.00 us   30.00 us   30.00 us     0.2  ±2.00 us, 1 unknown          "
	      "    1\n"
	      "db done -> web receive         5   30.00 us   30.00 us   30.00 us     0.2  ±2.00 us, 1 unknown          "
	      "    1\n");
	CHECK(report::to_text(requests::text_table(answer, By::host)) ==
	      "where       requests     median        p99        max  share%  bound     order unknown\n"
	      "on db              5    2.01 ms   50.00 ms   50.00 ms    98.3  exact                 1\n"
	      "on web             5  140.00 us  140.00 us  140.00 us     1.2  exact                 1\n"
	      "db <-> web         5   60.00 us   60.00 us   60.00 us     0.5  ±4.07 us              1\n");
	CHECK(requests::slowest_text(answer) ==
	      "\nthe slowest:\n"
	      "42: 50.20 ms exact, of it 50.00 ms (99.6 %) on db between query and done: exact\n"
	      "43: 2.23 ms exact, of it 2.03 ms (91.0 %) on db between query and done: exact\n"
	      "41: 2.21 ms exact, of it 2.01 ms (91.0 %) on db between query and done: exact\n");
	CHECK(requests::notes_text(answer) ==
	      "exact: by one host's own clock; ±: off by at most so much, the bounds of both hosts' clocks; order "
	      "unknown: the clocks do not tell which event was first\n");
}

TEST_CASE("requests: in JSON the times of a host are those of its own clock, also where it is not known")
{
	const Run run(4);
	auto opened = trace::Trace::open(run.path());
	const Answer answer = answer_of(opened, "request", 10);
	const auto json = json_of(answer);
	CHECK(json["summary"]["requests"] == 5);
	CHECK(json["summary"]["events"] == 30);
	CHECK(json["summary"]["lost"] == 0);
	for (const auto &row : json["rows"]) {
		CHECK(row["exact"] == (row["from_host"] == row["to_host"]));
		CHECK((row["bound_ns"].is_null() || row["bound_ns"] == (row["exact"] == true ? 0 : 2000)));
	}
	std::map<std::string, nlohmann::json> by_key;
	for (const auto &request : json["slowest"])
		by_key[request["key"]] = request;
	REQUIRE(by_key.size() == 5);
	const auto &slow = by_key["42"], &unknown = by_key["9"];
	CHECK(json["slowest"][0] == slow);
	CHECK(slow["time_ns"] == 50'200'000);
	CHECK(slow["exact"] == true);
	CHECK(slow["order"] == "known");
	CHECK(slow["largest"]["from_event"] == "query");
	CHECK(slow["largest"]["from_host"] == "db");
	CHECK(slow["largest"]["time_ns"] == 50'000'000);
	CHECK(slow["largest"]["sure"] == true);
	CHECK(slow["steps"][1]["time_ns"] == 30'000);
	CHECK(slow["steps"][1]["bound_ns"] == 2000);
	CHECK(unknown["time_ns"] == 2'200'000);
	CHECK(unknown["order"] == "unknown");
	CHECK(unknown["steps"][1]["time_ns"].is_null());
	CHECK(unknown["steps"][1]["bound_ns"].is_null());
	CHECK(unknown["steps"][2]["time_ns"] == 2'000'000);
	CHECK(unknown["largest"]["sure"] == false);
}

TEST_CASE("requests: by host the way there and back is known where the clocks are not")
{
	const Run run(1);
	auto opened = trace::Trace::open(run.path());
	const auto rows = json_of(answer_of(opened, "request"), By::host)["rows"];
	REQUIRE(rows.size() == 3);
	for (const auto &row : rows)
		if (!row["other_host"].is_null()) {
			CHECK(row["max_ns"] == 60'000);
			CHECK(row["bound_ns"] > 4000); // of the rates
			CHECK(row["bound_ns"] < 5000);
			CHECK(row["unknown"] == 0);
			CHECK(row["order_unknown"] == 1);
		} else {
			CHECK(row["exact"] == true);
			CHECK(row["total_ns"] == (row["host"] == "db" ? 4'000'000 : 280'000));
		}
}

TEST_CASE("requests: one trace alone is exact throughout")
{
	const Run run(2);
	auto opened = trace::Trace::open(run.path() + "/db");
	const auto json = json_of(answer_of(opened, "request"));
	REQUIRE(json["rows"].size() == 1);
	CHECK(json["rows"][0]["exact"] == true);
	CHECK(json["rows"][0]["requests"] == 3);
	CHECK(json["rows"][0]["order_unknown"] == 0);
	CHECK(json["rows"][0]["share_percent"] == 100);
	CHECK(json["rows"][0]["median_ns"] == 2'000'000);
}

TEST_CASE("requests: shares are of the time of requests whose own time is known")
{
	Collected collected;
	collected.points = {{0, "a"}, {0, "b"}, {1, "c"}};
	collected.requests = {{"known", {{1000, 1000, 0, 0}, {1100, 1100, 1, 0}}},
			      {"unknown", {{1000, 1000, 0, 0}, {1050, 1050, 1, 0}, {2000, 2000, 2, 1}}}};
	const std::vector<requests::Point> points = collected.points;
	const std::vector<trace::MachineClock> clocks = {trace::MachineClock(0), trace::MachineClock(std::nullopt)};
	const trace::Clock clock;
	Answer answer = requests::answer(std::move(collected), requests::PathMaker(points, clocks, clock), 9);
	answer.hosts = {"web", "db"};
	CHECK(answer.unknown_time == 1);
	CHECK(answer.slowest.size() == 1);
	const auto rows = json_of(answer)["rows"];
	REQUIRE(rows.size() == 2);
	CHECK(rows[0]["total_ns"] == 150);
	CHECK(rows[0]["share_percent"] == 100);
	CHECK(rows[1]["total_ns"].is_null());
	CHECK(rows[1]["share_percent"].is_null());
	CHECK(rows[1]["unknown"] == 1);
}

TEST_CASE("requests: steps that surely run backwards are contradictions, if nearly all run the other way")
{
	std::vector<requests::Point> points = {{0, "send"}, {1, "query"}};
	const std::vector<trace::MachineClock> clocks = {trace::MachineClock(10), trace::MachineClock(10)};
	const trace::Clock clock;
	const auto contradictions = [&](int forward, int backward, std::uint64_t apart) {
		Collected collected;
		collected.points = points;
		for (int i = 0; i < forward; ++i)
			collected.requests.push_back({std::to_string(i), {{1000, 1000, 0, 0}, {1100, 1100, 1, 1}}});
		for (int i = 0; i < backward; ++i)
			collected.requests.push_back(
			    {"b" + std::to_string(i), {{1000, 1000, 1, 1}, {1000 + apart, 1000 + apart, 0, 0}}});
		return requests::answer(std::move(collected), requests::PathMaker(points, clocks, clock), 1).backwards;
	};
	CHECK(contradictions(100, 0, 21).empty());
	CHECK(contradictions(100, 3, 20).empty()); // within the bounds
	CHECK(contradictions(20, 3, 21).empty());  // no direction is the usual one
	const auto found = contradictions(100, 3, 21);
	REQUIRE(found.size() == 1);
	CHECK(found[0].from == 0);
	CHECK(found[0].requests == 3);
	CHECK(found[0].forward == 100);
}

namespace {

const std::string hostile = samples::event_block(1024, "number", "u16_t arg; s64_t key;") +
			    samples::event_block(1025, "same_number", "u16_t arg; u64_t key;") +
			    samples::event_block(1026, "text", "u16_t arg; text_t key[48];") +
			    samples::event_block(1027, "without", "u16_t arg;") +
			    samples::event_block(10, "of_the_recorder", "u16_t arg; u64_t key;");

trace::Trace hostile_trace(std::vector<StreamWriter> &writers,
			   const std::vector<std::pair<unsigned, std::uint64_t>> &events)
{
	writers = {{0, 0}};
	writers[0].open(1000);
	std::uint64_t time = 1000;
	for (const auto &[id, key] : events) {
		time += 10;
		if (id == 1026)
			writers[0].post(time, id, 0, {key, key, key, key, key, key}, EDC_MODE_USER);
		else if (id == 1027)
			writers[0].post(time, id, 0, {}, EDC_MODE_USER);
		else
			writers[0].post(time, id, 0, {key}, EDC_MODE_USER);
	}
	return samples::trace(writers, hostile);
}

std::vector<std::string> keys_of(const Collected &collected)
{
	std::vector<std::string> keys;
	for (const requests::Request &request : collected.requests)
		keys.push_back(request.key + " " + std::to_string(request.events.size()));
	return keys;
}

Collected collected_of(trace::Trace &trace, const requests::Limits &limits = {})
{
	requests::Question question;
	question.names = "key";
	return requests::collect(trace, question, limits);
}

constexpr std::uint64_t letters = 0x4141414141414141;

} // namespace

TEST_CASE("requests: a key is a number or a text, whatever class it is in; events without it are passed over")
{
	std::vector<StreamWriter> writers;
	auto trace = hostile_trace(
	    writers,
	    {{1024, 7}, {1025, 7}, {1026, letters}, {1027, 0}, {1024, ~0ull}, {10, 7}, {1026, letters}, {1025, 8}});
	const Collected collected = collected_of(trace);
	CHECK(keys_of(collected) == std::vector<std::string>{"7 2", std::string(48, 'A') + " 2", "-1 1", "8 1"});
	CHECK(collected.events == 6);
	const Answer answer = answer_of(trace, "key");
	CHECK(answer.requests == 2);
	CHECK(answer.single == 2);
}

TEST_CASE("requests: keys beyond the limits are counted, and no request is kept in part")
{
	std::vector<StreamWriter> writers;
	std::vector<std::pair<unsigned, std::uint64_t>> events;
	for (std::uint64_t i = 0; i < 40; ++i) {
		events.emplace_back(1024, i % 5);
		events.emplace_back(1024, 100);
		events.emplace_back(1026, letters);
	}
	auto trace = hostile_trace(writers, events);
	requests::Limits limits;
	SECTION("too many keys")
	{
		limits.keys = 3;
		const Collected collected = collected_of(trace, limits);
		CHECK(keys_of(collected) == std::vector<std::string>{"0 8", "100 40", std::string(48, 'A') + " 40"});
		CHECK(collected.other_events == 32);
	}
	SECTION("too many events of a key")
	{
		limits.events_of_key = 39;
		const Collected collected = collected_of(trace, limits);
		CHECK(keys_of(collected) == std::vector<std::string>{"0 8", "1 8", "2 8", "3 8", "4 8"});
		CHECK(collected.crowded_keys == 2);
		CHECK(collected.crowded_events == 80);
		CHECK(collected.events == 40);
	}
	SECTION("too many events")
	{
		limits.events = 50;
		const Collected collected = collected_of(trace, limits);
		std::uint64_t kept = 0;
		for (const requests::Request &request : collected.requests) {
			const bool is_text = request.key.starts_with("A");
			CHECK(request.events.size() == (is_text || request.key == "100" ? 40u : 8u));
			kept += request.events.size();
		}
		CHECK(kept == collected.events);
		CHECK(kept + collected.other_events == 120);
		CHECK(kept > 0);
	}
	SECTION("too long keys")
	{
		limits.key_bytes = 47;
		const Collected collected = collected_of(trace, limits);
		CHECK(collected.long_events == 40);
		CHECK(collected.requests.size() == 6);
	}
	const Answer answer = answer_of(trace, "key", 1, limits);
	const std::string notes = requests::notes_text(answer);
	const bool is_noted = notes.find("left out") != std::string::npos;
	CHECK(is_noted);
}

TEST_CASE("requests: a key that is used again is taken for one request, which is told")
{
	std::vector<StreamWriter> writers;
	auto trace = hostile_trace(writers, {{1024, 7}, {1025, 7}, {1024, 7}, {1025, 7}, {1024, 8}, {1025, 8}});
	const Answer answer = answer_of(trace, "key");
	CHECK(answer.requests == 2);
	CHECK(answer.again == 1);
	CHECK(requests::notes_text(answer).find("1 request has its first event again") != std::string::npos);
}

TEST_CASE("requests: a key that no event has, or that each host has its own of, is refused")
{
	std::vector<StreamWriter> writers;
	auto trace = hostile_trace(writers, {{1024, 7}});
	CHECK_THROWS_WITH(answer_of(trace, "kye"), Catch::Contains("no event of this trace has a field kye"));
	CHECK_THROWS_WITH(answer_of(trace, "tid"), Catch::Contains("another thing on each host"));
	CHECK_THROWS_WITH(answer_of(trace, "cpu"), Catch::Contains("another thing on each host"));
	CHECK_THROWS_WITH(answer_of(trace, "key,"), Catch::Contains("a name is missing"));
}

TEST_CASE("requests: a host's own time is found wherever its clock is, and whatever a trace says")
{
	StreamWriter writer(0, 0);
	const std::uint64_t far = std::uint64_t(1) << 63;
	writer.open(far);
	writer.post(far, begin, 0, {1}, EDC_MODE_USER);
	const auto bytes = writer.bytes();
	trace::Stream stream("cpu0", samples::description(classes), bytes);
	REQUIRE(stream.own_clock());
	const char *why = "";
	stream.set_lines(trace::ClockMap::make({{far, 1'700'000'000'000'000'000}}, {0, 0}, 1'000'000'000, why));
	stream.set_clock(*stream.own_clock());
	REQUIRE(stream.maps_time());
	requests::HostClock own(stream);
	for (const std::uint64_t ticks : {far, far + 1000, far - 1000, far + 5})
		CHECK(own.ns(stream.time(ticks)) == stream.own_clock()->to_ns(ticks));
}

} // namespace test_requests
