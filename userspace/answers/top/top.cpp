// SPDX-License-Identifier: MIT
#include "top.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/parse_error.h"
#include "columns.h"

namespace monitor::top {
namespace {

using terminal::KeyPress;

bool contains(const std::string &text, const std::string &part)
{
	const auto equal = [](char a, char b) {
		return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
	};
	return std::search(text.begin(), text.end(), part.begin(), part.end(), equal) != text.end() || part.empty();
}

} // namespace

Top::Top(RefreshSource source, std::string title, Wanted wanted, std::vector<FigureColumn> columns,
	 std::optional<RowFilter> filter, bool is_utf8)
    : source_(std::move(source)), title_(std::move(title)), columns_(std::move(columns)), is_utf8_(is_utf8),
      filter_(std::move(filter))
{
	levels_.push_back({std::move(wanted), ""});
	request_rows();
}

void Top::request_rows()
{
	Wanted &wanted = levels_.back().wanted;
	wanted.followed = wanted.thread = 0;
	const std::size_t index = selected();
	if (details_ != Details::nothing && refresh_ && index < order_.size()) {
		const std::vector<report::Cell> &row = refresh_->rows.rows[order_[index]];
		const auto number = static_cast<std::int32_t>(number_of_row(refresh_->rows, row).value_or(0));
		wanted.followed = wanted.process ? wanted.process : number;
		wanted.thread = wanted.by == report::GroupBy::thread ? number : 0;
	}
	source_.want(wanted);
}

bool Top::tick()
{
	const Status before = std::exchange(status_, source_.status());
	const auto newest = source_.next(refresh_ ? refresh_->number : 0);
	if (newest && !is_paused_)
		set_refresh(newest);
	return newest || before.lost != status_.lost;
}

void Top::set_refresh(std::shared_ptr<const Refresh> refresh)
{
	const bool is_same = refresh_ && refresh_->wanted.by == refresh->wanted.by &&
			     refresh_->wanted.process == refresh->wanted.process;
	refresh_ = std::move(refresh);
	if (!is_same)
		histories_.clear();
	const auto add = [&](History &history, double percent) {
		history.values.push_back(percent);
		if (history.values.size() > history_length)
			history.values.pop_front();
		history.number = refresh_->number;
	};
	for (const auto &row : refresh_->rows.rows)
		add(histories_[key_of_row(refresh_->rows, row)], cpu_percent(refresh_->rows, row).value_or(0));
	std::erase_if(histories_, [&](const auto &each) { return each.second.number != refresh_->number; });
	const MachineTotals &totals = refresh_->totals;
	const double all = static_cast<double>(totals.usage.cpu() + totals.idle);
	add(busy_, all > 0 ? static_cast<double>(totals.usage.cpu()) / all * 100 : 0);
	order_rows();
}

void Top::order_rows()
{
	if (!refresh_)
		return;
	order_.clear();
	hidden_ = 0;
	for (std::size_t i = 0; i < refresh_->rows.rows.size(); ++i) {
		const RowCells &row = refresh_->rows.rows[i];
		if (filter_ && !filter_->matches(*refresh_, row))
			++hidden_;
		else if (contains(name_of_row(row), searched_))
			order_.push_back(i);
	}
	const FigureColumn &column = columns_[sorted_by_];
	std::vector<double> values(refresh_->rows.rows.size());
	for (const std::size_t i : order_)
		values[i] = column.value(*refresh_, refresh_->rows.rows[i]).value_or(-1);
	std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
		return is_reversed_ ? values[a] < values[b] : values[a] > values[b];
	});
}

// The selected row's index in order_.
std::size_t Top::selected() const
{
	if (!refresh_ || selected_.empty())
		return 0;
	for (std::size_t index = 0; index < order_.size(); ++index)
		if (key_of_row(refresh_->rows, refresh_->rows.rows[order_[index]]) == selected_)
			return index;
	return 0;
}

void Top::move(int by)
{
	if (!refresh_ || order_.empty())
		return;
	const auto last = static_cast<int>(order_.size()) - 1;
	const int index = std::clamp(static_cast<int>(selected()) + std::clamp(by, -last - 1, last + 1), 0, last);
	selected_ = key_of_row(refresh_->rows, refresh_->rows.rows[order_[static_cast<std::size_t>(index)]]);
	request_rows();
}

void Top::show(Level level)
{
	levels_.push_back(std::move(level));
	selected_.clear();
	searched_.clear();
	request_rows();
}

void Top::show(Details details)
{
	details_ = details;
	request_rows();
}

void Top::open_row()
{
	const std::size_t index = selected();
	if (!refresh_ || index >= order_.size())
		return;
	if (refresh_->wanted.by != levels_.back().wanted.by)
		return; // the new rows have not arrived yet
	const std::vector<report::Cell> &row = refresh_->rows.rows[order_[index]];
	const std::string name = name_of_row(row);
	Wanted wanted = levels_.back().wanted;
	switch (wanted.by) {
	case report::GroupBy::cgroup:
		wanted.cgroup = name;
		wanted.by = report::GroupBy::process;
		return show({wanted, "processes of the cgroup " + name});
	case report::GroupBy::command:
		wanted.command = name;
		wanted.by = report::GroupBy::process;
		return show({wanted, "processes of the command " + name});
	case report::GroupBy::process:
		wanted.process = static_cast<std::int32_t>(number_of_row(refresh_->rows, row).value_or(0));
		if (wanted.process == 0)
			return;
		wanted.by = report::GroupBy::thread;
		return show({wanted, fmt::format("threads of {} ({})", name, wanted.process)});
	default:
		details_ = details_ == Details::nothing ? Details::calls : details_;
		selected_ = key_of_row(refresh_->rows, row);
		request_rows();
	}
}

// False: this is the first level.
bool Top::go_back()
{
	for (bool *const shown : {&has_help_, &has_cpus_})
		if (std::exchange(*shown, false))
			return true;
	if (details_ != Details::nothing) {
		show(Details::nothing);
		return true;
	}
	if (!searched_.empty()) {
		search("");
		return true;
	}
	if (filter_) {
		filter_.reset();
		order_rows();
		return true;
	}
	if (levels_.size() == 1)
		return false;
	levels_.pop_back();
	selected_.clear();
	request_rows();
	return true;
}

void Top::start_typing(Typing what, std::string text)
{
	typing_ = what;
	typed_ = std::move(text);
	refusal_.clear();
}

void Top::search(std::string name)
{
	searched_ = std::move(name);
	order_rows();
}

// Enter: invalid input stays, with the reason.
void Top::accept_line()
{
	if (typing_ == Typing::filter) {
		try {
			filter_ = typed_.empty() ? std::nullopt : std::optional(RowFilter(typed_, columns_));
		} catch (const ParseError &error) {
			refusal_ = fmt::format("column {}: {}", error.position().column, error.sentence());
			return;
		}
		order_rows();
	}
	typing_ = Typing::nothing;
}

bool Top::press_in_line(const KeyPress &key)
{
	if (key.what == KeyPress::What::enter) {
		accept_line();
		return true;
	}
	refusal_.clear();
	if (key.what == KeyPress::What::escape)
		typed_.clear();
	else if (key.what == KeyPress::What::backspace)
		terminal::remove_last_character(typed_);
	else if (key.what == KeyPress::What::character && key.character >= ' ' && typed_.size() < max_typed)
		append_utf8(typed_, key.character);
	if (typing_ == Typing::name)
		search(typed_);
	if (key.what == KeyPress::What::escape)
		accept_line();
	return true;
}

bool Top::press_character(char32_t character)
{
	const auto group_by = [this](report::GroupBy grouping) {
		levels_.resize(1);
		levels_[0] = {{grouping, {}, {}, 0, 0, 0}, ""};
		has_cpus_ = false;
		details_ = Details::nothing;
		selected_.clear();
		request_rows();
	};
	const auto sort = [this](std::size_t column) {
		sorted_by_ = column % columns_.size();
		order_rows();
	};
	switch (character) {
	case 'q':
	case 3: // Ctrl-C, if the terminal sends no signal
		return false;
	case ' ':
		is_paused_ = !is_paused_;
		return true;
	case '?':
	case 'h':
		has_help_ = !has_help_;
		return true;
	case '/':
		start_typing(Typing::name, searched_);
		return true;
	case '\\':
		start_typing(Typing::filter, filter_ ? filter_->text() : "");
		return true;
	case 'p':
		group_by(report::GroupBy::process);
		return true;
	case 't':
	case 'H':
		group_by(report::GroupBy::thread);
		return true;
	case 'c':
		group_by(report::GroupBy::command);
		return true;
	case 'g':
		group_by(report::GroupBy::cgroup);
		return true;
	case 'u':
		has_cpus_ = !has_cpus_;
		return true;
	case 'd':
		show(details_ == Details::calls ? Details::nothing : Details::calls);
		return true;
	case 's':
		show(details_ == Details::stacks ? Details::nothing : Details::stacks);
		return true;
	case '<':
		sort(sorted_by_ + columns_.size() - 1);
		return true;
	case '>':
		sort(sorted_by_ + 1);
		return true;
	case 'r':
		is_reversed_ = !is_reversed_;
		sort(sorted_by_);
		return true;
	default:
		return true;
	}
}

bool Top::press(const KeyPress &key)
{
	if (typing_ != Typing::nothing)
		return press_in_line(key);
	switch (key.what) {
	case KeyPress::What::function:
		if (key.character == 4)
			start_typing(Typing::filter, filter_ ? filter_->text() : "");
		return true;
	case KeyPress::What::character:
		return press_character(key.character);
	case KeyPress::What::up:
		move(-1);
		return true;
	case KeyPress::What::down:
		move(1);
		return true;
	case KeyPress::What::page_up:
		move(-static_cast<int>(page_));
		return true;
	case KeyPress::What::page_down:
		move(static_cast<int>(page_));
		return true;
	case KeyPress::What::home:
		selected_.clear();
		request_rows();
		return true;
	case KeyPress::What::end:
		move(static_cast<int>(order_.size()));
		return true;
	case KeyPress::What::enter:
	case KeyPress::What::right:
		open_row();
		return true;
	case KeyPress::What::escape:
	case KeyPress::What::left:
	case KeyPress::What::backspace:
		go_back();
		return true;
	default:
		return true;
	}
}

} // namespace monitor::top
