// SPDX-License-Identifier: MIT
// `monitor top` on a screen: handles keys (top.cpp) and draws the newest refresh (picture.cpp). Shown by
// answers/terminal/screen.h, which passes keys on; tests press keys themselves.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answers/live/refresh.h"
#include "answers/terminal/screen.h"
#include "row_filter.h"

namespace monitor::top {

using live::MachineTotals;
using live::Refresh;
using live::Wanted;

// Facts besides refreshes.
struct Status {
	std::uint64_t lost = 0; // events, since the start
	bool is_over = false;   // the recording has ended
};

class Top final : public terminal::InteractiveView {
public:
	struct RefreshSource {
		// The newest refresh after this number; null: there is none.
		std::function<std::shared_ptr<const Refresh>(std::uint64_t seen)> next;
		std::function<void(const Wanted &)> want;
		std::function<Status()> status;
	};

	// `title`: on the first line.
	Top(RefreshSource source, std::string title, Wanted wanted, std::vector<FigureColumn> columns,
	    std::optional<RowFilter> filter, bool is_utf8);

	terminal::Cells draw(unsigned rows, unsigned columns) override;
	bool press(const terminal::KeyPress &key) override;
	bool tick() override;
	bool is_over() const override { return status_.is_over; }

private:
	static constexpr std::size_t history_length = 60, max_typed = 1000;

	enum class Details : std::uint8_t { nothing, calls, stacks };
	enum class Typing : std::uint8_t { nothing, name, filter };

	struct Level {
		Wanted wanted;
		std::string title; // "threads of nginx (1234)"
	};
	struct History {
		std::deque<double> values; // in percent, newest last
		std::uint64_t number = 0;  // of the last refresh with this row
	};

	void set_refresh(std::shared_ptr<const Refresh> refresh);
	void order_rows();
	void show(Level level);
	void request_rows();
	void show(Details details);
	void open_row();
	bool go_back();
	void move(int by);
	bool press_character(char32_t character);
	bool press_in_line(const terminal::KeyPress &key);
	void accept_line();
	void search(std::string name);
	void start_typing(Typing what, std::string text);
	std::size_t selected() const;

	unsigned draw_machine(terminal::Cells &cells) const;
	void draw_rows(terminal::Cells &cells, unsigned top, unsigned bottom);
	void draw_table(terminal::Cells &cells, unsigned top, unsigned bottom, const report::Table &table,
			const char *title) const;
	void draw_details(terminal::Cells &cells, unsigned top, unsigned bottom) const;
	void draw_stacks(terminal::Cells &cells, unsigned top, unsigned bottom) const;
	void draw_footer(terminal::Cells &cells, unsigned row) const;
	std::u32string sparkline(const History *history, std::size_t length, double full) const;

	const RefreshSource source_;
	const std::string title_;
	const std::vector<FigureColumn> columns_;
	const bool is_utf8_;
	std::shared_ptr<const Refresh> refresh_;
	std::vector<Level> levels_; // the last one is shown
	Status status_;
	std::map<std::string, History> histories_; // by row
	History busy_;
	std::vector<std::size_t> order_; // of the rows shown
	std::size_t hidden_ = 0;         // number of rows that the filter hides
	std::string selected_;           // the row's key
	std::size_t sorted_by_ = 0;      // index in columns_
	bool is_reversed_ = false, is_paused_ = false, has_help_ = false, has_cpus_ = false;
	Details details_ = Details::nothing;
	Typing typing_ = Typing::nothing;
	std::string typed_, refusal_; // refusal_: of the typed text
	std::string searched_;
	std::optional<RowFilter> filter_;
	unsigned page_ = 10; // rows in the last drawing
};

} // namespace monitor::top
