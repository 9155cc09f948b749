// SPDX-License-Identifier: MIT
#include "run_tables.h"

#include <algorithm>
#include <queue>
#include <utility>

#include <fmt/format.h>

namespace monitor::run_lengths {
namespace {

using activities::Distribution;
using report::Cell;
using report::Format;
using report::Unit;
using states::State;
using states::Subject;

std::string who_column(const states::Tree &tree)
{
	return std::string(subject_name(tree.subject()));
}

bool has_subject_column(const Context &context)
{
	return context.tree.subject() != Subject::machine;
}

// The number of the state of a row of Totals; empty for a node with children.
Cell number_of(const Totals &totals, const states::Tree &tree, std::size_t row)
{
	if (row >= totals.pause() || !tree.nodes()[row].is_leaf())
		return {};
	return std::uint64_t{tree.nodes()[row].state};
}

std::string name_of(const Totals &totals, const states::Tree &tree, std::size_t row, bool as_path)
{
	if (row >= totals.pause())
		return tree.name(row == totals.pause() ? tree.pause() : tree.unknown());
	if (as_path)
		return tree.path_of_node(static_cast<std::uint32_t>(row));
	return std::string(std::size_t{2} * tree.nodes()[row].depth, ' ') + tree.nodes()[row].name;
}

// The ticks of all states except PAUSE, when nothing was recorded.
double recorded_ticks(const Totals &totals, const states::Tree &tree, std::size_t group)
{
	double all = totals.of_group(group)[totals.unknown()].total();
	for (State state = 0; tree.is_of_tree(state); ++state)
		all += totals.of_group(group)[tree.leaf(state)].total();
	return all;
}

// In text a REST below a node, PAUSE and `unknown` are shown only if they occur.
bool is_shown(const Totals &totals, const Context &context, std::size_t row, const Distribution &values)
{
	if (context.format != Format::text || values.count() > 0)
		return true;
	return row < totals.pause() && (!context.tree.nodes()[row].is_rest() || context.tree.nodes()[row].depth == 0);
}

// Since the start of the trace; in text as `monitor list` prints it.
report::Column time_column(const Context &context)
{
	return {"from_ns", "from", context.format == Format::text ? Unit::text : Unit::nanoseconds};
}

Cell time_cell(std::uint64_t time, const Context &context)
{
	if (context.format == Format::text)
		return fmt::format("{:>14}", context.times(time));
	return time < context.begin_time ? -context.ns(context.begin_time - time)
					 : context.ns(time - context.begin_time);
}

void add_quantiles(std::vector<Cell> &cells, const Distribution &values, const Context &context)
{
	if (values.count() == 0) {
		cells.resize(cells.size() + 4);
		return;
	}
	for (const std::int64_t ticks : {values.min(), values.percentile(0.5), values.percentile(0.99), values.max()})
		cells.emplace_back(context.ns(static_cast<std::uint64_t>(ticks)));
}

} // namespace

double Context::ns(std::uint64_t ticks) const
{
	return static_cast<double>(ticks) * 1e9 / static_cast<double>(clock.frequency_hz);
}

std::string Context::who(std::uint32_t subject) const
{
	const states::Who &who = subjects[subject];
	if (who.thread)
		return fmt::format("{}-{}", who.thread->name.empty() ? "?" : who.thread->name, who.thread->tid);
	return has_subject_column(*this) ? fmt::format("{}", who.cpu) : "";
}

report::Table totals_table(const Totals &totals, const Context &context, bool per_subject,
			   const std::vector<std::size_t> &order)
{
	report::Table table;
	if (per_subject && has_subject_column(context))
		table.columns.push_back({who_column(context.tree), who_column(context.tree), Unit::text});
	table.columns.push_back({"number", "no", Unit::count});
	table.columns.push_back({"state", "state", Unit::text});
	if (context.format != Format::text)
		table.columns.push_back({"ticks", "ticks", Unit::count});
	table.columns.push_back({"time_ns", "time", Unit::nanoseconds});
	table.columns.push_back({"share_percent", "share%", Unit::percent});
	table.columns.push_back({"runs", "runs", Unit::count});
	for (const char *figure : {"min", "p50", "p99", "max"})
		table.columns.push_back({std::string(figure) + "_ns", figure, Unit::nanoseconds});
	for (const std::size_t group : order) {
		const double all = recorded_ticks(totals, context.tree, group);
		for (std::size_t row = 0; row <= totals.unknown(); ++row) {
			const Distribution &values = totals.of_group(group)[row];
			if (!is_shown(totals, context, row, values))
				continue;
			std::vector<Cell> cells;
			if (per_subject && has_subject_column(context))
				cells.emplace_back(context.who(static_cast<std::uint32_t>(group)));
			cells.push_back(number_of(totals, context.tree, row));
			cells.emplace_back(name_of(totals, context.tree, row, context.format != Format::text));
			const auto ticks = static_cast<std::uint64_t>(values.ticks());
			if (context.format != Format::text)
				cells.emplace_back(ticks);
			cells.emplace_back(context.ns(ticks));
			cells.push_back(row == totals.pause() || all <= 0 ? Cell() : Cell(100 * values.total() / all));
			cells.emplace_back(values.count());
			add_quantiles(cells, values, context);
			table.rows.push_back(std::move(cells));
		}
	}
	return table;
}

activities::Rows histograms(const Totals &totals, const Context &context, bool per_subject,
			    const std::vector<std::size_t> &order)
{
	activities::Rows rows;
	for (const std::size_t group : order)
		for (std::size_t row = 0; row <= totals.unknown(); ++row) {
			const Distribution &values = totals.of_group(group)[row];
			if (values.count() == 0)
				continue;
			std::vector<activities::Cell> cells;
			const auto add = [&](const std::string &text) {
				cells.emplace_back();
				cells.back().kind = activities::Cell::Kind::text;
				cells.back().text = text;
			};
			if (per_subject && has_subject_column(context))
				add(context.who(static_cast<std::uint32_t>(group)));
			add(name_of(totals, context.tree, row, true));
			std::string key;
			for (const activities::Cell &cell : cells)
				cell.append(key);
			if (activities::DistributionRow *found = rows.find(key, [&] { return cells; }))
				found->values.merge(values);
		}
	return rows;
}

std::string summary(const Totals &totals, const Context &context)
{
	const std::size_t count = context.subjects.size();
	const Subject subject = context.tree.subject();
	std::string text = report::duration_text(context.ns(context.window_ticks)) + " of ";
	const char *const each = subject == Subject::cpu ? "CPU" : "thread";
	text += subject == Subject::machine ? "one machine\n"
					    : fmt::format("{} {}{}\n", count, each, count == 1 ? "" : "s");
	bool pauses = false, unknown = false;
	for (std::size_t group = 0; group < totals.groups(); ++group) {
		pauses = pauses || totals.of_group(group)[totals.pause()].count() > 0;
		unknown = unknown || totals.of_group(group)[totals.unknown()].total() > 0;
	}
	if (pauses)
		text += subject == Subject::thread
			    ? "PAUSE: there was no such thread yet, or no longer; shares are of the other time\n"
			    : "PAUSE: not all probes were attached; shares are of the other time\n";
	if (unknown)
		text += "unknown: after a loss, or before the first event that shows the state\n";
	return text;
}

report::Table runs_table(const RunList &list, const Context &context, std::size_t max_rows, std::size_t &left_out)
{
	report::Table table;
	table.columns.push_back(time_column(context));
	if (has_subject_column(context))
		table.columns.push_back({who_column(context.tree), who_column(context.tree), Unit::text});
	table.columns.push_back({"number", "no", Unit::count});
	table.columns.push_back({"state", "state", Unit::text});
	table.columns.push_back({"ticks", "ticks", Unit::count});
	table.columns.push_back({"time_ns", "time", Unit::nanoseconds});
	// Merges the subjects' lists by time; at equal times in the order of the subjects.
	struct Next {
		std::uint64_t from;
		std::size_t subject, index;

		bool operator>(const Next &other) const
		{
			return std::pair(from, subject) > std::pair(other.from, other.subject);
		}
	};
	std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
	for (std::size_t subject = 0; subject < list.runs().size(); ++subject) {
		left_out += list.runs()[subject].size();
		if (!list.runs()[subject].empty())
			next.push({list.runs()[subject].front().from, subject, 0});
	}
	for (; !next.empty() && table.rows.size() < max_rows; --left_out) {
		const Next first = next.top();
		next.pop();
		const states::Run &run = list.runs()[first.subject][first.index];
		std::vector<Cell> cells;
		cells.push_back(time_cell(run.from, context));
		if (has_subject_column(context))
			cells.emplace_back(context.who(run.subject));
		cells.push_back(context.tree.is_of_tree(run.state) ? Cell(std::uint64_t{run.state}) : Cell());
		cells.emplace_back(context.tree.path(run.state));
		cells.emplace_back(run.ticks());
		cells.emplace_back(context.ns(run.ticks()));
		table.rows.push_back(std::move(cells));
		if (first.index + 1 < list.runs()[first.subject].size())
			next.push({list.runs()[first.subject][first.index + 1].from, first.subject, first.index + 1});
	}
	return table;
}

Matches matches_of(const RunList &list, const states::Automaton &automaton)
{
	Matches made;
	states::Matcher matcher(automaton);
	for (std::uint32_t subject = 0; subject < list.runs().size(); ++subject) {
		const std::vector<states::Run> &runs = list.runs()[subject];
		matcher.find(runs, [&](std::size_t first, std::size_t end) {
			made.all.push_back({subject, first, end});
			made.durations.add(static_cast<std::int64_t>(runs[end - 1].to - runs[first].from));
		});
	}
	std::ranges::stable_sort(made.all, {},
				 [&](const Match &match) { return list.runs()[match.subject][match.first].from; });
	return made;
}

report::Table matches_table(const Matches &matches, const RunList &list, const Context &context, std::size_t max_rows)
{
	constexpr std::size_t max_states_in_text = 12;
	const bool is_text = context.format == Format::text;
	report::Table table;
	table.columns.push_back(time_column(context));
	if (has_subject_column(context))
		table.columns.push_back({who_column(context.tree), who_column(context.tree), Unit::text});
	if (!is_text)
		table.columns.push_back({"ticks", "ticks", Unit::count});
	table.columns.push_back({"time_ns", "time", Unit::nanoseconds});
	table.columns.push_back({"runs", "runs", Unit::count});
	table.columns.push_back({"states", "states", Unit::text});
	for (std::size_t i = 0; i < std::min(matches.all.size(), max_rows); ++i) {
		const Match &match = matches.all[i];
		const std::vector<states::Run> &runs = list.runs()[match.subject];
		const std::uint64_t from = runs[match.first].from, ticks = runs[match.end - 1].to - from;
		const std::size_t count = match.end - match.first;
		std::string names;
		for (std::size_t j = 0; j < (is_text ? std::min(count, max_states_in_text) : count); ++j)
			names += (names.empty() ? "" : " ") + context.tree.path(runs[match.first + j].state);
		if (is_text && count > max_states_in_text)
			names += " ...";
		std::vector<Cell> cells = {time_cell(from, context)};
		if (has_subject_column(context))
			cells.emplace_back(context.who(match.subject));
		if (!is_text)
			cells.emplace_back(ticks);
		cells.emplace_back(context.ns(ticks));
		cells.emplace_back(std::uint64_t{count});
		cells.emplace_back(std::move(names));
		table.rows.push_back(std::move(cells));
	}
	return table;
}

std::string matches_summary(const Matches &matches, const RunList &list, const Context &context)
{
	if (matches.all.empty())
		return "no match\n";
	std::uint64_t recorded = 0;
	for (const std::vector<states::Run> &runs : list.runs())
		for (const states::Run &run : runs)
			recorded += run.state == context.tree.pause() ? 0 : run.ticks();
	const auto text = [&](std::int64_t ticks) {
		return report::duration_text(context.ns(static_cast<std::uint64_t>(ticks)));
	};
	const Distribution &durations = matches.durations;
	return fmt::format(
	    "{} match{}, {} in all{}; each {} to {}, p50 {}, p99 {}\n", report::count_text(matches.all.size()),
	    matches.all.size() == 1 ? "" : "es", text(durations.ticks()),
	    recorded ? fmt::format(" ({:.1f} % of the time)", 100 * durations.total() / static_cast<double>(recorded))
		     : "",
	    text(durations.min()), text(durations.max()), text(durations.percentile(0.5)),
	    text(durations.percentile(0.99)));
}

activities::Rows matches_histogram(const Matches &matches, const std::string &pattern)
{
	activities::Rows rows;
	if (matches.all.empty())
		return rows;
	activities::Cell cell;
	cell.kind = activities::Cell::Kind::text;
	cell.text = pattern;
	rows.find(pattern, [&] { return std::vector<activities::Cell>{cell}; })->values.merge(matches.durations);
	return rows;
}

} // namespace monitor::run_lengths
