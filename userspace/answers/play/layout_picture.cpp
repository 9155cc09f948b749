// SPDX-License-Identifier: MIT
// Draws a layout with the state of its threads: boxes, and arrows along which messages move. Arrows between neighbours
// are drawn; the others are listed below the boxes, and what does not fit is counted.
#include <algorithm>

#include <fmt/format.h>

#include "layout_scene.h"
#include "picture.h"

namespace monitor::play {
namespace {

constexpr unsigned box_rows = 4, gap_rows = 2, min_gap_columns = 8, min_box_columns = 14, max_box_columns = 30;

struct Size {
	unsigned box = 0, gap = 0;      // in columns
	unsigned rows = 0, columns = 0; // number of boxes shown
};

Size size_of(const Layout &layout, unsigned rows, unsigned columns)
{
	Size size;
	size.columns = std::min(layout.columns(), (columns + min_gap_columns) / (min_box_columns + min_gap_columns));
	size.rows = std::min(layout.rows(), (rows + gap_rows) / (box_rows + gap_rows));
	if (size.columns == 0)
		return size;
	const unsigned gaps = size.columns - 1;
	size.box = std::clamp((columns - gaps * min_gap_columns) / size.columns, min_box_columns, max_box_columns);
	size.gap = gaps ? std::clamp((columns - size.columns * size.box) / gaps, min_gap_columns, 20u) : 0;
	return size;
}

bool is_shown(const Box &box, const Size &size)
{
	return box.row <= size.rows && box.column <= size.columns;
}

void draw_box(Cells &cells, unsigned top, unsigned left, unsigned width, const std::string &name, const BoxScene &box,
	      const View &view)
{
	Look look;
	look.is_bold = box.runs;
	look.colour = box.runs ? Colour::green : box.waits ? Colour::yellow : Colour::plain;
	const unsigned right = left + width - 1, bottom = top + box_rows - 1;
	for (const unsigned row : {top, bottom})
		cells.line(row, left, width, U'─', look);
	for (const unsigned column : {left, right})
		for (unsigned row = top + 1; row < bottom; ++row)
			cells.symbol(row, column, U'│', look);
	cells.symbol(top, left, U'┌', look);
	cells.symbol(top, right, U'┐', look);
	cells.symbol(bottom, left, U'└', look);
	cells.symbol(bottom, right, U'┘', look);
	cells.text(top, left + 2, name, look, width - 4);
	cells.text(top + 1, left + 2, box.who, box.only ? look_of_thread(box.only->tid, view) : Look{}, width - 4);
	cells.text(top + 2, left + 2, box.doing, {}, width - 4);
}

// Arrows to the right are in the second row of the boxes, those to the left in the third.
void draw_across(Cells &cells, unsigned top, unsigned left, unsigned length, bool is_right, const Traffic &traffic)
{
	const unsigned row = top + (is_right ? 1 : 2);
	const Look look = {Colour::plain, false, true};
	cells.line(row, left, length, U'─', look);
	cells.symbol(row, is_right ? left + length - 1 : left, is_right ? U'→' : U'←', look);
	for (const double at : traffic.on_the_way) {
		const auto offset = static_cast<unsigned>(at * (length - 1));
		cells.symbol(row, is_right ? left + offset : left + length - 1 - offset, U'●', {Colour::cyan, true});
	}
	const std::string count = traffic.text();
	const auto width = static_cast<unsigned>(std::min<std::size_t>(count.size(), length));
	cells.text(is_right ? top : top + 3, left + (length - width) / 2, count, {}, length);
}

void draw_down(Cells &cells, unsigned top, unsigned column, bool is_down, const Traffic &traffic)
{
	const Look look = {Colour::plain, false, true};
	for (unsigned row = 0; row < gap_rows; ++row)
		cells.symbol(top + row, column, U'│', look);
	cells.symbol(is_down ? top + gap_rows - 1 : top, column, is_down ? U'↓' : U'↑', look);
	for (const double at : traffic.on_the_way) {
		const auto offset = static_cast<unsigned>(at * gap_rows);
		cells.symbol(is_down ? top + offset : top + gap_rows - 1 - offset, column, U'●', {Colour::cyan, true});
	}
	cells.text(top, column + 2, traffic.text(), {}, 6);
}

// False: the boxes are not adjacent, or not shown.
bool draw_arrow(Cells &cells, unsigned top, const Size &size, const Box &from, const Box &to, const Traffic &traffic)
{
	if (!is_shown(from, size) || !is_shown(to, size))
		return false;
	const unsigned row = std::min(from.row, to.row), column = std::min(from.column, to.column);
	const unsigned y = top + (row - 1) * (box_rows + gap_rows), x = (column - 1) * (size.box + size.gap);
	if (from.row == to.row && std::max(from.column, to.column) == column + 1)
		draw_across(cells, y, x + size.box, size.gap, from.column < to.column, traffic);
	else if (from.column == to.column && std::max(from.row, to.row) == row + 1)
		draw_down(cells, y + box_rows, x + (from.row < to.row ? 3 : size.box - 10), from.row < to.row, traffic);
	else
		return false;
	return true;
}

} // namespace

unsigned draw_layout(Cells &cells, unsigned top, unsigned rows, const Scene &scene, const View &view)
{
	const Layout &layout = *view.layout;
	// Leaves a row below the boxes for what is not drawn.
	const Size size = size_of(layout, rows - std::min(rows, 1u), cells.columns());
	const std::vector<BoxScene> boxes = boxes_of(scene, view);
	std::size_t hidden = 0;
	for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
		const Box &box = layout.boxes[i];
		if (is_shown(box, size))
			draw_box(cells, top + (box.row - 1) * (box_rows + gap_rows),
				 (box.column - 1) * (size.box + size.gap), size.box, box.name, boxes[i], view);
		hidden += !is_shown(box, size);
	}
	std::vector<std::string> listed;
	if (hidden)
		listed.push_back(fmt::format("{} boxes need a larger terminal", hidden));
	for (const Arrow &arrow : layout.arrows) {
		const Box &from = layout.boxes[arrow.from], &to = layout.boxes[arrow.to];
		const Traffic traffic = traffic_of(arrow, scene, layout);
		if (!draw_arrow(cells, top, size, from, to, traffic))
			listed.push_back(fmt::format("{} -> {}: {}", from.name, to.name, traffic.text()));
	}
	unsigned row = top + (size.rows ? size.rows * (box_rows + gap_rows) - gap_rows : 0);
	const unsigned end = top + rows;
	for (std::size_t i = 0; i < listed.size() && row < end; ++i, ++row) {
		const bool is_last = row + 1 == end && i + 1 < listed.size();
		cells.text(row, 1, is_last ? fmt::format("{} lines more are not shown", listed.size() - i) : listed[i]);
	}
	return row;
}

} // namespace monitor::play
