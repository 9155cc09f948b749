// SPDX-License-Identifier: MIT
// Clocks as lines: times in between, bounds, what a damaged collection.json does, and what happened before what.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include <unistd.h>

#include "answers/collection/collection.h"
#include "fleet/clocks/run_clocks.h"
#include "reading/events/collection_clocks.h"
#include "reading/events/event_order.h"
#include "reading/events/machine_clock.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace test_clock_map {

using namespace monitor;
using trace::ClockBoundNs;
using trace::ClockMap;
using trace::ClockNode;
using trace::MachineClock;

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::shared_ptr<const ClockMap> made(std::vector<ClockNode> nodes, std::vector<ClockBoundNs> bounds,
				     std::uint64_t frequency_hz = 1'000'000'000)
{
	const char *why = nullptr;
	auto map = ClockMap::make(std::move(nodes), std::move(bounds), frequency_hz, why);
	INFO((why ? why : ""));
	REQUIRE(map);
	return map;
}

std::string refused(std::vector<ClockNode> nodes, std::vector<ClockBoundNs> bounds)
{
	const char *why = nullptr;
	CHECK_FALSE(ClockMap::make(std::move(nodes), std::move(bounds), 1, why));
	REQUIRE(why);
	return why;
}

namespace fs = std::filesystem;

// A run of two hosts with tokens, whose clocks have lines: ticks of the second one count two ns, from another origin.
class Run {
public:
	Run() : path_(fs::temp_directory_path() / ("clock-map-" + std::to_string(::getpid())))
	{
		write_host("a", {1000, 1200, 1400});
		write_host("b", {50'000, 50'150, 50'250});
		fs::create_directories(path_ / ".monitor");
		write("{\"nodes\": [[50000, 1700000000000001050], [50200, 1700000000000001450]], "
		      "\"bounds_ns\": [null, 20, 300]}");
	}
	~Run() { fs::remove_all(path_); }
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	// The clock of the second host.
	void write(const std::string &clock) const
	{
		std::ofstream(path_ / ".monitor" / "collection.json")
		    << "{\"parts\": [{\"directory\": \"a\", \"clock\": {\"nodes\": [[0, 1700000000000000000]], "
		       "\"bounds_ns\": [5, 5]}}, {\"directory\": \"b\", \"clock\": "
		    << clock << "}]}";
	}
	std::string path(const char *host = "") const { return (path_ / host).string(); }

private:
	void write_host(const std::string &name, const std::vector<std::uint64_t> &times) const
	{
		samples::StreamWriter writer(0, 0);
		writer.open(times.front());
		for (const std::uint64_t time : times)
			writer.post(time, 256, 1);
		fs::create_directories(path_ / name);
		std::ofstream(path_ / name / "metadata")
		    << samples::description_text("env { hostname = \"" + name + "\"; };\n" + samples::some_events);
		const auto bytes = writer.bytes();
		std::ofstream(path_ / name / "cpu0", std::ios::binary)
		    .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	}

	fs::path path_;
};

} // namespace

TEST_CASE("clock map: tokens of two hosts are read in one order, by their lines")
{
	const Run run;
	auto opened = trace::Trace::open(run.path());
	CHECK(opened.warnings().empty());
	CHECK(opened.machines() == std::vector<std::string>{"a", "b"});
	CHECK(opened.description().clock.frequency_hz == 1'000'000'000);
	trace::EventOrder order(opened);
	std::vector<std::pair<std::uint32_t, std::uint64_t>> seen;
	std::vector<bool> follows;
	trace::merge(
	    opened, {},
	    [&](const trace::Event &event) {
		    seen.emplace_back(event.stream->machine, event.time - 1'700'000'000'000'000'000);
		    follows.push_back(order.follows(event));
	    },
	    [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	using Seen = std::pair<std::uint32_t, std::uint64_t>;
	// the last of b is after its lines: at the nominal rate
	CHECK(seen == std::vector<Seen>{{0, 1000}, {1, 1050}, {0, 1200}, {1, 1350}, {0, 1400}, {1, 1500}});
	CHECK(follows == std::vector<bool>{true, true, true, true, true, false});
	CHECK(opened.problems().empty());
	const auto at = [](std::uint32_t machine, std::uint64_t ns) {
		return trace::EventOrder::Instant{machine, 1'700'000'000'000'000'000 + ns};
	};
	CHECK(order.is_before(at(0, 1000), at(1, 1100)) == true);
	CHECK(order.is_before(at(1, 1126), at(0, 1100)) == false);
	CHECK_FALSE(order.is_before(at(0, 1100), at(1, 1125)));
	CHECK_FALSE(order.is_before(at(0, 1000), at(1, 1049)));
	CHECK(order.is_before(at(1, 1000), at(1, 1001)) == true);

	// alone it keeps its own clock, as a recording that is opened by itself
	CHECK(trace::Trace::open(run.path("b")).begin_time() == 50'000);
}

TEST_CASE("clock map: a clock that cannot be used leaves the trace its own, with an unknown bound")
{
	const Run run;
	run.write("{\"nodes\": [[5, 9], [5, 10]], \"bounds_ns\": [1, 2, 3]}");
	const auto opened = trace::Trace::open(run.path());
	REQUIRE(opened.warnings().size() == 1);
	CHECK(opened.warnings().front().find("its nodes do not increase") != std::string::npos);
	REQUIRE(opened.machine_clocks().size() == 2);
	CHECK(opened.machine_clocks()[0].bound_at(0) == 5u);
	CHECK_FALSE(opened.machine_clocks()[1].bound_at(0));
	CHECK(opened.streams()[1]->begin_time() == 1'700'000'000'000'050'005);
}

TEST_CASE("clock map: the clocks of a run come from its hosts' exchanges")
{
	const Run run;
	fs::create_directories(fs::path(run.path()) / ".monitor" / "clocks");
	const auto write = [&](const char *host, std::uint64_t frequency_hz, const std::string &lines) {
		std::ofstream(fs::path(run.path()) / ".monitor" / "clocks" / host)
		    << "monitor-clock 1 " << host << " clock=tsc frequency_hz=" << frequency_hz
		    << " boot=01234567-89ab-cdef-0123-456789abcdef\n"
		    << lines;
	};
	// the second host's ticks count two ns; its clock is 40 ns there, 60 ns back
	write("a", 1'000'000'000,
	      "900 1700000000000000910 1700000000000000920 930\n"
	      "1500 1700000000000001510 1700000000000001520 1530\n");
	write("b", 500'000'000,
	      "50010 1700000000000001060 1700000000000001070 50065\n"
	      "50200 1700000000000001440 1700000000000001450 50255\nnonsense\n");
	const auto clocks = fleet::write_run_clocks(run.path());
	REQUIRE(clocks.size() == 2);
	CHECK(clocks[1].host == "b");
	CHECK(clocks[1].exchanges == 2);
	CHECK(clocks[1].left_out == 1);
	CHECK(clocks[1].why_none.empty());
	const auto opened = trace::Trace::open(run.path());
	CHECK(opened.warnings().empty());
	for (const std::uint32_t machine : {0u, 1u})
		for (const std::uint64_t ns : {1100u, 1400u}) {
			const auto bound = opened.machine_clocks()[machine].bound_at(1'700'000'000'000'000'000 + ns);
			REQUIRE(bound);
			CHECK(*bound >= 10);
			CHECK(*bound < 80);
		}
	const std::uint64_t begin = opened.streams()[1]->begin_time() - 1'700'000'000'000'000'000;
	CHECK(begin > 940); // truly 1000
	CHECK(begin < 1040);

	// exchanges of another boot say nothing of a trace; those of a second file of its own boot do
	fs::create_directories(fs::path(run.path()) / "b" / ".monitor");
	const std::string other_boot = "11111111-89ab-cdef-0123-456789abcdef";
	std::ofstream(fs::path(run.path()) / "b" / ".monitor" / "recording.json")
	    << R"({"boot_id": ")" << other_boot << "\"}";
	CHECK(fleet::write_run_clocks(run.path())[1].why_none ==
	      "there are no exchanges in the boot that was recorded");
	std::ofstream(fs::path(run.path()) / ".monitor" / "clocks" / "b.11111111-1")
	    << "monitor-clock 1 b clock=tsc frequency_hz=500000000 boot=" << other_boot
	    << "\n50010 1700000000000001060 1700000000000001070 50065\n";
	const auto again = fleet::write_run_clocks(run.path())[1];
	CHECK(again.why_none.empty());
	CHECK(again.exchanges == 1);

	fs::remove(fs::path(run.path()) / ".monitor" / "clocks" / "b");
	CHECK(fleet::write_run_clocks(run.path())[1].why_none.find("cannot open") != std::string::npos);
	CHECK_FALSE(trace::Trace::open(run.path()).machine_clocks()[1].bound_at(0));
}

TEST_CASE("clock map: times lie on the lines between nodes, and at the nominal rate outside of them")
{
	const auto map =
	    made({{1000, 5000}, {2000, 5500}, {2001, 9500}}, {std::nullopt, 3, 4, std::nullopt}, 500'000'000);
	CHECK(map->map(1000) == 5000);
	CHECK(map->map(1500) == 5250);
	CHECK(map->map(1999) == 5499);
	CHECK(map->map(2000) == 5500);
	CHECK(map->map(2001) == 9500);
	CHECK(map->map(2011) == 9520);
	CHECK(map->map(990) == 4980);
	CHECK(map->map(0) == 3000);
	CHECK(map->map(most) > 9500);
	CHECK(made({{most - 1, 5}, {most, 7}}, {1, 2, 3})->map(0) == 0);
	CHECK(made({{0, 5}}, {1, 2}, 1)->map(most) == most);
}

TEST_CASE("clock map: order is kept, whatever the nodes")
{
	std::mt19937_64 random(1);
	for (int turn = 0; turn < 300; ++turn) {
		std::vector<ClockNode> nodes{{random() >> random() % 40, 0}};
		nodes[0].ticks /= 2;
		const std::size_t wanted = 1 + random() % 50;
		while (nodes.size() < wanted) {
			const std::uint64_t ticks = 1 + (random() >> (1 + random() % 63)) / wanted;
			const std::int64_t ns =
			    1 + static_cast<std::int64_t>((random() >> (2 + random() % 62)) / wanted);
			if (ticks > most - nodes.back().ticks)
				break;
			nodes.push_back({nodes.back().ticks + ticks, nodes.back().ns + ns});
		}
		const auto map = made(nodes, std::vector<ClockBoundNs>(nodes.size() + 1), 1 + random() % 5'000'000'000);
		std::vector<std::uint64_t> ticks;
		for (const ClockNode &node : nodes) {
			CHECK(map->map(node.ticks) == static_cast<std::uint64_t>(node.ns));
			for (const std::uint64_t near : {0ull, 1ull, 2ull, 1'000'000ull})
				for (const std::uint64_t at : {node.ticks - near, node.ticks + near})
					ticks.push_back(at);
		}
		for (int i = 0; i < 100; ++i)
			ticks.push_back(random());
		std::sort(ticks.begin(), ticks.end());
		for (std::size_t i = 1; i < ticks.size(); ++i)
			if (map->map(ticks[i - 1]) > map->map(ticks[i]))
				FAIL("turn " << turn << ": " << ticks[i - 1] << " and " << ticks[i]);
	}
}

TEST_CASE("clock map: each line has its bound, and a node the better of two")
{
	const auto map = made({{0, 100}, {10, 200}, {20, 300}}, {std::nullopt, 7, std::nullopt, 9});
	CHECK_FALSE(map->bound_at(99));
	CHECK(map->bound_at(100) == 7u);
	CHECK(map->bound_at(199) == 7u);
	CHECK(map->bound_at(200) == 7u);
	CHECK_FALSE(map->bound_at(201));
	CHECK(map->bound_at(300) == 9u);
	CHECK(map->bound_at(most) == 9u);
}

TEST_CASE("clock map: nodes that are none are refused")
{
	CHECK(refused({}, {1}) == "it has no nodes");
	CHECK(refused({{1, 1}}, {1}) == "the number of its bounds is not that of its nodes plus one");
	CHECK(refused({{1, 1}, {1, 2}}, {1, 1, 1}) == "its nodes do not increase");
	CHECK(refused({{1, 1}, {2, 1}}, {1, 1, 1}) == "its nodes do not increase");
	CHECK(refused({{1, -1}, {2, 1}}, {1, 1, 1}) == "its times are before 1970");
	CHECK(refused(std::vector<ClockNode>(ClockMap::max_nodes + 1), {}) == "it has more than 131072 nodes");
}

TEST_CASE("clock map: a collection's file is read back as it was written, and damage is told")
{
	collection::Part part{"source", "node1", -5, 77, "messages"};
	part.clock.emplace();
	part.clock->nodes = {{most - 5, 1'700'000'000'000'000'000}, {most, 1'700'000'000'000'000'009}};
	part.clock->bounds_ns = {std::nullopt, 12, std::nullopt};
	std::vector<std::string> warnings;
	auto parts =
	    trace::parse_collection(collection::parts_json({{"a", "first", 0, 0, "first"}, part}), "it", warnings);
	CHECK(warnings.empty());
	CHECK(parts["first"].bound == 0u);
	CHECK_FALSE(parts["first"].has_lines);
	const trace::PartClock &clock = parts["node1"];
	CHECK(clock.bound == 77u);
	REQUIRE(clock.nodes.size() == 2);
	CHECK(clock.nodes[0].ticks == most - 5);
	CHECK(clock.nodes[1].ns == 1'700'000'000'000'000'009);
	CHECK(clock.bounds == part.clock->bounds_ns);

	for (const char *wrong :
	     {"[]", "3", "{\"nodes\": []}", "{\"nodes\": [[1]], \"bounds_ns\": [1, 2]}",
	      "{\"nodes\": [[-1, 5]], \"bounds_ns\": [1, 2]}", "{\"nodes\": [[1, 5]], \"bounds_ns\": [1.5, 2]}",
	      "{\"nodes\": [[1, 18446744073709551615]], \"bounds_ns\": [1, 2]}"}) {
		warnings.clear();
		const std::string text =
		    std::string("{\"parts\": [{\"directory\": \"n\", \"bound_ns\": 4, \"clock\": ") + wrong + "}]}";
		parts = trace::parse_collection(text, "it", warnings);
		INFO(wrong);
		CHECK(warnings.size() == 1);
		CHECK_FALSE(parts["n"].has_lines);
		CHECK_FALSE(parts["n"].bound);
	}
	for (const char *wrong : {"", "{", "{\"parts\": 3}", "[1]"}) {
		warnings.clear();
		CHECK(trace::parse_collection(wrong, "it", warnings).empty());
		CHECK(warnings.size() == 1);
	}
	warnings.clear();
	parts = trace::parse_collection(
	    "{\"parts\": [{\"directory\": \"old\", \"bound_ns\": 4}, {\"directory\": 5}, 7]}", "it", warnings);
	CHECK(parts.size() == 1);
	CHECK(parts["old"].bound == 4u);
}

TEST_CASE("clock map: a machine's bound is the largest of its traces'")
{
	MachineClock clock;
	CHECK(clock.bound_at(5) == 0u);
	clock.add(ClockBoundNs(8));
	clock.add(made({{0, 100}, {10, 200}, {20, 300}}, {std::nullopt, 7, 40, std::nullopt}));
	CHECK(clock.bound_at(150) == 8u);
	CHECK(clock.bound_at(250) == 40u);
	CHECK_FALSE(clock.bound_at(350));
	auto range = clock.range(100, 300);
	CHECK(range.min == 7);
	CHECK(range.max == 40);
	CHECK(range.known == 3);
	CHECK(range.unknown == 0);
	range = clock.range(0, 400);
	CHECK(range.unknown == 2);
	clock.add(ClockBoundNs());
	CHECK_FALSE(clock.bound_at(150));
}

} // namespace test_clock_map
