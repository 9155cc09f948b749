// SPDX-License-Identifier: MIT
#include "row_filter.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggestions.h"
#include "base/text.h"
#include "reading/filter/condition.h"

namespace monitor::top {
namespace {

using filter::Expression;

constexpr const char *key_name = "name", *key_pid = "pid", *key_tid = "tid";

// The row's number in this column.
std::optional<std::uint64_t> number_in(const report::Table &table, const RowCells &row, const std::string &key)
{
	return table.columns.size() > 2 && table.columns[2].key == key ? number_of_row(table, row) : std::nullopt;
}

} // namespace

RowFilter::RowFilter(const std::string &untrusted_text, const std::vector<FigureColumn> &columns)
    : text_(untrusted_text), columns_(columns),
      condition_(filter::parse_condition("rows", text_, [this](const Expression &comparison) { check(comparison); }))
{
}

report::Table RowFilter::rows(const Refresh &refresh) const
{
	report::Table selected{refresh.rows.columns, {}};
	std::ranges::copy_if(refresh.rows.rows, std::back_inserter(selected.rows),
			     [&](const RowCells &row) { return matches(refresh, row); });
	return selected;
}

// The group `software` has a measurement `faults`, which is also the name of a figure.
const FigureColumn *RowFilter::column(const Expression &name) const
{
	const FigureColumn *found = nullptr;
	for (const FigureColumn &column : columns_)
		if (column.name == name.text && (!found || column.is_measured() == name.is_field))
			found = &column;
	return found;
}

void RowFilter::check(const Expression &comparison) const
{
	const std::string &name = comparison.children[0].text;
	std::vector<std::string> all = {key_name, key_pid, key_tid};
	for (const FigureColumn &column : columns_)
		if (!column.name.empty())
			all.push_back(column.name);
	if (std::ranges::find(all, name) == all.end())
		filter::refuse(comparison.children[0], fmt::format("a row has no {}; it has {}.{}", readable(name),
								   fmt::join(all, ", "), suggestions(name, all)));
	filter::check_constants(comparison, name == key_name, "a string or a number", [&](const Expression &constant) {
		if (constant.number.has_unit)
			filter::refuse(constant, fmt::format("{} is not a time: leave out the unit", readable(name)));
	});
}

bool RowFilter::matches(const Refresh &refresh, const RowCells &row) const
{
	return filter::holds(condition_, [&](const Expression &comparison) {
		const Expression &name = comparison.children[0];
		if (name.text == key_name)
			return filter::takes_value(comparison, std::optional(name_of_row(row)));
		std::optional<double> value;
		if (const FigureColumn *figure = column(name))
			value = figure->value(refresh, row);
		else if (const auto number = number_in(refresh.rows, row, name.text))
			value = static_cast<double>(*number);
		return filter::takes_value(comparison, value);
	});
}

} // namespace monitor::top
