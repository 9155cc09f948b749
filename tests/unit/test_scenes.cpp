// SPDX-License-Identifier: MIT
// Scenes as the page of `monitor view` gets them: what is in them, in what order they may be asked for, and their
// bounds.
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

#include "answers/view/scene_json.h"
#include "answers/view/scenes.h"
#include "base/json.h"
#include "pipe_history.h"

namespace test_scenes {

using namespace monitor;
using Json = nlohmann::ordered_json;

namespace {

// Its recording begins at 5: ticks of a picture count from there.
constexpr std::uint64_t begin = 5;

struct Shown {
	explicit Shown(history::History made, const char *layout = nullptr)
	    : history(std::move(made)),
	      scenes(
		  [this] {
			  return view::Scenes::Opened{samples::trace(history.all(), history::events),
						      history::make_info(begin, 1000, true, false)};
		  },
		  layout ? std::optional(play::parse_layout(layout, "test")) : std::nullopt)
	{
	}
	Json at(std::uint64_t time, std::uint64_t step = 100)
	{
		return scenes.answer(time - begin, time - begin + step, 1, {}).at(0);
	}

	history::History history;
	view::Scenes scenes;
};

Json parsed(const char *text)
{
	return parse_json<Json>(text);
}

} // namespace

TEST_CASE("view: a scene for the page")
{
	Shown shown(history::pipe_history());
	CHECK(shown.at(250) == parsed(R"({"time": 245, "cpus": [
{"cpu": 0, "what": "thread", "lost": false, "tid": 7, "mode": "kernel", "doing": "kernel", "ready": [9], "waiting": 1},
{"cpu": 1, "what": "thread", "lost": false, "tid": 8, "mode": "user", "doing": "user", "ready": [], "waiting": 0}],
"threads": [{"tid": 7, "name": "writer", "state": "running", "doing": "runs on CPU 0"},
{"tid": 8, "name": "reader", "state": "running", "doing": "runs on CPU 1"},
{"tid": 9, "name": "burner", "state": "ready", "doing": "ready on CPU 0 for 220 ns"}],
"unplaced": [], "unplaced_waiting": 0, "sleeping": [], "counts": {"sleeping": 0, "unknown": 0},
"wakings_are_known": true, "wake_ups": [{"waker": 7, "by": "", "wakee": 8}],
"messages": [{"at": "0.000000200", "text": "writer 7 wakes reader 8, which slept 100 ns in 0"}]})"));
	CHECK(shown.at(250, 50).at("wake_ups").empty()); // it was at 200: the step before
	const Json in_loss = shown.at(750);
	CHECK(in_loss.at("cpus").at(1) == parsed(R"({"cpu": 1, "what": "unknown", "lost": true, "tid": null,
"mode": null, "doing": "", "ready": [], "waiting": 0})"));
	CHECK(in_loss.at("counts") == parsed(R"({"sleeping": 0, "unknown": 2})"));
	const Json asleep = shown.at(150);
	CHECK(asleep.at("cpus").at(1).at("what") == "idle");
	CHECK(asleep.at("sleeping") == Json({8}));
	CHECK(asleep.at("threads").at(1) ==
	      parsed(R"({"tid": 8, "name": "reader", "state": "sleeping", "doing": "sleeps in 0 for 50 ns"})"));
	CHECK(shown.at(355).at("cpus").at(0).at("mode") == "softirq");
}

TEST_CASE("view: a scene with a layout has its boxes, and messages along its arrows")
{
	Shown shown(history::pipe_history(),
		    "box: a\nthread: writer\nbox: b\nthread: reader\nat: 2 1\narrow: a -> b\narrow: b -> a\n");
	CHECK(view::layout_json(*shown.scenes.layout()) ==
	      parsed(R"({"boxes": [{"name": "a", "row": 1, "column": 1}, {"name": "b", "row": 2, "column": 1}],
"arrows": [{"from": 0, "to": 1}, {"from": 1, "to": 0}], "travel_steps": 12})"));
	const Json scene = shown.at(250, 10);
	CHECK(scene.at("boxes") ==
	      parsed(R"([{"who": "writer 7", "doing": "runs on CPU 0", "runs": true, "waits": false},
{"who": "reader 8", "doing": "runs on CPU 1", "runs": true, "waits": false}])"));
	CHECK(scene.at("arrows") ==
	      parsed(R"([{"count": "1", "on_the_way": [0.417]}, {"count": "0", "on_the_way": []}])"));
	CHECK(scene.at("threads").at(1).at("box") == 1);
	CHECK(!scene.at("threads").at(2).contains("box")); // the burner
}

TEST_CASE("view: scenes are the same in whatever order they are asked for")
{
	Shown shown(history::pipe_history());
	std::map<std::uint64_t, Json> seen; // by time
	for (const Json &scene : shown.scenes.answer(0, 995, 60, {}))
		seen.emplace(scene.at("time").get<std::uint64_t>(), scene);
	REQUIRE(seen.size() == 60);
	CHECK(seen.rbegin()->first == 59 * 16); // 995 / 60 apart
	std::mt19937 random(5);
	for (int i = 0; i < 200; ++i) {
		const auto at = std::next(seen.begin(), static_cast<std::ptrdiff_t>(random() % seen.size()));
		const std::size_t left = static_cast<std::size_t>(std::distance(at, seen.end()));
		const auto count = static_cast<unsigned>(1 + random() % left);
		const Json scenes = shown.scenes.answer(at->first, at->first + count * 16, count, {});
		REQUIRE(scenes.size() == count);
		for (const Json &scene : scenes)
			CHECK(scene == seen.at(scene.at("time").get<std::uint64_t>()));
	}
	CHECK(shown.scenes.answer(990, 990 + 60, 60, {}).size() == 6); // the recording ends
}

TEST_CASE("view: scenes are bounded, and given up when nobody wants them")
{
	history::History history;
	constexpr std::int32_t threads = 100;
	const auto has_room = [&](std::uint64_t time) {
		if (history.cpu(0).room() < 200)
			history.cpu(0).open(time);
	};
	for (std::int32_t tid = 10; tid < 10 + threads; ++tid) {
		has_room(static_cast<std::uint64_t>(tid));
		history::creates(history, static_cast<std::uint64_t>(tid), tid, 1, "same");
	}
	for (std::int32_t tid = 10; tid < 10 + threads / 2; ++tid) {
		const std::uint64_t time = 200 + 2 * static_cast<std::uint64_t>(tid);
		has_room(time);
		history.switches(0, time, 0, 0, tid);
		history.switches(0, time + 1, tid, history::sleeping, 0);
	}
	history.posts(0, 1000, EDC_ID_SOFTIRQ_ENTRY, 1);
	Shown shown(std::move(history));
	const Json scene = shown.at(900);
	CHECK(scene.at("cpus").at(0).at("waiting") == threads / 2);
	CHECK(scene.at("cpus").at(0).at("ready").size() == view::max_queued);
	CHECK(scene.at("cpus").at(0).at("ready").at(0) == 10 + threads / 2); // the longest waiting
	CHECK(scene.at("counts").at("sleeping") == threads / 2);
	CHECK(scene.at("sleeping").size() == view::max_sleeping);
	CHECK(scene.at("sleeping").at(0) == 10 + threads / 2 - 1); // the last that changed
	CHECK(scene.at("threads").size() == view::max_queued + view::max_sleeping);
	CHECK(shown.scenes.answer(0, 100, 0, {}).empty());
	CHECK_THROWS(shown.scenes.answer(0, 100, view::Scenes::max_steps + 1, {}));
	CHECK_THROWS(shown.scenes.answer(100, 0, 1, {}));
	CHECK_THROWS(shown.scenes.answer(996, 2000, 1, {}));
	CHECK_THROWS(shown.scenes.answer(0, 100, 1, [] { return true; }));
	CHECK(shown.at(900) == scene);
}

} // namespace test_scenes
