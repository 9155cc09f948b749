// SPDX-License-Identifier: MIT
// The animation of a trace: scenes are those of the fold however they are reached, frames as text, and what keys do.
#include <algorithm>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "answers/play/play.h"
#include "history.h"
#include "pipe_history.h"
#include "reading/analyze/scheduling.h"

namespace test_play {

using namespace monitor;
using play::KeyPress;
using play::Player;

namespace {

constexpr std::uint64_t any_number = ~std::uint64_t(0);

play::View view_of(const Player &player, const trace::Trace &trace)
{
	play::View view;
	view.clock = &player.clock();
	view.times = monitor::trace::TimeText(trace, false);
	view.begin = player.begin();
	view.end = player.end();
	view.title = "DIR";
	view.speed = "1/100";
	return view;
}

std::string frame(const Player &player, const trace::Trace &trace, unsigned rows = 16, unsigned columns = 80)
{
	return play::draw(player.scene(), view_of(player, trace), rows, columns, true).cells.as_text();
}

struct Played {
	explicit Played(history::History made, std::uint64_t end = 1000, bool complete = true,
			std::uint64_t spacing = Player::usual_spacing)
	    : history(std::move(made)), trace(samples::trace(history.all(), history::events)),
	      info(history::make_info(5, end, complete, false)), player(trace, info, spacing)
	{
	}
	void go(std::uint64_t time, std::uint64_t step = 10)
	{
		player.go_to(time, step);
		while (!player.work(3))
			;
	}
	void wait()
	{
		while (!player.work(3))
			;
	}

	history::History history;
	trace::Trace trace;
	analyze::RecordingInfo info;
	Player player;
};

std::string of_cpu(const play::Scene &scene, std::size_t cpu)
{
	using What = play::SceneCpu::What;
	const play::SceneCpu &at = scene.cpus[cpu];
	return at.what == What::unknown ? "?" : at.what == What::idle ? "idle" : at.name;
}

} // namespace

TEST_CASE("play: a copy of the fold goes on as the original does")
{
	std::mt19937 random(3);
	for (int round = 0; round < 100; ++round) {
		std::uint64_t time = 0;
		history::History history = history::random_history(random, time);
		trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(5, time + 10, round % 3 != 0, false);
		analyze::ThreadFold whole(trace, info);
		analyze::feed(trace, whole);
		std::unique_ptr<analyze::ThreadFold> fold = std::make_unique<analyze::ThreadFold>(trace, info);
		std::uint64_t events = 0;
		trace::merge(
		    trace, {},
		    [&](const trace::Event &event) {
			    if (++events % 16 == 0)
				    fold = fold->copy(); // and the original is gone
			    fold->event(event);
		    },
		    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
			    fold->gap(stream, from, to);
		    });
		fold->finish();
		REQUIRE(fold->threads().size() == whole.threads().size());
		for (std::size_t i = 0; i < whole.threads().size(); ++i) {
			CHECK(fold->threads()[i].usage.ticks == whole.threads()[i].usage.ticks);
			CHECK(fold->threads()[i].usage.waiting == whole.threads()[i].usage.waiting);
			CHECK(fold->threads()[i].usage.throttled == whole.threads()[i].usage.throttled);
			CHECK(fold->threads()[i].usage.blocked == whole.threads()[i].usage.blocked);
		}
		for (std::size_t i = 0; i < whole.cpus().size(); ++i)
			CHECK(fold->cpus()[i].usage.ticks == whole.cpus()[i].usage.ticks);
	}
}

TEST_CASE("play: a scene has who runs, waits and sleeps, and who woke whom")
{
	Played played(history::pipe_history());
	played.go(250);
	const play::Scene scene = played.player.scene();
	CHECK(of_cpu(scene, 0) == "writer");
	CHECK(of_cpu(scene, 1) == "reader");
	CHECK(scene.cpus[0].ready == std::vector<std::int32_t>{9});
	CHECK(scene.find(9)->state == analyze::State::runnable);
	CHECK(scene.find(9)->since == 30);
	CHECK(!scene.find(10));
	REQUIRE(scene.wake_ups.size() == 1);
	CHECK(scene.wake_ups[0].waker.tid == 7);
	CHECK(scene.wake_ups[0].wakee.tid == 8);
	CHECK((scene.wake_ups[0].time == 200 && scene.wake_ups[0].slept == 100));
	CHECK(scene.wake_ups[0].call == "0");
	played.go(150);
	CHECK(of_cpu(played.player.scene(), 1) == "idle");
	CHECK(played.player.scene().find(8)->state == analyze::State::blocked);
	CHECK(played.player.scene().wake_ups.empty());
	played.go(355);
	CHECK(played.player.scene().cpus[0].mode == analyze::Mode::softirq);
	CHECK(played.player.scene().cpus[0].ready == std::vector<std::int32_t>{7});
}

TEST_CASE("play: what a loss hides is unknown, never idle")
{
	Played played(history::pipe_history());
	for (const std::uint64_t time : {750, 799}) {
		played.go(time);
		CHECK(of_cpu(played.player.scene(), 1) == "?");
		CHECK(played.player.scene().cpus[1].is_in_loss);
		CHECK(played.player.scene().cpus[1].past.back().tid == -1);
		CHECK(played.player.scene().find(8)->state == analyze::State::unknown);
		CHECK(of_cpu(played.player.scene(), 0) == "burner");
	}
	played.go(860);
	CHECK(of_cpu(played.player.scene(), 1) == "idle");
	played.go(690);
	CHECK(of_cpu(played.player.scene(), 1) == "reader");
}

TEST_CASE("play: a killed recording's CPU is unknown after its last token")
{
	history::History history = history::pipe_history();
	Played played(std::move(history), 1000, false);
	played.go(1000);
	CHECK(of_cpu(played.player.scene(), 0) == "?"); // its last token is at 900
	CHECK(of_cpu(played.player.scene(), 1) != "?");
	played.go(900);
	CHECK(of_cpu(played.player.scene(), 0) == "writer");
}

TEST_CASE("play: a scene does not depend on the way to it")
{
	std::mt19937 random(17);
	for (int round = 0; round < 60; ++round) {
		std::uint64_t end = 0;
		const history::History history = history::random_history(random, end);
		const bool complete = round % 3 != 0;
		Played wandering(history, end + 10, complete, 1 + random() % 30);
		for (int move = 0; move < 12; ++move) {
			const std::uint64_t time = random() % (end + 20), step = 1 + random() % 40;
			switch (random() % 5) {
			case 0:
				wandering.player.find_next(static_cast<std::int32_t>(1 + random() % 4));
				break;
			case 1:
				wandering.player.find_previous({});
				break;
			case 2:
				wandering.player.step_forwards();
				break;
			case 3:
				wandering.player.go_to(time, step);
				wandering.player.work(random() % 100);
				wandering.player.cancel();
				break;
			default:
				wandering.player.go_to(time, step);
			}
			wandering.wait();
			Played straight(history, end + 10, complete, any_number);
			straight.go(wandering.player.time(), wandering.player.step());
			play::Scene one = wandering.player.scene(), other = straight.player.scene();
			const auto text = [&](play::Scene &scene) {
				for (play::SceneCpu &cpu : scene.cpus) // steps that a loss of patience left out
					cpu.past.erase(cpu.past.begin(), cpu.past.end() - 1);
				play::View view = view_of(straight.player, straight.trace);
				return play::draw(scene, view, 24, 80, true).cells.as_text();
			};
			INFO("round " << round << ", move " << move);
			CHECK(text(one) == text(other));
			if (text(one) != text(other))
				return;
		}
	}
}

TEST_CASE("play: the past of a scene does not depend on the way to it, either")
{
	Played played(history::pipe_history(), 1000, true, 4);
	Played straight(history::pipe_history());
	for (const std::uint64_t time : {900, 500, 1000, 300, 40}) {
		played.go(time, 20);
		straight.go(time, 20);
		CHECK(frame(played.player, played.trace) == frame(straight.player, straight.trace));
	}
	played.go(900, 20);
	played.player.step_forwards();
	played.wait();
	straight.go(920, 20);
	CHECK(frame(played.player, played.trace) == frame(straight.player, straight.trace));
}

TEST_CASE("play: going back into a loss, and between events of one moment")
{
	history::History lossy;
	lossy.cpu(1);
	lossy.switches(0, 40, 0, 0, 7);
	lossy.switches(1, 50, 0, 0, 8);
	lossy.switches(0, 1200, 7, history::sleeping, 9); // CPU 1 is lost from 50 to 3000
	lossy.switches(0, 2400, 9, history::sleeping, 0);
	lossy.wakes(0, 2800, 7);
	lossy.cpu(1).open(3000, 5);
	lossy.switches(1, 3100, 8, history::sleeping, 0);
	Played played(lossy, 5000, true, 1); // a checkpoint at each event
	for (const std::uint64_t time : {5000, 2900, 2500, 2900, 1300}) {
		Played straight(lossy, 5000, true, any_number);
		played.go(time, 1);
		straight.go(time, 1);
		CHECK(frame(played.player, played.trace) == frame(straight.player, straight.trace));
	}
	CHECK(played.player.scene().find(7)->state == analyze::State::unknown); // it may run on CPU 1
	CHECK(of_cpu(played.player.scene(), 1) == "?");

	history::History pairs;
	pairs.switches(0, 40, 0, 0, 7);
	for (std::uint64_t time = 100; time < 200; time += 10) { // an interrupt of no length
		pairs.posts(0, time, EDC_ID_SOFTIRQ_ENTRY, 1);
		pairs.posts(0, time, EDC_ID_SOFTIRQ_EXIT, 1);
	}
	for (std::uint64_t spacing = 1; spacing < 8; ++spacing) {
		Played back(pairs, 1000, true, spacing);
		for (std::uint64_t time = 195; time > 100; time -= 10) {
			back.go(1000);
			back.go(time, 1);
			CHECK(back.player.scene().cpus[0].interrupt.empty());
		}
	}
}

TEST_CASE("play: next and previous go through the events of a thread")
{
	Played played(history::pipe_history(), 1000, true, 4);
	played.go(5);
	std::vector<std::uint64_t> times;
	for (played.player.find_next(8); played.player.work(1000); played.player.find_next(8)) {
		if (played.player.has_found_none())
			break;
		times.push_back(played.player.time());
	}
	const std::vector<std::uint64_t> expected = {20, 50, 60, 100, 200, 220, 230, 700, 850};
	CHECK(times == expected);
	CHECK(played.player.time() == 850);
	played.go(1000);
	times.clear();
	for (played.player.find_previous(8); played.player.work(1000); played.player.find_previous(8)) {
		if (played.player.has_found_none())
			break;
		times.push_back(played.player.time());
	}
	std::ranges::reverse(times);
	CHECK(times == expected);
	played.player.find_previous({});
	played.wait();
	CHECK(played.player.time() == 10);
}

TEST_CASE("play: a frame is printed as text")
{
	Played played(history::pipe_history());
	played.go(420, 20);
	CHECK("\n" + frame(played.player, played.trace) == R"(
monitor play DIR                       0.000000420 of 0.000001000 s  speed 1/100
────────────────────────────────●───────────────────────────────────────────────
 CPU 30 steps of 20 ns              now                        ready
   0          ·wwwwwwwwwwwwwbbbbbbb burner 9 kernel            writer
   1          ??rr······rrrrrrrrrrr reader 8 user
 threads
       7 writer             ready on CPU 0 for 120 ns
       8 reader             runs on CPU 1
       9 burner             runs on CPU 0



 messages the newest wake-ups, and events of programs
 0.000000200  writer 7 wakes reader 8, which slept 100 ns in 0


)");
	played.go(810, 20);
	CHECK("\n" + frame(played.player, played.trace, 12, 60) == R"(
monitor play DIR   0.000000810 of 0.000001000 s  speed 1/100
───────────────────────────────────────────────●────────────
 CPU 10 steps … now                        ready
   0 bbbbbbbbbb burner 9 kernel
   1 rrrr?????? ?
 threads
       7 writer             ?
       8 reader             ?
       9 burner             runs on CPU 0
 messages the newest wake-ups, and events of programs
 0.000000200  writer 7 wakes reader 8, which slept 100 ns i…

)");
}

TEST_CASE("play: a long name leaves room for its thread's number")
{
	Played played(history::pipe_history("\xe2\x80\xaeright-to-lef"));
	played.go(420, 20);
	CHECK(frame(played.player, played.trace).find(" \\u{202e}right-t… 9 kernel ") != std::string::npos);
}

namespace {

// An animation and somebody at its keys.
struct Looked : Played {
	explicit Looked(history::History made)
	    : Played(std::move(made)), play(player, view_of(player, trace), play::Speed::parse("1/1000000"), 5, true)
	{
		settle();
	}
	void settle()
	{
		while (play.work())
			;
	}
	bool press(char32_t character)
	{
		const bool goes_on = play.press({KeyPress::What::character, character});
		settle();
		return goes_on;
	}
	void press(KeyPress::What what)
	{
		CHECK(play.press({what}));
		settle();
	}
	void type(const char *text)
	{
		for (; *text; ++text)
			press(static_cast<char32_t>(*text));
	}
	std::string shown(unsigned rows = 16) { return play.draw(rows, 80).as_text(); }
	bool shows(const std::string &text) { return shown().find(text) != std::string::npos; }

	play::Play play;
};

} // namespace

TEST_CASE("play: keys run it, step, and change the speed")
{
	Looked looked(history::pipe_history());
	CHECK(looked.shows("0.000000005 of 0.000001000 s  speed 1/1000000  paused"));
	CHECK(looked.play.is_still());
	looked.play.tick();
	CHECK(looked.player.time() == 5);
	looked.press(' ');
	for (int i = 0; i < 3; ++i) {
		looked.play.tick();
		looked.settle();
	}
	CHECK(looked.player.time() == 125);
	CHECK(!looked.shows("paused"));
	looked.press(' ');
	looked.press('+');
	CHECK(looked.shows("speed 1/500000"));
	looked.press(KeyPress::What::right);
	CHECK(looked.player.time() == 205);
	looked.press(KeyPress::What::left);
	looked.press(KeyPress::What::left);
	CHECK(looked.player.time() == 45);
	looked.press(KeyPress::What::left);
	CHECK(looked.player.time() == 5); // its begin
	looked.press('-');
	looked.press('-');
	CHECK(looked.shows("speed 1/2000000"));
	looked.press(KeyPress::What::end);
	CHECK(looked.player.time() == 1000);
	looked.press(' ');
	looked.play.tick();
	CHECK(looked.play.is_still());
	CHECK(looked.shows("the end of the recording"));
	looked.press(KeyPress::What::home);
	CHECK(looked.player.time() == 5);
	CHECK(!looked.press('q'));
}

TEST_CASE("play: a key that comes during a move counts from where the move leads")
{
	Looked looked(history::pipe_history());
	CHECK(looked.play.press({KeyPress::What::end}));
	CHECK(looked.play.press({KeyPress::What::character, '+'}));
	looked.settle();
	CHECK(looked.player.time() == 1000);
	CHECK(looked.play.press({KeyPress::What::left}));
	CHECK(looked.play.press({KeyPress::What::left}));
	looked.settle();
	CHECK(looked.player.time() == 1000 - 2 * looked.player.step());
}

TEST_CASE("play: a recording without all switches is refused")
{
	Played played(history::pipe_history());
	CHECK_NOTHROW(analyze::expect_scheduling(played.trace, played.info));
	played.info.partial.insert("sched_switch");
	CHECK_THROWS_WITH(analyze::expect_scheduling(played.trace, played.info), Catch::Contains("--filter"));
}

TEST_CASE("play: a recording that ends before it starts is refused by its name")
{
	Played played(history::pipe_history());
	played.info.end.time = *played.info.start.time - 1;
	CHECK_THROWS_WITH(analyze::expect_scheduling(played.trace, played.info, "before"),
			  Catch::StartsWith("the start and the end of before cannot be those of its events"));
	const trace::TimeRange window = analyze::window_of(played.trace, played.info);
	CHECK(window.from == played.trace.first_time());
	CHECK(window.to == played.trace.end_time());
}

TEST_CASE("play: keys find a thread and follow it")
{
	Looked looked(history::pipe_history());
	looked.press(KeyPress::What::end);
	looked.type("/eader");
	CHECK(looked.shows("thread: eader_"));
	looked.press(KeyPress::What::backspace);
	looked.press(KeyPress::What::enter);
	CHECK(looked.shows(">      8 reader"));
	looked.press('p');
	CHECK(looked.player.time() == 850);
	looked.press('p');
	CHECK(looked.player.time() == 700);
	looked.press('n');
	CHECK(looked.player.time() == 850);
	looked.press('n');
	CHECK(looked.player.time() == 850);
	CHECK(looked.shows("thread 8 has no event in that direction"));
	looked.press(KeyPress::What::down);
	CHECK(looked.shows(">      9 burner"));
	looked.press(KeyPress::What::up);
	looked.press(KeyPress::What::up);
	CHECK(looked.shows(">      7 writer"));
	looked.type("/nobody");
	looked.press(KeyPress::What::enter);
	CHECK(looked.shows("no thread has nobody in its name"));
	looked.type("/9");
	looked.press(KeyPress::What::enter);
	CHECK(looked.shows(">      9 burner"));
	looked.type("/er"); // all three: the next after the last one is the first
	looked.press(KeyPress::What::enter);
	CHECK(looked.shows(">      7 writer"));
	looked.type("/");
	looked.press(KeyPress::What::enter); // the same again
	CHECK(looked.shows(">      8 reader"));
	looked.press(KeyPress::What::escape);
	CHECK(!looked.shows(">"));
	looked.press('?');
	CHECK(looked.shows("the next, the previous event"));
	looked.press('q'); // leaves the help only
	CHECK(looked.shows("monitor play"));
}

TEST_CASE("play: CPUs and threads that have no space are counted, and scroll")
{
	history::History history;
	history.streams.reserve(40);
	history.cpu(29);
	for (std::int32_t tid = 100; tid < 150; ++tid)
		history::creates(history, 10 + static_cast<unsigned>(tid), tid, 1, "one");
	Looked looked(std::move(history));
	looked.press(KeyPress::What::end);
	CHECK(looked.shows("CPU 0 to 3 of 30"));
	CHECK(looked.shows("threads the 4 last active of 50"));
	looked.press(KeyPress::What::page_down);
	CHECK(looked.shows("CPU 4 to 7 of 30"));
	looked.press(KeyPress::What::tab);
	for (int i = 0; i < 100; ++i)
		looked.press(KeyPress::What::down);
	CHECK(looked.shows("CPU 26 to 29 of 30"));
	for (int i = 0; i < 28; ++i)
		looked.press(KeyPress::What::up);
	CHECK(looked.shows("CPU 1 to 4 of 30"));
	for (const unsigned rows : {1u, 5u, 9u, 10u, 100u})
		CHECK(std::ranges::count(looked.shown(rows), '\n') == rows);
	CHECK(looked.shown(9).starts_with("40x10 at least"));
}

} // namespace test_play
