// SPDX-License-Identifier: MIT
// Charts of tables: which column is drawn, how long the bars are, with Unicode and without, and that SVG is well-formed
// whatever the names are.
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "answers/plot/from_table.h"
#include "answers/plot/scale.h"
#include "answers/plot/svg.h"
#include "answers/plot/text.h"
#include "base/error.h"
#include "base/text_width.h"

namespace test_plot {

using namespace monitor;
using plot::Chart;
using plot::Look;
using report::Cell;
using report::Table;
using report::Unit;

namespace {

Table usage()
{
	Table table;
	table.columns = {{"recorded", "", Unit::flag},
			 {"process", "process", Unit::text},
			 {"pid", "pid", Unit::count},
			 {"cpu_ns", "CPU time", Unit::nanoseconds},
			 {"unknown_percent", "unkn%", Unit::percent},
			 {"voluntary", "vol", Unit::count}};
	table.figure = {"cpu_ns", "unknown_percent"};
	table.rows = {{true, std::string("make"), std::uint64_t(7), std::uint64_t(4000), 50.0, std::uint64_t(1)},
		      {false, std::string("idle"), std::uint64_t(8), std::uint64_t(1000), 0.0, std::uint64_t(9)},
		      {false, std::string("hidden"), std::uint64_t(9), Cell(), Cell(), Cell()}};
	return table;
}

std::size_t count(const std::string &text, const std::string &part)
{
	std::size_t found = 0;
	for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
		++found;
	return found;
}

std::string line_with(const std::string &text, const std::string &word)
{
	const std::size_t at = text.find(word), begin = text.rfind('\n', at) + 1;
	return text.substr(begin, text.find('\n', at) - begin);
}

// Every element is closed in order, and & is the start of an entity: what an XML parser would refuse first.
bool is_well_formed(const std::string &xml)
{
	std::vector<std::string> open;
	for (std::size_t at = 0; (at = xml.find_first_of("<&", at)) != std::string::npos; ++at) {
		if (xml[at] == '&') {
			const std::string entity = xml.substr(at, xml.find(';', at) - at);
			if (entity != "&lt" && entity != "&gt" && entity != "&amp" && entity != "&quot")
				return false;
			continue;
		}
		const std::size_t end = xml.find('>', at);
		if (end == std::string::npos)
			return false;
		const std::string tag = xml.substr(at + 1, end - at - 1);
		if (tag.starts_with('?') || tag.ends_with('/'))
			continue;
		if (!tag.starts_with('/')) {
			open.push_back(tag.substr(0, tag.find(' ')));
		} else {
			if (open.empty() || "/" + open.back() != tag)
				return false;
			open.pop_back();
		}
	}
	return open.empty();
}

} // namespace

TEST_CASE("plot: a table's own figure is drawn, unknown parts apart")
{
	const Chart chart = plot::chart_of(usage(), {"report cpu", ""});
	CHECK(chart.title == "report cpu: CPU time by process");
	REQUIRE(chart.bars.size() == 3);
	CHECK(chart.bars[0].label == "* make (7)");
	CHECK(chart.bars[0].value == 2000);
	CHECK(chart.bars[0].unknown == 2000);
	CHECK(chart.bars[1].label == "  idle (8)");
	CHECK(chart.bars[1].unknown == 0);
	CHECK_FALSE(chart.bars[2].value);
	CHECK(chart.bars[2].text == "unknown");
	CHECK(plot::chart_of(usage(), {"", "", 2}).bars.size() == 2);
}

TEST_CASE("plot: another column by name, and what cannot be drawn")
{
	const Chart chart = plot::chart_of(usage(), {"", "vol"});
	CHECK(chart.title == "vol by process");
	CHECK(chart.bars[1].value == 9);
	CHECK(chart.bars[0].unknown == 0); // what is unknown of the CPU time says nothing about switches
	CHECK_THROWS_AS(plot::chart_of(usage(), {"", "process"}), Error);
	Table names;
	names.columns = {{"name", "name", Unit::text}};
	CHECK_THROWS_AS(plot::chart_of(names, {}), Error);
	Table moments;
	moments.columns = {{"time_ns", "time", Unit::instant}, {"since_ns", "since", Unit::nanoseconds}};
	CHECK_THROWS_AS(plot::chart_of(moments, {}), Error);
}

TEST_CASE("plot: a share that is unknown comes on top of a share")
{
	Table table;
	table.columns = {
	    {"cpu", "CPU", Unit::count}, {"idle_percent", "idle%", Unit::percent}, {"u", "u", Unit::percent}};
	table.figure = {"idle_percent", "u"};
	table.rows = {{std::uint64_t(0), 30.0, 10.0}};
	const Chart chart = plot::chart_of(table, {});
	CHECK(chart.bars[0].label == "CPU 0");
	CHECK(chart.bars[0].value == 30);
	CHECK(chart.bars[0].unknown == 10);
	CHECK(plot::scale_of(chart.bars).high == 40);
}

TEST_CASE("plot: bars in text have the lengths of their values")
{
	const Chart chart = plot::chart_of(usage(), {"report cpu", ""});
	const std::string unicode = plot::to_text(chart, {59, true}), ascii = plot::to_text(chart, {59, false});
	const std::string make = line_with(unicode, "make"), idle = line_with(unicode, "idle");
	CHECK(count(make, "░") + count(make, "█") == 36);
	CHECK(count(make, "░") == 18);
	CHECK(count(idle, "█") == 9);
	CHECK(line_with(unicode, "hidden").ends_with("unknown"));
	CHECK(count(line_with(ascii, "make"), "#") == 18);
	CHECK(count(line_with(ascii, "make"), "?") == 18);
	for (const char c : ascii)
		CHECK((c == '\n' || (c >= ' ' && c < 0x7f)));
	CHECK(unicode.find("░: unknown") != std::string::npos);
}

TEST_CASE("plot: lines fit, and the smallest value has a mark")
{
	Chart chart;
	chart.title = std::string(200, 't');
	chart.bars = {{std::string(100, 'x'), 1e9, 0, "1000000000"}, {"small", 1, 0, "1"}, {"none", 0, 0, "0"}};
	for (const bool has_unicode : {false, true})
		for (const std::size_t width : {1, 40, 57, 80, 200}) {
			const std::string text = plot::to_text(chart, {width, has_unicode});
			for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
				CHECK(text_width(text.substr(at, end - at)) <= std::max(width, plot::min_width));
			CHECK(line_with(text, "small").ends_with(has_unicode ? "▏" : "#"));
			CHECK(line_with(text, "none").ends_with("0"));
		}
}

TEST_CASE("plot: negative values go to the left of 0")
{
	Chart chart;
	chart.bars = {{"a", -50, 0, "-50"}, {"b", 50, 0, "50"}};
	const std::string text = plot::to_text(chart, {48, false});
	const std::string a = line_with(text, "-50"), b = line_with(text, "b ");
	CHECK(count(a, "#") == 20);
	CHECK(count(b, "#") == 20);
	CHECK(a.rfind('#') + 1 == b.find('#'));
}

TEST_CASE("plot: rows of intervals become series, gaps stay gaps")
{
	Table table;
	table.columns = {{"from_ns", "from", Unit::nanoseconds}, {"name", "name", Unit::text}, {"n", "n", Unit::count}};
	const auto add = [&](std::uint64_t from, const char *name, const Cell &n) {
		table.rows.push_back({from, std::string(name), n});
	};
	add(0, "a", std::uint64_t(1));
	add(0, "b", std::uint64_t(10));
	add(100, "b", std::uint64_t(20));
	add(200, "a", Cell());
	add(200, "b", std::uint64_t(0));
	const Chart chart = plot::chart_of(table, {});
	CHECK(chart.times == std::vector<double>{0, 100, 200});
	REQUIRE(chart.series.size() == 2);
	CHECK(chart.series[0].label == "b"); // the largest first
	CHECK(chart.series[0].values == std::vector<std::optional<double>>{10, 20, 0});
	CHECK(chart.series[1].values == std::vector<std::optional<double>>{1, std::nullopt, std::nullopt});
	const std::string text = plot::to_text(chart, {40, true});
	CHECK(count(text, "?") == 12 * 2 + 1); // two of three points, 12 columns each, and the line that explains it
	CHECK(text.find("█") != std::string::npos);
	CHECK(plot::chart_of(table, {"", "", 0, 1}).left_out == 1);
}

TEST_CASE("plot: with more moments than columns, a column shows the largest of several")
{
	Chart chart;
	chart.kind = Chart::Kind::series;
	chart.series = {{"a", Unit::count, {}}};
	for (int i = 0; i < 380; ++i) {
		chart.times.push_back(i);
		chart.series[0].values.emplace_back(i == 200 ? 100 : 0);
	}
	const std::string text = plot::to_text(chart, {40, true});
	CHECK(text.find("each column is the largest of 10 values") != std::string::npos);
	CHECK(count(text, "█") == 8); // one column, all rows
}

TEST_CASE("plot: ticks are round numbers within the scale")
{
	CHECK(plot::ticks_of({0, 10}, 8) == std::vector<double>{0, 2, 4, 6, 8, 10});
	CHECK(plot::ticks_of({0, 999}, 8) == std::vector<double>{0, 200, 400, 600, 800});
	CHECK(plot::ticks_of({-1, 1}, 8).front() == -1);
	for (const double high : {1e-9, 3e-3, 0.7, 1.0, 123456.0, 7e17})
		for (const std::size_t most : {2, 4, 8}) {
			const auto ticks = plot::ticks_of({0, high}, most);
			CHECK(!ticks.empty());
			CHECK(ticks.size() <= most);
			CHECK(ticks.back() <= high * 1.000001);
		}
	constexpr double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
	for (const auto &values : {std::vector<std::optional<double>>{-most, most},
				   {-1.5e308, 1.5e308},
				   {0, most},
				   {-most, 0},
				   {least},
				   {-least, least},
				   {1e-300, 1e308}}) {
		const plot::Scale scale = plot::scale_of({"", Unit::count, values});
		const auto ticks = plot::ticks_of(scale, 8);
		CHECK(!ticks.empty());
		CHECK(ticks.size() <= 9);
		for (const double tick : ticks)
			CHECK((std::isfinite(tick) && tick >= scale.low && tick <= scale.high));
		for (const auto &value : values)
			CHECK((scale.share(*value) >= 0 && scale.share(*value) <= 1));
	}
	CHECK(plot::Scale{-most, most}.share(0) == 0.5);
	CHECK(plot::tick_text(2.5e6, Unit::nanoseconds) == "2.5 ms");
	CHECK(plot::tick_text(40'000, Unit::count) == "40 k");
	CHECK(plot::tick_text(75, Unit::percent) == "75 %");
	CHECK(plot::tick_text(0, Unit::nanoseconds) == "0");
}

TEST_CASE("plot: SVG is well-formed whatever the names are")
{
	Table table = usage();
	table.rows[0][1] = std::string("<script>&amp;\"'</title>\x01\xff\xef\xbf\xbf]]>");
	Chart bars = plot::chart_of(table, {"<b>&", ""});
	Chart series;
	series.kind = Chart::Kind::series;
	series.times = {0, 1, 2};
	series.series = {{"</svg>", Unit::count, {1, std::nullopt, 2}}};
	const std::string svg = plot::to_svg({bars, series, Chart()}, "");
	CHECK(is_well_formed(svg));
	CHECK(svg.find("<script") == std::string::npos);
	CHECK(svg.find("\xef\xbf\xbf") == std::string::npos);
	CHECK(svg.find('\x01') == std::string::npos);
	CHECK(count(svg, "<rect class=\"bar\"") == 2);
	CHECK(count(svg, "<rect class=\"unknown\"") == 2); // of one bar, and a moment
	CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
	CHECK_FALSE(is_well_formed("<a><b></a>")); // the check can fail
}

TEST_CASE("plot: notes are in the picture, in lines that fit")
{
	const std::string word(80, 'w');
	const std::string svg = plot::to_svg({Chart()}, "lost 3\n\n" + word + " " + word + " <x>\n");
	CHECK(is_well_formed(svg));
	CHECK(svg.find(">lost 3<") != std::string::npos);
	CHECK(count(svg, ">" + word) == 2);
	CHECK(count(svg, " &lt;x&gt;<") == 1);
	CHECK(plot::to_svg({Chart()}, std::string(1000, 'x')).find(std::string(1000, 'x')) != std::string::npos);
}

TEST_CASE("plot: a distribution, with its ranges")
{
	const Chart chart = plot::chart_of(
	    report::Bins{"read", {{"1 us", "2 us", 3}, {"2 us", "4 us", 0}, {"4 us", "8 us", 1}}}, "stat");
	CHECK(chart.title == "stat: read");
	REQUIRE(chart.bars.size() == 3);
	CHECK(chart.bars[0].label == "1 us .. 2 us");
	CHECK(chart.bars[1].value == 0);
}

} // namespace test_plot
