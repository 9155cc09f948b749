// SPDX-License-Identifier: MIT
// `monitor top` without a terminal: what is drawn of refreshes that the test makes, and what keys do.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/top/columns.h"
#include "answers/top/row_filter.h"
#include "answers/top/text.h"
#include "answers/top/top.h"
#include "base/parse_error.h"

namespace test_top {

using namespace monitor;
using live::Refresh;
using live::Wanted;
using report::GroupBy;
using terminal::KeyPress;

namespace {

const std::vector<report::Column> columns = {{"recorded", "", report::Unit::flag},
					     {"process", "process", report::Unit::text},
					     {"pid", "pid", report::Unit::count},
					     {"cpu_ns", "CPU time", report::Unit::nanoseconds},
					     {"cpu_percent", "CPU%", report::Unit::percent},
					     {"waiting_ns", "waiting", report::Unit::nanoseconds},
					     {"voluntary", "vol", report::Unit::count},
					     {"involuntary", "invol", report::Unit::count},
					     {"syscalls", "syscalls", report::Unit::count}};

struct Process {
	std::string name;
	std::uint64_t pid;
	double percent;
	report::Cell calls;
};

struct Screen {
	explicit Screen(bool is_utf8 = true)
	    : top({.next = [this](std::uint64_t seen) { return newest && newest->number > seen ? newest : nullptr; },
		   .want = [this](const Wanted &now) { wanted = now; },
		   .status = [this] { return status; }},
		  "monitor top", {}, top::figure_columns(), {}, is_utf8)
	{
	}

	void refresh(const std::vector<Process> &processes)
	{
		auto made = std::make_shared<Refresh>();
		made->number = newest ? newest->number + 1 : 1;
		made->end_ns = made->number * 2'000'000'000;
		made->begin_ns = made->end_ns - 2'000'000'000;
		made->wanted = wanted;
		made->rows.columns = columns;
		for (const Process &process : processes)
			made->rows.rows.push_back({false, process.name, process.pid, std::uint64_t{5}, process.percent,
						   std::uint64_t{500'000'000}, std::uint64_t{30}, std::uint64_t{10},
						   process.calls});
		newest = made;
		top.tick();
	}
	std::string text(unsigned rows = 20, unsigned width = 120) { return top.draw(rows, width).as_text(); }
	// The names of the rows, in their order.
	std::string names()
	{
		std::string all;
		const std::string drawn = text();
		std::size_t at = drawn.find("PID PROCESS");
		REQUIRE(at != std::string::npos);
		for (at = drawn.find('\n', at) + 1; at < drawn.size() && drawn[at] == ' ';
		     at = drawn.find('\n', at) + 1) {
			const std::size_t name = drawn.find_first_not_of(" 0123456789", at);
			all += drawn.substr(name, drawn.find(' ', name) - name) + " ";
		}
		return all;
	}
	bool press(KeyPress::What what) { return top.press({what}); }
	void type(const std::string &text)
	{
		for (const char character : text)
			press(character);
	}
	bool press(char character) { return top.press({KeyPress::What::character, static_cast<char32_t>(character)}); }

	std::shared_ptr<const Refresh> newest;
	Wanted wanted;
	top::Status status;
	top::Top top;
};

const std::vector<Process> some = {{"sshd", 10, 1.5, std::uint64_t{100}},
				   {"nginx", 20, 50.0, std::uint64_t{4}},
				   {"postgres", 30, 20.0, report::Cell()}};

} // namespace

TEST_CASE("top: rows by CPU time, with their figures a second, and what is not known")
{
	Screen screen;
	CHECK(screen.text().find("waiting for the first figures") != std::string::npos);
	screen.refresh(some);
	CHECK(screen.names() == "nginx postgres sshd ");
	const std::string text = screen.text();
	const std::string nginx =
	    text.substr(text.find("nginx"), text.find('\n', text.find("nginx")) - text.find("nginx"));
	CHECK(nginx.find("50.0") != std::string::npos);
	CHECK(nginx.find(" 25.0 ") != std::string::npos);  // waiting: 0.5 of 2 s
	CHECK(nginx.find("    20 ") != std::string::npos); // 40 switches in 2 s
	const std::string postgres = text.substr(text.find("postgres"));
	CHECK(postgres.substr(0, postgres.find('\n')).find(" - ") != std::string::npos);
}

TEST_CASE("top: change and history of a row follow it wherever it is")
{
	Screen screen;
	screen.refresh(some);
	screen.refresh({{"sshd", 10, 90.0, std::uint64_t{0}}, {"nginx", 20, 45.0, std::uint64_t{4}}});
	CHECK(screen.names() == "sshd nginx ");
	CHECK(screen.text().find("+88.5") != std::string::npos);
	CHECK(screen.text().find("-5.0") != std::string::npos);
	CHECK(screen.text().find("▄▄") != std::string::npos); // nginx: 50 %, 45 %
}

TEST_CASE("top: keys sort, search, hold still, and quit")
{
	Screen screen;
	screen.refresh(some);
	for (int i = 0; i < 8; ++i)
		CHECK(screen.press('>')); // calls/s
	CHECK(screen.names() == "sshd nginx postgres ");
	CHECK(screen.press('r'));
	CHECK(screen.names() == "postgres nginx sshd ");
	CHECK(screen.press('/'));
	for (const char letter : std::string("GIN"))
		CHECK(screen.press(letter));
	CHECK(screen.names() == "nginx ");
	CHECK(screen.press(KeyPress::What::enter));
	CHECK(screen.press(KeyPress::What::escape)); // the search
	CHECK(screen.names() == "postgres nginx sshd ");
	CHECK(screen.press(' '));
	screen.refresh({});
	CHECK(screen.names() == "postgres nginx sshd ");
	CHECK(screen.press(' '));
	screen.top.tick();
	CHECK(screen.names().empty());
	CHECK(screen.press('?'));
	CHECK(screen.text().find("back to what it is in") != std::string::npos);
	CHECK(screen.press(KeyPress::What::escape));
	CHECK_FALSE(screen.press('q'));
}

namespace {

// The names of rows of which it is true.
std::string taken(const std::string &text, const std::vector<Process> &processes = some)
{
	Screen screen;
	screen.refresh(processes);
	std::string names;
	for (const auto &row : top::RowFilter(text, top::figure_columns()).rows(*screen.newest).rows)
		names += top::name_of_row(row) + " ";
	return names;
}

std::string refused(const std::string &text)
{
	try {
		const top::RowFilter filter(text, top::figure_columns());
	} catch (const ParseError &error) {
		return std::to_string(error.position().column) + ": " + error.sentence();
	}
	return "";
}

} // namespace

TEST_CASE("top: an expression takes rows by their figures as they are shown")
{
	CHECK(taken("cpu > 1.5") == "nginx postgres ");
	CHECK(taken("cpu >= 1.5 and not name ~ \"*g*\"") == "sshd ");
	CHECK(taken("calls == 50") == "sshd "); // a second
	CHECK(taken("wait == 25 and switches == 20") == "sshd nginx postgres ");
	CHECK(taken("pid in {10, 25..35}") == "sshd postgres ");
	CHECK(taken("name !~ \"*s*\"") == "nginx ");
	CHECK(taken("name in {\"sshd\", \"x\"} or cpu < 0") == "sshd ");
	// postgres' calls are not known, so nothing is true of them
	CHECK(taken("calls >= 0") == "sshd nginx ");
	CHECK(taken("calls != 2 or calls < 1") == "sshd ");
	CHECK(taken("not has(calls)") == "postgres ");
	CHECK(taken("has(tid)").empty());
}

TEST_CASE("top: an expression that is of no use for rows is refused where it goes wrong")
{
	CHECK(refused("cpu > 5 and") == "12: something is missing at the end");
	CHECK(refused("cpu > 5 and nmae == \"x\"").starts_with("13: a row has no nmae; it has name, pid, tid, cpu, "));
	CHECK(refused("cpu > 5 and nmae == \"x\"").ends_with("Did you mean name?"));
	CHECK(refused("cpu == \"5\"") == "8: cpu is a number: compare it with a number");
	CHECK(refused("name in {\"x\", 3}") == "15: name is a text: compare it with a string in double quotes");
	CHECK(refused("wait > 5ms") == "8: wait is not a time: leave out the unit");
	CHECK(refused("user + kernel > 5") == "6: only names can be compared here, not what is computed from them");
	CHECK(refused("cpu > wait") == "7: compare it with a string or a number");
	CHECK(refused("history > 1").starts_with("1: a row has no history"));
}

TEST_CASE("top: the expression is typed, an error stays in the line, and what is hidden is counted")
{
	Screen screen;
	screen.refresh(some);
	screen.press('\\');
	screen.type("cpu >= 20 and nmae ~ \"n*\"");
	CHECK(screen.names() == "nginx postgres sshd ");
	CHECK(screen.press(KeyPress::What::enter));
	CHECK(screen.text().find("\ncolumn 15: a row has no nmae; it has name, pid, ") != std::string::npos);
	CHECK(screen.text().find("\n\\cpu >= 20 and nmae ~ \"n*\"_") != std::string::npos);
	for (int i = 0; i < 11; ++i)
		screen.press(KeyPress::What::backspace);
	CHECK(screen.text().find("column 15") == std::string::npos);
	screen.type("name ~ \"n*\"");
	screen.press(KeyPress::What::enter);
	CHECK(screen.names() == "nginx ");
	CHECK(screen.text().find("rows of which cpu >= 20 and name ~ \"n*\": 2 rows hidden by the filter") !=
	      std::string::npos);
	CHECK(screen.top.press({KeyPress::What::function, 4}));
	CHECK(screen.text().find("\n\\cpu >= 20 and name ~ \"n*\"_") != std::string::npos);
	screen.press(KeyPress::What::escape);
	CHECK(screen.names() == "nginx postgres sshd ");
	CHECK(screen.text().find("hidden") == std::string::npos);
	screen.press('\\');
	screen.type("pid == 10");
	screen.press(KeyPress::What::enter);
	screen.refresh({{"sshd", 10, 1.5, report::Cell()}, {"vim", 11, 1.5, report::Cell()}});
	CHECK(screen.names() == "sshd ");
	CHECK(screen.text().find("pid == 10: 1 row hidden by the filter") != std::string::npos);
	screen.press(KeyPress::What::escape);
	CHECK(screen.names() == "sshd vim ");
}

TEST_CASE("top: hidden rows are counted in text and in JSON")
{
	Screen screen;
	screen.refresh(some);
	const top::RowFilter filter("cpu > 1.5", top::figure_columns());
	const std::string text = top::refresh_text(*screen.newest, {}, 1, 0, &filter);
	CHECK(text.find("sshd") == std::string::npos);
	CHECK(text.find("... and 1 more") != std::string::npos);
	CHECK(text.find("\n... 1 row hidden by the filter\n") != std::string::npos);
	CHECK(top::refresh_text(*screen.newest, {}, 1, 0).find("hidden") == std::string::npos);
	CHECK(top::refresh_json(*screen.newest, {}, &filter).find("\"hidden_rows\":1") != std::string::npos);
	CHECK(top::refresh_json(*screen.newest, {}, &filter).find("sshd") == std::string::npos);
	CHECK(top::refresh_json(*screen.newest, {}).find("\"hidden_rows\":0") != std::string::npos);
}

TEST_CASE("top: into what a row is made of, and back")
{
	Screen screen;
	screen.refresh(some);
	screen.press(KeyPress::What::down); // postgres
	screen.press(KeyPress::What::enter);
	CHECK(screen.wanted.by == GroupBy::thread);
	CHECK(screen.wanted.process == 30);
	CHECK(screen.text().find("threads of postgres (30)") != std::string::npos);
	CHECK(screen.text().find("with the next figures") != std::string::npos); // not those of another question
	screen.press(KeyPress::What::enter);                                     // nothing is there to go into
	CHECK(screen.wanted.by == GroupBy::thread);
	screen.press(KeyPress::What::escape);
	CHECK(screen.wanted.by == GroupBy::process);
	CHECK(screen.wanted.process == 0);
	screen.press(KeyPress::What::escape); // as far as it goes
	CHECK(screen.wanted.by == GroupBy::process);
	screen.refresh(some);
	screen.press('d');
	CHECK(screen.wanted.followed == 20); // nginx is the first
	screen.press('g');
	CHECK(screen.wanted.by == GroupBy::cgroup);
	CHECK(screen.wanted.followed == 0);
}

TEST_CASE("top: the chosen row stays chosen when the order changes, and any size can be drawn")
{
	Screen screen(false);
	std::vector<Process> many;
	for (std::uint64_t i = 0; i < 5000; ++i)
		many.push_back({"p\x1b[2J\n\xe2\x80\xae", i + 1, static_cast<double>(i % 97), std::uint64_t{i}});
	screen.refresh(many);
	screen.press(KeyPress::What::end);
	screen.press(KeyPress::What::page_up);
	screen.press('d');
	const std::int32_t chosen = screen.wanted.followed;
	std::ranges::reverse(many);
	screen.refresh(many);
	CHECK(screen.wanted.followed == chosen);
	for (const unsigned rows : {1u, 2u, 3u, 5u, 8u, 24u, 200u})
		for (const unsigned width : {1u, 2u, 7u, 20u, 80u, 300u}) {
			const std::string text = screen.text(rows, width);
			CHECK(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7f); }));
			CHECK(std::ranges::count(text, '\n') == static_cast<std::ptrdiff_t>(rows));
		}
}

TEST_CASE("top: losses are told wherever figures are")
{
	Screen screen;
	screen.refresh(some);
	CHECK(screen.text().find("lost 0") != std::string::npos);
	auto lossy = std::make_shared<Refresh>(*screen.newest);
	lossy->number = 2;
	lossy->has_losses = true;
	lossy->late = 3;
	screen.newest = lossy;
	screen.status.lost = 12'345'678;
	CHECK(screen.top.tick());
	CHECK(screen.text().find("lost 12346k: counts are lower bounds") == std::string::npos);
	CHECK(screen.text(20, 200).find(
		  "lost 12M: counts are lower bounds, some time is unknown; 3 events came too late") !=
	      std::string::npos);
	CHECK(top::refresh_text(*lossy, screen.status, 2, 0).find("lost 12345678: counts are lower bounds") !=
	      std::string::npos);
	CHECK(top::refresh_json(*lossy, screen.status).find("\"whole\":false,\"lost\":12345678,\"late\":3") !=
	      std::string::npos);
	CHECK(top::refresh_json(*lossy, screen.status).find('\n') == std::string::npos);
	CHECK(screen.text(20, 200).find("another recording") == std::string::npos);
	lossy->other_recorders = {123};
	CHECK(screen.text(20, 200).find("without that of another recording (process 123)") != std::string::npos);
}

TEST_CASE("top: counts in four characters")
{
	CHECK(top::short_count(0) == "0");
	CHECK(top::short_count(0.5) == "0.5");
	CHECK(top::short_count(7) == "7");
	CHECK(top::short_count(9999) == "9999");
	CHECK(top::short_count(12345) == "12k");
	CHECK(top::short_count(1.5e9) == "1500M");
}

} // namespace test_top
