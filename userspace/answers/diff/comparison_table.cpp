// SPDX-License-Identifier: MIT
#include "comparison_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/json.h"
#include "significance.h"

namespace monitor::diff {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
using report::cell_of;
using report::Column;
using report::Unit;

std::string p_text(const std::optional<double> &p)
{
	constexpr double min_shown = 0.0005;
	if (!p)
		return "";
	return (*p < min_shown ? "<0.001" : fmt::format("{:.3f}", *p)) + (is_significant(p) ? " significant" : "");
}

// "200000", or the values before and after.
std::string count_text(const ComparedRow &row)
{
	const Change &count = row.count;
	if (!count.before && !count.after && !is_counted(row.key.item))
		return "";
	const auto text = [](const std::optional<double> &value) {
		return value ? report::count_text(static_cast<std::uint64_t>(std::llround(*value))) : "-";
	};
	return count.before == count.after ? text(count.before) : text(count.before) + " -> " + text(count.after);
}

std::vector<Column> columns(bool with_p)
{
	std::vector<Column> all = {{"recorded", "", Unit::flag},
				   {"kind", "kind", Unit::text},
				   {"command", "command", Unit::text},
				   {"thread", "thread", Unit::text},
				   {"what", "what", Unit::text},
				   {"before_ns", "before", Unit::nanoseconds},
				   {"after_ns", "after", Unit::nanoseconds},
				   {"difference_ns", "difference", Unit::difference},
				   {"ratio", "ratio", Unit::ratio},
				   {"share_percent", "share%", Unit::percent}};
	if (with_p)
		all.push_back({"p", "p", Unit::text});
	all.push_back({"count", "count", Unit::text});
	return all;
}

std::vector<Cell> cells(const ComparedRow &row, const std::string &what)
{
	const RowKey &key = row.key;
	return {key.of_command,
		std::string(name_of(kind_of(key.item))),
		key.command,
		key.thread,
		what,
		cell_of(row.time_ns.before),
		cell_of(row.time_ns.after),
		cell_of(row.time_ns.difference()),
		cell_of(row.time_ns.ratio()),
		cell_of(row.share)};
}

bool is_changed(const ComparedRow &row)
{
	return row.time_ns.difference() != 0.0 || row.count.difference().value_or(0) != 0;
}

std::string ranking_text(const Ranking &ranking, const Tests &tests, bool is_tested, std::size_t max_rows,
			 std::size_t max_width)
{
	const bool with_p = is_tested && tests.is_possible();
	report::Table table;
	table.columns = columns(with_p);
	for (const ComparedRow &row : ranking.rows) {
		if (!is_changed(row))
			continue;
		std::vector<Cell> line = cells(row, row.key.short_what());
		if (with_p)
			line.emplace_back(p_text(row.corrected_p));
		line.emplace_back(count_text(row));
		table.rows.push_back(std::move(line));
	}
	const std::size_t all = table.rows.size();
	if (all == 0)
		return "nothing differs\n";
	table.keep_top(max_rows);
	return report::to_text(table, max_width) +
	       (all > max_rows ? fmt::format("... and {} more; --top 0 shows all\n", all - max_rows) : "");
}

std::string rows_text(std::size_t rows)
{
	return rows == 1 ? "1 row" : fmt::format("{} rows", rows);
}

// "4 can test 1 row, 5 can test 6, 6 can test 23"
std::string testable_rows_text()
{
	std::string text;
	for (std::size_t each = min_repetitions; each < min_repetitions + 3; ++each)
		text += text.empty() ? fmt::format("{} can test {}", each, rows_text(max_tested_rows(each, each)))
				     : fmt::format(", {} can test {}", each, max_tested_rows(each, each));
	return text;
}

std::string tests_text(const Tests &tests)
{
	if (!tests.is_possible())
		return fmt::format("significance not tested: give at least {} repetitions of each side (A1,A2,A3,A4 "
				   "B1,B2,B3,B4). {}.\n",
				   min_repetitions, testable_rows_text());
	if (tests.candidates == 0)
		return "significance not tested: no row is known in all repetitions\n";
	std::string text =
	    fmt::format("p: Mann-Whitney test of the {}most clearly separated row{}, with Holm's correction; "
			"significant below {}: {}\n",
			tests.tested == 1 ? "" : fmt::format("{} ", tests.tested), tests.tested == 1 ? "" : "s",
			significance_level, tests.significant ? rows_text(tests.significant) : "none");
	if (tests.tested < tests.candidates)
		text += fmt::format("{} and {} repetitions cannot test more (of each side, {}); to test all {} rows "
				    "takes {} of each side\n",
				    tests.before, tests.after, testable_rows_text(), tests.candidates,
				    repetitions_for(tests.candidates));
	return text;
}

std::string span_text(const std::vector<Measured> &repetitions)
{
	const auto [shortest, longest] = std::ranges::minmax_element(repetitions, {}, &Measured::elapsed_ns);
	const std::string least = report::duration_text(static_cast<double>(shortest->elapsed_ns));
	return repetitions.size() == 1
		   ? least
		   : fmt::format("{} to {}", least, report::duration_text(static_cast<double>(longest->elapsed_ns)));
}

// What is missing in a repetition; "": nothing.
std::string missing_text(const Measured &repetition)
{
	std::string text;
	const auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
	if (!repetition.summary.complete && !repetition.summary.is_generic_ctf)
		add("incomplete: the recording was killed or its disk was full");
	else if (!repetition.summary.lost)
		add("what was lost is unknown");
	if (repetition.summary.lost.value_or(0))
		add(fmt::format("{} events lost", report::count_text(*repetition.summary.lost)));
	if (repetition.summary.misses.value_or(0))
		add(fmt::format("{} events missed by the probes", report::count_text(*repetition.summary.misses)));
	if (!repetition.problems.empty())
		add(fmt::format("{} packets damaged", repetition.problems.total()));
	if (text.empty() && !repetition.is_whole)
		add("events are missing: a gap, or left out by --filter or a budget");
	if (repetition.summary.recordings > 1)
		add(fmt::format("{} recordings, between which nothing was recorded", repetition.summary.recordings));
	return text;
}

std::string side_text(const char *name, const PrintedSide &side)
{
	double unknown = 0;
	std::string missing;
	for (const Measured &each : side.repetitions) {
		unknown = std::max(unknown, static_cast<double>(each.unknown_ns));
		if (const std::string what = missing_text(each); !what.empty())
			missing +=
			    fmt::format("; {}{}", side.repetitions.size() > 1 ? printable(each.name) + ": " : "", what);
	}
	const std::string first = printable(side.repetitions.front().name);
	return fmt::format("{} {}{}{}: {} on {}, kernel {}; {}unknown time {}{}{}\n", name, first,
			   side.repetitions.size() > 1 ? fmt::format(" and {} more", side.repetitions.size() - 1) : "",
			   side.command.empty() ? "" : " (" + printable(side.command) + ")",
			   span_text(side.repetitions), side.host.empty() ? "?" : printable(side.host),
			   side.kernel.empty() ? "?" : printable(side.kernel), missing.empty() ? "lost 0, " : "",
			   side.repetitions.size() > 1 ? "up to " : "", report::duration_text(unknown), missing);
}

struct Total {
	const char *key, *title;
	const Change *change;
	std::optional<double> p; // of what is tested
};

std::vector<Total> totals_of(const Comparison &comparison)
{
	return {{"elapsed", "elapsed", &comparison.elapsed_ns, comparison.elapsed_p},
		{"command_cpu", comparison.is_of_selected ? "CPU time of the selected" : "CPU time of the command",
		 &comparison.command_cpu_ns, comparison.command_cpu_p},
		{"cpu", "CPU time of all", &comparison.cpu_ns, std::nullopt}};
}

std::string totals_text(const Comparison &comparison)
{
	report::Table table;
	table.columns = {{"", "", Unit::text},
			 {"before_ns", "before", Unit::nanoseconds},
			 {"after_ns", "after", Unit::nanoseconds},
			 {"difference_ns", "difference", Unit::difference},
			 {"ratio", "ratio", Unit::ratio}};
	const bool with_p = comparison.tests.is_possible();
	if (with_p)
		table.columns.push_back({"p", "p", Unit::text});
	for (const auto &[key, title, change, p] : totals_of(comparison)) {
		if (change->before.value_or(0) <= 0 && change->after.value_or(0) <= 0)
			continue;
		table.rows.push_back({std::string(title), cell_of(change->before), cell_of(change->after),
				      cell_of(change->difference()), cell_of(change->ratio())});
		if (with_p)
			table.rows.back().emplace_back(p_text(p));
	}
	return report::to_text(table);
}

const char *title_of(const Ranking &ranking, Ours ours)
{
	switch (ranking.of) {
	case Ranking::Of::others:
		return "CPU time of other processes:\n";
	case Ranking::Of::activities:
		return "by the programs' own activities, without those inside them:\n";
	case Ranking::Of::functions:
		return "CPU time by function, from samples of stacks:\n";
	case Ranking::Of::stacks:
		return "CPU time by whole stack, from samples:\n";
	case Ranking::Of::sleeps:
		return "time asleep by whole stack:\n";
	default:
		return ours == Ours::command    ? "time of the recorded command:\n"
		       : ours == Ours::selected ? "time of the selected processes:\n"
						: "";
	}
}

Json change_json(const Change &change)
{
	return {{"before_ns", or_null(change.before)},
		{"after_ns", or_null(change.after)},
		{"difference_ns", or_null(change.difference())},
		{"ratio", or_null(change.ratio())}};
}

Json values_json(const std::vector<std::optional<double>> &values)
{
	Json all = Json::array();
	for (const std::optional<double> &value : values)
		all.push_back(or_null(value));
	return all;
}

Json row_json(const ComparedRow &row)
{
	Json json = {{"kind", name_of(kind_of(row.key.item))},
		     {"recorded", row.key.of_command},
		     {"command", row.key.command},
		     {"thread", row.key.thread},
		     {"what", row.key.what()},
		     {"leads", row.leads}};
	json.update(change_json(row.time_ns));
	json.update(Json{{"share_percent", or_null(row.share)},
			 {"before_count", or_null(row.count.before)},
			 {"after_count", or_null(row.count.after)},
			 {"p", or_null(row.p)},
			 {"corrected_p", or_null(row.corrected_p)},
			 {"significant", row.is_tested ? Json(row.is_significant()) : Json()},
			 {"before_each_ns", values_json(row.before_ns)},
			 {"after_each_ns", values_json(row.after_ns)}});
	return json;
}

Json side_json(const PrintedSide &side)
{
	Json json = {{"command", side.command}, {"host", side.host}, {"kernel", side.kernel}};
	Json &repetitions = json["repetitions"] = Json::array();
	for (const Measured &each : side.repetitions)
		repetitions.push_back({{"name", each.name},
				       {"elapsed_ns", each.elapsed_ns},
				       {"cpu_ns", each.cpu_ns},
				       {"command_cpu_ns", each.command_cpu_ns},
				       {"unknown_ns", each.unknown_ns},
				       {"damaged_packets", each.problems.total()},
				       {"is_whole", each.is_whole},
				       {"summary", parse_json<Json>(report::summary_json(each.summary))}});
	return json;
}

} // namespace

std::string comparison_text(const Printed &printed, std::size_t max_rows, std::size_t max_width)
{
	const Comparison &comparison = printed.comparison;
	std::string text = side_text("before:", printed.before) + side_text("after: ", printed.after);
	for (const std::string &note : printed.notes)
		text += note + "\n";
	text += "\n" + totals_text(comparison);
	for (const Ranking &ranking : comparison.rankings) {
		const bool is_first = &ranking == comparison.rankings.data();
		if (ranking.rows.empty() && !is_first)
			continue;
		text += fmt::format("\n{}{}", title_of(ranking, comparison.ours),
				    ranking_text(ranking, comparison.tests, is_first, max_rows, max_width));
		if (is_first)
			text += "\n" + tests_text(comparison.tests);
	}
	return text;
}

std::string comparison_csv(const Printed &printed, std::size_t max_rows)
{
	report::Table table;
	table.columns = columns(false);
	table.columns.pop_back();
	for (const auto &[key, unit] : {std::pair{"leads", Unit::flag}, std::pair{"before_count", Unit::ratio},
					std::pair{"after_count", Unit::ratio}, std::pair{"p", Unit::ratio},
					std::pair{"corrected_p", Unit::ratio}})
		table.columns.push_back({key, key, unit});
	for (const Ranking &ranking : printed.comparison.rankings)
		for (std::size_t i = 0; i < std::min(max_rows, ranking.rows.size()); ++i) {
			const ComparedRow &row = ranking.rows[i];
			std::vector<Cell> line = cells(row, row.key.what());
			line.emplace_back(row.leads);
			for (const std::optional<double> &value :
			     {row.count.before, row.count.after, row.p, row.corrected_p})
				line.push_back(cell_of(value));
			table.rows.push_back(std::move(line));
		}
	return report::to_csv(table);
}

std::string comparison_json(const Printed &printed, std::size_t max_rows)
{
	const Comparison &comparison = printed.comparison;
	Json json = {
	    {"before", side_json(printed.before)}, {"after", side_json(printed.after)}, {"notes", printed.notes}};
	for (const Total &total : totals_of(comparison)) {
		Json &made = json["totals"][total.key] = change_json(*total.change);
		made["p"] = or_null(total.p);
		made["significant"] = total.p ? Json(is_significant(total.p)) : Json();
	}
	Json &rows = json["rows"] = Json::array();
	for (const Ranking &ranking : comparison.rankings)
		for (std::size_t i = 0; i < std::min(max_rows, ranking.rows.size()); ++i)
			rows.push_back(row_json(ranking.rows[i]));
	const Tests &tests = comparison.tests;
	json["tests"] = {{"before", tests.before},
			 {"after", tests.after},
			 {"candidates", tests.candidates},
			 {"tested", tests.tested},
			 {"significant", tests.significant},
			 {"level", significance_level},
			 {"repetitions_for_all", repetitions_for(tests.candidates)}};
	return json_dump(json, 1) + "\n";
}

} // namespace monitor::diff
