// SPDX-License-Identifier: MIT
// Layout files of the animation, the cells that frames are drawn into, and speeds.
#include <random>

#include <catch2/catch.hpp>

#include "answers/play/layout.h"
#include "answers/play/picture.h"
#include "answers/play/speed.h"
#include "base/error.h"

namespace test_play_layout {

using namespace monitor;
using play::Cells;
using play::Layout;
using play::Speed;

namespace {

std::string why(const std::string &text)
{
	try {
		play::parse_layout(text, "my.layout");
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

play::SceneThread thread(std::int32_t tid, const char *name, analyze::State state)
{
	play::SceneThread made;
	made.tid = made.tgid = tid;
	made.name = made.process = name;
	made.state = state;
	made.cpu = 0;
	made.since = 900;
	return made;
}

play::Party party(std::int32_t tid, const char *name)
{
	return {tid, name, name};
}

} // namespace

TEST_CASE("play: a layout's boxes go to the right unless they say where they are")
{
	const Layout layout = play::parse_layout("# a pipeline\n"
						 "arrow: a -> b\n"
						 "box: a\n\tprocess: yes\n"
						 "box: b\n\tthread: work[0-9]*\n\tprocess: tr\n"
						 "box: c\n\tprocess: wc\n\tat: 2  2\n"
						 "box: d\n\tprocess: *\n"
						 "arrow: b -> c by sent\n",
						 "my.layout");
	REQUIRE(layout.boxes.size() == 4);
	CHECK((layout.boxes[1].row == 1 && layout.boxes[1].column == 2));
	CHECK((layout.boxes[2].row == 2 && layout.boxes[2].column == 2));
	CHECK((layout.boxes[3].row == 2 && layout.boxes[3].column == 3));
	CHECK((layout.rows() == 2 && layout.columns() == 3));
	REQUIRE(layout.arrows.size() == 2);
	CHECK((layout.arrows[0].from == 0 && layout.arrows[0].to == 1 && layout.arrows[0].event.empty()));
	CHECK((layout.arrows[1].from == 1 && layout.arrows[1].to == 2 && layout.arrows[1].event == "sent"));
	CHECK(layout.box_of("work12", "other") == 1);
	CHECK(layout.box_of("workers", "tr") == 1);
	CHECK(layout.box_of("workers", "yes") == 0);
	CHECK(layout.box_of("workers", "others") == 3);
}

TEST_CASE("play: a layout that cannot be read names the line and the remedy")
{
	CHECK(why("") == "my.layout: it has no box; add one, such as `box: producer` and below it `process: cat`");
	CHECK(why("box a\n") == "my.layout, line 1: expected a word and a colon, such as `box: producer`");
	CHECK(why("box: a\n proces: b\n") ==
	      "my.layout, line 2: proces is not a keyword of layouts; these are box, thread, "
	      "process, at, arrow. Did you mean process?");
	CHECK(why("process: b\n") == "my.layout, line 1: `process:` belongs below a `box:`");
	CHECK(why("box:\n") == "my.layout, line 1: nothing follows `box:`");
	CHECK(why("box: a\nprocess: b\nbox: a\nprocess: c\n") ==
	      "my.layout, line 3: there are two boxes a: give one of them another name");
	CHECK(why("box: a\n") ==
	      "my.layout: the box a has no threads: add `thread:` or `process:` and a pattern of names "
	      "below it");
	for (const char *at : {"x", "1", "1 2 3", "-1 2", "1, 2", "99999999999 1", "1 2x"})
		CHECK_THAT(why(std::string("box: a\nprocess: b\nat: ") + at),
			   Catch::Contains("my.layout, line 3: ") && Catch::Contains("is not a row and a column"));
	for (const char *at : {"0 1", "51 1", "1 51", "4000000000 1"})
		CHECK(why(std::string("box: a\nprocess: b\nat: ") + at) ==
		      "my.layout, line 3: rows are from 1 to 50, and columns from 1 to 50");
	CHECK(why("box: a\nprocess: b\nbox: b\nprocess: c\nat: 1 1\n") ==
	      "my.layout, line 5: row 1, column 1 has the box a already; write `at:` with another row or column");
	const std::string two = "box: a\nprocess: b\nbox: c\nprocess: d\n";
	CHECK(why(two + "arrow: a c\n") == "my.layout, line 5: \"a c\" is not an arrow such as `producer -> filter`");
	CHECK_THAT(why(two + "arrow: a -> e\n"),
		   Catch::Contains("my.layout, line 5: there is no box e; the boxes are a, c"));
	CHECK(why(two + "arrow: a -> a\n") == "my.layout, line 5: an arrow goes from one box to another one");
	CHECK_THAT(why("box: \x1b[2J\nprocess: x\narrow: a -> b"), !Catch::Contains("\x1b"));
	std::string many;
	for (int i = 0; i < 201; ++i)
		many += "box: " + std::to_string(i) + "\nprocess: x\nat: " + std::to_string(i / 50 + 1) + " " +
			std::to_string(i % 50 + 1) + "\n";
	CHECK_THAT(why(many), Catch::Contains("more than 200 boxes"));
}

TEST_CASE("play: any text is parsed as a layout or refused")
{
	std::mt19937 random(5);
	const std::string pieces[] = {"box: ", "at: ", "arrow: ", "->", " by ", "process: ", "a",
				      "b",     "1",    " ",       "\n", "\n",   "\xff",      "#"};
	for (int round = 0; round < 3000; ++round) {
		std::string text;
		for (unsigned i = 0; i < random() % 30; ++i)
			text += pieces[random() % std::size(pieces)];
		try {
			const Layout layout = play::parse_layout(text, "x");
			CHECK((!layout.boxes.empty() && layout.rows() <= Layout::max_row));
		} catch (const Error &) {
		}
	}
}

TEST_CASE("play: every cell is one column wide")
{
	Cells cells(6, 24, true);
	CHECK(cells.text(0, 0, "caf\xc3\xa9 \xd0\xb4") == 6);
	CHECK(cells.text(1, 0, "a\x1b[2Jb\n\t\x7f") == 21);
	CHECK(cells.text(2, 0, "\xe4\xb8\xad|\xd7\x90|e\xcc\x81") == 24); // wide, right to left, combining
	CHECK(cells.text(3, 0, "\xe2\x80\xae\xff\xc3") == 16);            // override of the direction; no UTF-8
	CHECK(cells.text(4, 20, "longer") == 24);
	CHECK(cells.text(5, 0, "longer", {}, 4) == 4);
	cells.text(9, 9, "outside");
	cells.symbol(0, 99, U'x');
	CHECK(cells.as_text() == "caf\xc3\xa9 \xd0\xb4\n"
				 "a\\x1b[2Jb\\x0a\\x09\\x7f\n"
				 "\\u{4e2d}|\\u{5d0}|e\\u{30\xe2\x80\xa6\n"
				 "\\u{202e}\\xff\\xc3\n"
				 "                    lon\xe2\x80\xa6\n"
				 "lon\xe2\x80\xa6\n");
	Cells ascii(2, 20, false);
	ascii.text(0, 0, "caf\xc3\xa9");
	ascii.symbol(1, 0, U'●');
	ascii.symbol(1, 1, U'→');
	CHECK(ascii.as_text() == "caf\\u{e9}\no>\n");
	std::mt19937 random(9);
	for (int round = 0; round < 2000; ++round) {
		std::string text;
		for (unsigned i = 0; i < random() % 12; ++i)
			text += static_cast<char>(random());
		Cells line(1, 200, true);
		CHECK(line.text(0, 0, text) == terminal::width_of(text, true));
		bool are_narrow = true;
		for (unsigned column = 0; column < 200; ++column) {
			const char32_t c = line.at(0, column).character;
			are_narrow &= c >= 0x20 && c != 0x7f && (c < 0x80 || c >= 0xa1) && c < 0x530;
		}
		CHECK(are_narrow);
	}
}

TEST_CASE("play: speeds are parsed, and the keys step through 1, 2 and 5")
{
	CHECK(Speed::parse("1/100").step_ns() == 400'000);
	CHECK(Speed::parse("1").step_ns() == play::frame_ns);
	CHECK(Speed::parse("20").step_ns() == 20 * play::frame_ns);
	CHECK(Speed::parse("1/10000000").step_ns() == 4);
	CHECK(Speed::parse("1/30").faster().text() == "1/20");
	CHECK(Speed::parse("1/30").slower().text() == "1/50");
	CHECK(Speed::parse("1/2").faster().text() == "1");
	CHECK(Speed::parse("1").faster().text() == "2");
	CHECK(Speed::parse("1").slower().text() == "1/2");
	CHECK(Speed::parse("7").slower().text() == "5");
	CHECK(Speed::parse("1000").faster().text() == "1000");
	CHECK(Speed::parse("1/10000000").slower().text() == "1/10000000");
	for (const char *text :
	     {"", "0", "1/0", "-1", "1/", "x", "1001", "1/10000001", "0.5", "1/99999999999999999999", "1 "})
		CHECK_THROWS_WITH(Speed::parse(text), Catch::Contains("--speed: '"));
}

TEST_CASE("play: a layout as text, with messages on their way")
{
	const Layout layout = play::parse_layout("box: producer\nprocess: yes\nbox: filter\nprocess: tr\n"
						 "box: sink\nprocess: wc\nat: 2 2\nbox: idle\nprocess: none\n"
						 "arrow: producer -> filter\narrow: filter -> producer\n"
						 "arrow: filter -> sink by sent\narrow: producer -> idle\n",
						 "my.layout");
	trace::Clock clock;
	clock.frequency_hz = 1'000'000'000;
	play::View view;
	view.clock = &clock;
	view.layout = &layout;
	play::Scene scene;
	scene.time = 1000;
	scene.step = 10;
	scene.threads = {thread(1, "yes", analyze::State::running), thread(2, "tr", analyze::State::blocked),
			 thread(3, "tr", analyze::State::unknown), thread(4, "wc", analyze::State::runnable)};
	scene.wake_ups = {{1000, 5, party(1, "yes"), party(2, "tr"), "read"},
			  {940, 5, party(1, "yes"), party(2, "tr"), "read"},
			  {930, 5, party(2, "tr"), party(1, "yes"), "write"},
			  {500, 5, party(1, "yes"), party(3, "tr"), "read"},
			  {300, 5, party(1, "yes"), party(3, "tr"), "read"}}; // longer ago than the past that is shown
	scene.posted = {
	    {950, party(2, "tr"), "sent"}, {945, party(2, "tr"), "received"}, {940, party(1, "yes"), "sent"}};
	Cells cells(13, 70, false);
	CHECK(play::draw_layout(cells, 0, 13, scene, view) == 11);
	CHECK("\n" + cells.as_text() == R"(
+-producer-------+   3    +-filter---------+
| yes 1          |o--o--->| 2 threads      |
| runs on CPU 0  |<--o----| 1 sleep, 1 ?   |
+----------------+   1    +----------------+
                             o 1
                             v
                          +-sink-----------+        +-idle-----------+
                          | wc 4           |        | no thread      |
                          | ready on CPU ~ |        |                |
                          +----------------+        +----------------+
 producer -> idle: 0


)");
	Cells small(5, 30, false);
	play::draw_layout(small, 0, 5, scene, view);
	CHECK("\n" + small.as_text() == R"(
+-producer-------------------+
| yes 1                      |
| runs on CPU 0              |
+----------------------------+
 5 lines more are not shown
)");
}

} // namespace test_play_layout
