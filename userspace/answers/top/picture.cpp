// SPDX-License-Identifier: MIT
// Drawing for `monitor top` (top.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "columns.h"
#include "stacks_shown.h"
#include "top.h"

namespace monitor::top {
namespace {

using terminal::Cells;
using terminal::Colour;
using terminal::Look;

constexpr Look heading = {Colour::plain, true}, faint = {Colour::plain, false, true},
	       titles = {Colour::plain, false, false, true};

constexpr const char *help[] = {
    "up down      choose a row; page up, page down, home, end",
    "enter        what is in it: processes of a cgroup, threads of a process, calls of a thread",
    "escape       back to what it is in",
    "p t c g u    processes, threads, commands, cgroups, CPUs",
    "d            what the chosen row calls, what ends its sleeps, and its activities (with --user)",
    "s            its stacks: what it ran, and what it slept in (with --stacks)",
    "/            only rows whose name has this",
    "\\ F4         only rows of which an expression is true, such as cpu > 5 and name ~ \"nginx*\"",
    "< >          sort by the column to the left, to the right; r: the other way round",
    "space        hold still, or go on",
    "? h          this help",
    "q            quit",
    "",
    "Of a row: CPU%, how it changed, and its history; its time by mode in per cent of its CPU time;",
    "time in which its threads were ready without a CPU, and slept, in per cent of the time that has",
    "passed; switches, calls, faults and migrations a second. - is not known, never 0.",
};

// Calls draw(part, top, bottom) for parts of about the same height.
template <class Draw> void draw_parts(unsigned top, unsigned bottom, std::size_t parts, Draw &&draw)
{
	for (std::size_t part = 0; part < parts; ++part) {
		const auto end = top + (bottom - std::min(bottom, top)) / static_cast<unsigned>(parts - part);
		draw(part, top, std::min(end, bottom));
		top = end;
	}
}

std::string rate_text(std::uint64_t count, double seconds)
{
	return seconds > 0 ? short_count(static_cast<double>(count) / seconds) : "-";
}

} // namespace

std::u32string Top::sparkline(const History *history, std::size_t length, double full) const
{
	constexpr std::u32string_view steps = U" ▁▂▃▄▅▆▇█", ascii = U" ..::==##";
	std::u32string line(length, U' ');
	const std::size_t count = history ? std::min(history->values.size(), length) : 0;
	for (std::size_t i = 0; i < count; ++i) {
		const double part =
		    std::clamp(history->values[history->values.size() - count + i] / full, 0.0, 1.0) * 8;
		line[length - count + i] = (is_utf8_ ? steps : ascii)[static_cast<std::size_t>(std::ceil(part))];
	}
	return line;
}

// Returns the next row.
unsigned Top::draw_machine(Cells &cells) const
{
	unsigned row = 0;
	cells.text(row, 0, title_, heading);
	const std::string state = (is_paused_ ? "held " : "") + (refresh_ ? time_text(*refresh_) : "");
	const auto width = static_cast<unsigned>(std::min<std::size_t>(state.size(), cells.columns()));
	cells.text(row++, cells.columns() - width, state, is_paused_ ? titles : Look{});
	if (!refresh_) {
		cells.text(row, 0, "waiting for the first figures");
		return row + 2;
	}
	const MachineTotals &totals = refresh_->totals;
	const double all = static_cast<double>(totals.usage.cpu() + totals.idle);
	const auto percent = [&](std::uint64_t ticks) { return all > 0 ? static_cast<double>(ticks) / all * 100 : 0; };
	unsigned column = cells.text(row, 0, "CPU ", heading);
	const unsigned bar = std::min(30u, cells.columns() / 4);
	struct Part {
		analyze::Mode mode;
		const char *name;
		Colour colour;
	};
	constexpr Part parts[] = {{analyze::Mode::user, "user", Colour::green},
				  {analyze::Mode::kernel, "kernel", Colour::red},
				  {analyze::Mode::irq, "irq", Colour::magenta},
				  {analyze::Mode::softirq, "softirq", Colour::blue},
				  {analyze::Mode::unattributed, "unattributed", Colour::yellow},
				  {analyze::Mode::unknown, "unknown", Colour::cyan}};
	double sum = 0;
	unsigned drawn = 0;
	for (const Part &part : parts) {
		sum += percent(totals.usage[part.mode]);
		for (; drawn < static_cast<unsigned>(std::lround(sum / 100 * bar)); ++drawn)
			cells.symbol(row, column + drawn, part.mode == analyze::Mode::unknown ? U'?' : U'|',
				     {part.colour});
	}
	cells.line(row, column + drawn, bar - std::min(bar, drawn), U'·', faint);
	column += bar + 1;
	for (const Part &part : parts) {
		const double value = percent(totals.usage[part.mode]);
		const bool is_special = part.mode == analyze::Mode::unattributed || part.mode == analyze::Mode::unknown;
		if (is_special && totals.usage[part.mode] == 0)
			continue;
		const bool is_known = refresh_->recorded.knows(totals.usage, part.mode);
		column = cells.text(row, column, fmt::format("{} ", part.name), {part.colour});
		column = cells.text(row, column, is_known ? fmt::format("{:.1f}  ", value) : "-  ");
	}
	cells.text(row, column,
		   fmt::format("idle {:.1f} % of {} CPUs", percent(totals.idle), refresh_->cpus.rows.size()));
	++row;
	const double seconds = static_cast<double>(refresh_->end_ns - refresh_->begin_ns) / 1e9;
	const auto rate = [&](bool is_recorded, std::uint64_t count) {
		return is_recorded ? rate_text(count, seconds) : std::string("-");
	};
	column = cells.text(row, 0, "busy ", heading);
	for (const char32_t step : sparkline(&busy_, std::min<std::size_t>(history_length, bar), 100))
		cells.symbol(row, column++, step, {Colour::green});
	cells.text(row, column + 1,
		   fmt::format("a second: {} switches, {} wakings, {} calls, {} faults, {} interrupts",
			       rate_text(totals.switches, seconds), rate(refresh_->recorded.wakings, totals.wakings),
			       rate(refresh_->recorded.calls, totals.calls),
			       rate(refresh_->recorded.faults, totals.faults),
			       rate(refresh_->recorded.interrupts, totals.interrupts)));
	++row;
	cells.text(row++, 0,
		   fmt::format("{} threads: {} run, {} wait for a CPU{}, {} sleep{}", totals.threads, totals.running,
			       totals.ready, totals.throttled ? fmt::format(", {} throttled", totals.throttled) : "",
			       totals.blocked, totals.unknown ? fmt::format(", {} unknown", totals.unknown) : ""));
	return row;
}

void Top::draw_table(Cells &cells, unsigned top, unsigned bottom, const report::Table &table, const char *title) const
{
	if (top >= bottom)
		return;
	cells.text(top, 0, title, heading);
	std::vector<unsigned> widths;
	for (std::size_t i = 0; i < table.columns.size(); ++i) {
		unsigned width = terminal::width_of(table.columns[i].title, is_utf8_);
		for (const auto &row : table.rows)
			width = std::max(
			    width, terminal::width_of(report::cell_text(row[i], table.columns[i].unit), is_utf8_));
		widths.push_back(i > 0 && i + 1 == table.columns.size() ? width : std::min(width, 40u));
	}
	const auto write = [&](unsigned row, std::size_t i, unsigned column, const std::string &text, Look look) {
		const bool is_text = table.columns[i].unit == report::Unit::text;
		const unsigned width = std::min(terminal::width_of(text, is_utf8_), widths[i]);
		cells.text(row, is_text ? column : column + widths[i] - width, text, look, widths[i]);
	};
	unsigned column = 1;
	for (std::size_t i = 0; i < table.columns.size(); column += widths[i++] + 2) {
		write(top + 1, i, column, table.columns[i].title, faint);
		for (unsigned n = 0; n < table.rows.size() && top + 2 + n < bottom; ++n)
			write(top + 2 + n, i, column, report::cell_text(table.rows[n][i], table.columns[i].unit), {});
	}
	if (table.rows.empty() && top + 2 < bottom)
		cells.text(top + 2, 1, "none in this time", faint);
}

void Top::draw_rows(Cells &cells, unsigned top, unsigned bottom)
{
	const bool is_current = refresh_ && refresh_->wanted.by == levels_.back().wanted.by &&
				refresh_->wanted.process == levels_.back().wanted.process;
	const report::GroupBy by = levels_.back().wanted.by;
	const bool has_number = by == report::GroupBy::process || by == report::GroupBy::thread;
	constexpr unsigned number_width = 8, min_name = 12, max_name = 40;
	const unsigned left = has_number ? number_width : 0;
	std::vector<const FigureColumn *> shown;
	unsigned used = left + min_name;
	for (const FigureColumn &column : columns_)
		if (used + column.width + 1 <= cells.columns()) {
			shown.push_back(&column);
			used += column.width + 1;
		}
	const unsigned name_width = std::min(min_name + cells.columns() - std::min(cells.columns(), used), max_name);
	cells.line(top, 0, cells.columns(), U' ', titles);
	if (has_number)
		cells.text(top, 0, fmt::format("{:>{}}", by == report::GroupBy::thread ? "TID" : "PID", left - 1),
			   titles);
	constexpr const char *names[] = {"PROCESS", "THREAD", "CPU", "COMMAND", "CGROUP"};
	cells.text(top, left, names[static_cast<std::size_t>(by)], titles);
	unsigned at = left + name_width + 1;
	for (const FigureColumn *column : shown) {
		const bool is_sorted = column == &columns_[sorted_by_];
		cells.text(top, at, fmt::format("{:>{}}", column->title, column->width),
			   {is_sorted ? Colour::green : Colour::plain, is_sorted, false, true});
		at += column->width + 1;
	}
	page_ = bottom > top + 1 ? bottom - top - 1 : 1;
	if (!is_current) {
		cells.text(top + 1, 0, refresh_ ? "with the next figures" : "", faint);
		return;
	}
	const std::size_t chosen = selected();
	const std::size_t first = chosen >= page_ ? chosen - page_ + 1 : 0;
	for (std::size_t index = first; index < order_.size() && top + 1 + index - first < bottom; ++index) {
		const auto row = static_cast<unsigned>(top + 1 + index - first);
		const std::vector<report::Cell> &cells_of_row = refresh_->rows.rows[order_[index]];
		const Look look = {Colour::plain, false, false, index == chosen};
		if (index == chosen)
			cells.line(row, 0, cells.columns(), U' ', look);
		if (const auto number = number_of_row(refresh_->rows, cells_of_row); has_number && number)
			cells.text(row, 0, fmt::format("{:>{}}", *number, left - 1), look);
		cells.text(row, left, name_of_row(cells_of_row), look, name_width);
		const auto found = histories_.find(key_of_row(refresh_->rows, cells_of_row));
		const History *history = found == histories_.end() ? nullptr : &found->second;
		at = left + name_width + 1;
		for (const FigureColumn *column : shown) {
			if (column->kind == FigureColumn::Kind::history) {
				unsigned step_at = at;
				for (const char32_t step : sparkline(history, column->width, 100))
					cells.symbol(row, step_at++, step, look);
			} else if (column->kind == FigureColumn::Kind::change) {
				const std::size_t count = history ? history->values.size() : 0;
				const double change =
				    count > 1 ? history->values[count - 1] - history->values[count - 2] : 0;
				if (std::abs(change) >= 0.1)
					cells.text(row, at, fmt::format("{:>+{}.1f}", change, column->width), look);
			} else {
				const std::string text = column->text(*refresh_, cells_of_row);
				cells.text(row, at, fmt::format("{:>{}}", text, column->width), look, column->width);
			}
			at += column->width + 1;
		}
	}
}

void Top::draw_footer(Cells &cells, unsigned row) const
{
	if (typing_ != Typing::nothing) {
		cells.text(row, 0, (typing_ == Typing::name ? "/" : "\\") + typed_ + "_", heading);
		if (!refusal_.empty() && row > 0) {
			cells.line(row - 1, 0, cells.columns(), U' ');
			cells.text(row - 1, 0, refusal_, {Colour::red});
		}
		return;
	}
	if (!refresh_)
		return;
	const double wall_ns = static_cast<double>(refresh_->end_ns - refresh_->begin_ns);
	unsigned column = cells.text(row, 0, cost_text(*refresh_, wall_ns));
	column = cells.text(row, column, fmt::format("; lost {}", short_count(static_cast<double>(status_.lost))),
			    refresh_->has_losses ? Look{Colour::red, true} : Look{});
	if (refresh_->has_losses)
		column = cells.text(row, column, ": counts are lower bounds, some time is unknown", {Colour::red});
	if (refresh_->late)
		column =
		    cells.text(row, column, fmt::format("; {} events came too late", refresh_->late), {Colour::red});
	if (refresh_->virtual_times && !refresh_->virtual_times->is_known)
		column = cells.text(row, column, "; virtual times unknown", {Colour::red});
	cells.text(row, column, refresh_->stacks ? "; s stacks, ? help" : "; ? help", faint);
}

void Top::draw_stacks(Cells &cells, unsigned top, unsigned bottom) const
{
	const std::shared_ptr<const NamedWindow> &stacks = refresh_->stacks;
	if (!stacks) {
		cells.text(top, 0, "No stacks are taken: monitor top --stacks", heading);
		return;
	}
	constexpr unsigned figures_width = 20; // columns before the stack
	const bool is_current =
	    stacks->process == levels_.back().wanted.followed && stacks->thread == levels_.back().wanted.thread;
	if (const std::string note = stacks_note(*stacks); !note.empty() && top < bottom)
		cells.text(top++, 0, note, faint);
	draw_parts(top, bottom, stacks->kinds.size(), [&](std::size_t part, unsigned begin, unsigned end) {
		const NamedWindow::StackTotals &kind = stacks->kinds[part];
		draw_table(cells, begin, end,
			   is_current ? stacks_table(kind, cells.columns() - std::min(cells.columns(), figures_width))
				      : report::Table(),
			   is_current ? stacks_title(kind).c_str() : "Its stacks, with the next figures");
	});
}

void Top::draw_details(Cells &cells, unsigned top, unsigned bottom) const
{
	if (details_ == Details::stacks)
		return draw_stacks(cells, top, bottom);
	const bool is_current = refresh_->followed == levels_.back().wanted.followed &&
				refresh_->followed_thread == levels_.back().wanted.thread;
	struct Part {
		const report::Table *table;
		const char *title;
	};
	std::vector<Part> parts = {{&refresh_->calls, "Calls of the chosen row that ended in this time"},
				   {&refresh_->sleeps, "Its sleeps that ended, and who ended them"}};
	if (refresh_->activities)
		parts.push_back({&*refresh_->activities, "Its activities that ended"});
	const report::Table none;
	draw_parts(top, bottom, parts.size(), [&](std::size_t part, unsigned begin, unsigned end) {
		draw_table(cells, begin, end, is_current ? *parts[part].table : none, parts[part].title);
	});
}

Cells Top::draw(unsigned rows, unsigned columns)
{
	Cells cells(rows, columns, is_utf8_);
	if (has_help_) {
		cells.text(0, 0, title_, heading);
		for (unsigned i = 0; i < std::size(help); ++i)
			cells.text(i + 2, 1, help[i]);
		return cells;
	}
	unsigned top = draw_machine(cells);
	const unsigned bottom = rows > 1 ? rows - 1 : rows;
	std::string what = levels_.back().title;
	if (!searched_.empty())
		what += fmt::format("{}rows with '{}'", what.empty() ? "" : "; ", searched_);
	if (filter_)
		what += fmt::format("{}rows of which {}: {} hidden by the filter", what.empty() ? "" : "; ",
				    filter_->text(), rows_text(hidden_));
	if (!what.empty())
		cells.text(top++, 0, what, heading);
	if (refresh_ && has_cpus_) {
		draw_table(cells, top + 1, bottom, refresh_->cpus, "CPUs");
	} else if (refresh_ && details_ != Details::nothing && bottom > top) {
		const unsigned half = top + std::max((bottom - top) / 3, 3u);
		draw_rows(cells, top, std::min(half, bottom));
		draw_details(cells, half + 1, bottom);
	} else if (bottom > top) {
		draw_rows(cells, top, bottom);
	}
	if (rows > 0)
		draw_footer(cells, rows - 1);
	return cells;
}

} // namespace monitor::top
