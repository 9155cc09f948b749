// SPDX-License-Identifier: MIT
// The archive: which names there may be, what measurement.json may be, what a condition takes, which figures there are,
// and folders that are moved, damaged or lead in circles.
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "answers/archive/condition.h"
#include "answers/archive/entry.h"
#include "answers/archive/figure.h"
#include "answers/archive/folder.h"
#include "answers/archive/listing.h"
#include "answers/archive/measurement_tables.h"
#include "answers/archive/name.h"
#include "base/error.h"

namespace test_archive {

using namespace monitor;
using archive::Condition;
using archive::Entry;
namespace fs = std::filesystem;

namespace {

Entry some_entry()
{
	Entry entry;
	entry.name = "web/many workers/run 1";
	entry.note = "8 \"workers\"";
	entry.date = "2026-11-26T03:45:08+0100";
	entry.host = "vm";
	entry.command = "pgbench -c 8";
	entry.complete = true;
	entry.elapsed_ns = 2.5e9;
	entry.tokens = 1000;
	entry.lost = 0;
	entry.figures = {{"p99 of fsync", 3e6}, {"cpu of make", std::nullopt}};
	return entry;
}

bool takes(const std::string &text, const Entry &entry = some_entry())
{
	return Condition(text).matches(entry);
}

class Folder {
public:
	Folder() : path_(fs::temp_directory_path() / ("monitor-archive-" + std::to_string(::getpid())))
	{
		fs::remove_all(path_);
		fs::create_directories(path_);
	}
	~Folder() { fs::remove_all(path_); }
	Folder(const Folder &) = delete;
	Folder &operator=(const Folder &) = delete;

	std::string path() const { return path_; }
	void add(const std::string &name, const std::string &date = "2026-01-01T00:00:00+0000") const
	{
		fs::create_directories(path_ / name / archive::trace_folder);
		Entry entry = some_entry();
		entry.date = date;
		write(name + "/" + archive::measurement_file, archive::to_json(entry));
	}
	void write(const std::string &name, const std::string &text) const { std::ofstream(path_ / name) << text; }

private:
	fs::path path_;
};

std::vector<std::string> names(const archive::Listing &listing)
{
	std::vector<std::string> all;
	for (const Entry &entry : listing.entries)
		all.push_back(entry.name);
	return all;
}

} // namespace

TEST_CASE("archive: names are levels, and hostile ones are refused")
{
	using Levels = std::vector<std::string>;
	CHECK(archive::levels_of("web/many workers/rün 1/") == Levels{"web", "many workers", "rün 1"});
	CHECK(archive::levels_of("a..b") == Levels{"a..b"});
	for (const std::string name : {"", "/", "/a", "a//b", "..", "a/../b", ".", ".adding-x", "a/.hidden", "a\nb",
				       "a\x1b[31m", "\xff", "a/project.json", "1/2/3/4/5/6/7/8/9"})
		CHECK_THROWS_AS(archive::levels_of(name), Error);
	CHECK_THROWS_AS(archive::levels_of(std::string("a\0b", 3)), Error);
	CHECK_THROWS_AS(archive::levels_of(std::string(201, 'x')), Error);
	CHECK_NOTHROW(archive::levels_of(std::string(200, 'x')));
	CHECK_THROWS_AS(archive::levels_of_measurement("web"), Error);
}

TEST_CASE("archive: what is known of a measurement survives its file")
{
	const Entry entry = some_entry();
	const auto again = archive::parse_entry(archive::to_json(entry));
	REQUIRE(again);
	CHECK(again->note == entry.note);
	CHECK(again->date == entry.date);
	CHECK(again->user.empty());
	CHECK(again->complete);
	CHECK(again->elapsed_ns == entry.elapsed_ns);
	CHECK(again->tokens == entry.tokens);
	CHECK(again->lost == entry.lost);
	CHECK_FALSE(again->bytes);
	CHECK(again->figures == entry.figures);
}

TEST_CASE("archive: a file that is damaged in any way is no measurement")
{
	const std::string good = archive::to_json(some_entry());
	for (std::size_t cut = 0; cut + 2 < good.size(); ++cut)
		CHECK_FALSE(archive::parse_entry(good.substr(0, cut)));
	for (const std::string text : {"",
				       "null",
				       "[]",
				       "7",
				       "\"x\"",
				       "{}",
				       R"({"version": 2})",
				       R"({"version": "1"})",
				       R"({"version": 1, "note": 3})",
				       R"({"version": 1, "lost": "0"})",
				       R"({"version": 1, "lost": -1})",
				       R"({"version": 1, "tokens": 1.5})",
				       R"({"version": 1, "complete": 1})",
				       R"({"version": 1, "figures": 3})",
				       R"({"version": 1, "figures": []})",
				       R"({"version": 1, "figures": {"a": "b"}})",
				       R"({"version": 1, "figures": {"a": {}}})",
				       R"({"version": 1, "elapsed_ns": []})",
				       R"({"version": 1, "date": null})",
				       R"({"version": 1}})",
				       R"([{"version": 1}])"})
		CHECK_FALSE(archive::parse_entry(text));
	CHECK_FALSE(archive::parse_entry(R"({"version": 1, "x": )" + std::string(100'000, '[')));
	// Members of later versions
	const auto more = archive::parse_entry(
	    R"({"version": 1, "x": {"note": "y", "figures": {"z": 1}}, "v": [[{}, null]], "note": "n"})");
	REQUIRE(more);
	CHECK(more->note == "n");
	CHECK(more->figures.empty());
}

TEST_CASE("archive: files without escapes are read as those with some are")
{
	Entry plain = some_entry();
	plain.note = "8 workers";
	const std::string good = archive::to_json(plain);
	const auto with_escape = [](const std::string &text) { // the same, and the library has to read it
		return text.starts_with('{') ? R"({"unknown": "\n",)" + text.substr(1) : text;
	};
	const auto same = [&](const std::string &text) {
		const auto one = archive::parse_entry(text), other = archive::parse_entry(with_escape(text));
		return !one == !other && (!one || archive::to_json(*one) == archive::to_json(*other));
	};
	REQUIRE(archive::parse_entry(good));
	REQUIRE(archive::parse_entry(with_escape(good)));
	std::mt19937 random(1);
	const std::string characters = "{}[]\":,.-+eE0123456789ntf \n\t\\\x01\x80\xc3u";
	std::size_t accepted = 0;
	for (int turn = 0; turn < 20'000; ++turn) {
		std::string text = good;
		for (unsigned changes = 1 + random() % 3; changes; --changes) {
			const std::size_t at = 1 + random() % (text.size() - 1);
			const std::string put(random() % 3 ? 1 : 0, characters[random() % characters.size()]);
			text.replace(at, random() % 2, put);
		}
		if (!same(text))
			FAIL("differs: " << text);
		accepted += archive::parse_entry(text) != nullptr;
	}
	CHECK(accepted > 1000);
	CHECK(accepted < 19'000);
	for (const char *number :
	     {"0", "00", "1.", ".5", "0.5", "-1", "1e3", "18446744073709551615", "18446744073709551616", "1.5.2"})
		CHECK(same(std::string(R"({"version": 1, "elapsed_ns": )") + number + "}"));
}

TEST_CASE("archive: conditions over texts, dates, numbers and figures")
{
	CHECK(takes("command ~ \"*pgbench*\" and date > 2026-11-01"));
	CHECK_FALSE(takes("command ~ \"*pgbench*\" and date > 2026-12-01"));
	CHECK(takes("date == 2026-11-26 and date >= 2026-11-26 and date <= 2026-11-26 and date == 2026-11"));
	CHECK_FALSE(takes("date > 2026-11-26 or date < 2026-11-26"));
	CHECK(takes("date > 2026-11-26T03 or date > 2026-11-26T03:44"));
	CHECK(takes("date in {2026-10, 2026-11-26..2026-11-27}"));
	CHECK_FALSE(takes("date not in {2026-10, 2026-11-26..2026-11-27}"));
	CHECK(takes("2026-11-01 < date and (date < 2026-12-01)"));
	CHECK(takes("note == \"8 \\\"workers\\\"\" and project == \"web\" and experiment == \"many workers\""));
	CHECK(takes("note != \"2026-11-01\" and measurement == \"run 1\" and host in {\"vm\", \"x\"}"));
	CHECK(takes("elapsed > 2s and elapsed < 2.6s and tokens == 1000 and tokens in {1..1000} and complete == 1"));
	CHECK(takes("`p99 of fsync` > 2ms and `p99 of sys_enter_fsync` < 4ms and has(`p99 of fsync`)"));
	CHECK(Condition("`p99 of sys_enter_fsync` < 4ms").figures() == std::vector<std::string>{"p99 of fsync"});
}

TEST_CASE("archive: what is unknown is neither equal nor different")
{
	for (const std::string text :
	     {"user == \"root\"", "user != \"root\"", "user ~ \"*\"", "user !~ \"*\"", "bytes == 0", "bytes != 0",
	      "bytes < 1", "bytes not in {0}", "has(user)", "has(bytes)", "`cpu of make` < 1s", "has(`cpu of make`)"})
		CHECK_FALSE(takes(text));
	CHECK(takes("not has(user) and not bytes == 0"));
	CHECK(takes("lost == 0"));
	Entry killed = some_entry();
	killed.lost.reset();
	CHECK_FALSE(takes("lost == 0", killed));
}

TEST_CASE("archive: conditions that mean nothing are refused")
{
	for (const std::string text : {"",
				       "command",
				       "comand == \"x\"",
				       "command == 3",
				       "tokens == \"x\"",
				       "date > 5",
				       "date > \"soon\"",
				       "elapsed > 5",
				       "`p99 of fsync` > 5",
				       "`p98 of fsync` > 5ms",
				       "elapsed + 1 > 2s",
				       "elapsed == tokens",
				       "tokens > 2026-11-01",
				       "date > 2026-11-01 and",
				       "(date > 2026-11-01",
				       "date == 2026-13",
				       "date == 2026-00-01",
				       "date > 2026-02-30",
				       "date < 2025-02-29",
				       "date == 2026-11-01T24",
				       "date == 2026-11-01T10:60",
				       "date in {2026-01-01..2026-01-32}"})
		CHECK_THROWS_AS(Condition(text), Error);
	for (const std::string text : {"date > 2024-02-29", "date == 2026-12-31T23:59:60", "date == 2026-12"})
		CHECK_NOTHROW(Condition(text));
}

TEST_CASE("archive: figures by their texts")
{
	CHECK(archive::parse_figure(" p99  of  sys_enter_fsync ").text() == "p99 of fsync");
	CHECK(archive::parse_figure("cpu of my program").text() == "cpu of my program");
	CHECK(archive::parse_figure("elapsed").unit() == report::Unit::nanoseconds);
	CHECK(archive::parse_figure("count of read").unit() == report::Unit::count);
	for (const std::string text :
	     {"", "p99", "p99 of", "p99 of ", "p98 of read", "of read", "cpu of ", "elapsed of x", "p99 of a b",
	      "p99 of sys_enter_", "p99 of re;ad", "cpu of a\nb"})
		CHECK_THROWS_AS(archive::parse_figure(text), Error);
	CHECK_THROWS_AS(archive::parse_figure("cpu of " + std::string(1000, 'x')), Error);
}

TEST_CASE("archive: dates are moments, whatever their time zone")
{
	CHECK(archive::seconds_of("1970-01-01T01:00:00+0100") == 0);
	CHECK(archive::seconds_of("1969-12-31T23:30:00-0030") == 0);
	for (const std::string date :
	     {"", "2026-11-26", "2026-11-26T03:45:08", "2026-11-26T03:45:08+0100x", "yesterday"})
		CHECK_FALSE(archive::seconds_of(date));
}

TEST_CASE("archive: the folders are the archive")
{
	const Folder folder;
	folder.add("web/a/1", "2026-03-01T00:00:00+0000");
	folder.add("web/a/2", "2026-01-01T00:00:00+0000");
	folder.add("web/3", "2026-02-01T00:00:00+0000");
	folder.add("other/x/y/z/1", "");
	folder.add(".adding-xyz");
	folder.write("web/file", "");
	using Names = std::vector<std::string>;
	CHECK(names(archive::list(folder.path(), "")) == Names{"other/x/y/z/1", "web/a/2", "web/3", "web/a/1"});
	CHECK(names(archive::list(folder.path(), "web/a/")) == Names{"web/a/2", "web/a/1"});
	CHECK(names(archive::list(folder.path(), "web/3")) == Names{"web/3"});
	CHECK_THROWS_AS(archive::list(folder.path(), "nothing"), Error);
	CHECK_THROWS_AS(archive::list(folder.path() + "/nothing", ""), Error);
	fs::rename(folder.path() + "/web", folder.path() + "/net");
	fs::copy(folder.path() + "/net/a/1", folder.path() + "/other/copy", fs::copy_options::recursive);
	CHECK(names(archive::list(folder.path(), "")).size() == 5);
	CHECK(archive::read_entry(folder.path(), "other/copy").date == "2026-03-01T00:00:00+0000");
}

TEST_CASE("archive: a change leaves what it does not know")
{
	const Folder folder;
	folder.add("p/1");
	const std::string file = std::string("p/1/") + archive::measurement_file;
	folder.write(
	    file,
	    R"({"version": 1, "note": "old", "date": "d", "later": {"x": [1, null]}, "figures": {"elapsed": 3}})");
	archive::set_note(folder.path() + "/p/1", "new");
	archive::store_figures(folder.path() + "/p/1", {{"p99 of read", std::nullopt}, {"count of read", 2}});
	const Entry entry = archive::read_entry(folder.path(), "p/1");
	CHECK(entry.note == "new");
	CHECK(entry.date == "d");
	CHECK(entry.figures.size() == 3);
	std::ifstream in(folder.path() + "/" + file);
	const std::string text(std::istreambuf_iterator<char>(in), {});
	CHECK(text.find("\"later\"") != std::string::npos);
	folder.write(file, "{");
	CHECK_THROWS_AS(archive::set_note(folder.path() + "/p/1", "x"), Error);
}

TEST_CASE("archive: what could not be read again is not written")
{
	const Folder folder;
	folder.add("p/1");
	std::map<std::string, std::optional<double>> figures;
	for (int i = 0; i < 500; ++i)
		figures["cpu of " + std::string(180, 'x') + std::to_string(i)] = i;
	CHECK_THROWS_AS(archive::store_figures(folder.path() + "/p/1", figures), Error);
	CHECK_THROWS_AS(archive::set_note(folder.path() + "/p/1", std::string(archive::max_note_bytes + 1, 'x')),
			Error);
	archive::set_note(folder.path() + "/p/1", std::string(archive::max_note_bytes, '\x01'));
	const Entry entry = archive::read_entry(folder.path(), "p/1");
	CHECK(entry.figures.size() == 2);
	CHECK(entry.note.size() == archive::max_note_bytes);
}

TEST_CASE("archive: the history of a figure is bars, or a series if there are many")
{
	std::vector<Entry> entries(40, some_entry());
	entries[7].figures.clear();
	const archive::Figure figure = archive::parse_figure("p99 of fsync");
	const plot::Chart few = archive::history_chart(entries, figure, "web");
	CHECK(few.kind == plot::Chart::Kind::bars);
	CHECK(few.bars.size() == 40);
	CHECK_FALSE(few.bars[7].value);
	entries.push_back(some_entry());
	const plot::Chart many = archive::history_chart(entries, figure, "web");
	REQUIRE(many.kind == plot::Chart::Kind::series);
	CHECK(many.series[0].values.size() == 41);
	CHECK_FALSE(many.series[0].values[7]);
	CHECK(many.end == "web/many workers/run 1, 2026-11-26 03:45");
}

TEST_CASE("archive: links that lead back, and damaged measurements, do not hide the others")
{
	const Folder folder;
	folder.add("p/e/good");
	folder.add("p/e/cut");
	folder.add("p/e/lost");
	folder.write(std::string("p/e/cut/") + archive::measurement_file, "{\"version\": 1, \"no");
	fs::remove(folder.path() + "/p/e/lost/" + archive::trace_folder);
	fs::create_directories(folder.path() + "/p/e/folder/" + archive::measurement_file);
	fs::create_directory_symlink("..", folder.path() + "/p/e/back");
	fs::create_directory_symlink("nowhere", folder.path() + "/p/e/broken");
	for (const char *name : {"a", "b", "c", "d", "f", "g"}) { // many ways to the same folders
		fs::create_directory_symlink(".", folder.path() + "/p/" + name);
		fs::create_directory_symlink("../e", folder.path() + "/p/e/" + name);
	}
	const archive::Listing listing = archive::list(folder.path(), "");
	CHECK(names(listing) == std::vector<std::string>{"p/e/good"});
	REQUIRE(listing.problems.size() == 3);
	for (const char *name : {"p/e/cut ", "p/e/lost ", "p/e/folder "})
		CHECK(std::ranges::any_of(listing.problems,
					  [&](const std::string &problem) { return problem.starts_with(name); }));
	CHECK_THROWS_AS(archive::read_entry(folder.path(), "p/e/cut"), Error);
}

TEST_CASE("archive: figures of two measurements, beside each other")
{
	Entry first = some_entry(), second = some_entry();
	second.figures["p99 of fsync"] = 1.5e6;
	first.figures["count of read"] = 0;
	second.figures["count of read"] = 4;
	const std::vector<archive::Figure> figures = {archive::parse_figure("p99 of fsync"),
						      archive::parse_figure("count of read"),
						      archive::parse_figure("cpu of make")};
	const report::Table table = archive::comparison_table(first, second, figures, report::Format::json);
	CHECK(table.rows[0][4] == report::Cell(-1.5e6));
	CHECK(table.rows[0][5] == report::Cell(0.5));
	CHECK(table.rows[1][4] == report::Cell(4.0));
	CHECK(table.rows[1][5] == report::Cell()); // 4 is not a multiple of 0
	for (std::size_t column = 2; column < 6; ++column)
		CHECK(table.rows[2][column] == report::Cell());
	const std::string text =
	    report::to_text(archive::comparison_table(first, second, figures, report::Format::text));
	CHECK(text.find("-1.50 ms") != std::string::npos);
	CHECK(text.find("+4") != std::string::npos);
}

} // namespace test_archive
