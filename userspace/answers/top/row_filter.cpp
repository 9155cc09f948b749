// SPDX-License-Identifier: MIT
#include "row_filter.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/refusal.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "reading/filter/parser.h"
#include "reading/filter/text_match.h"

namespace monitor::top {
namespace {

using filter::Expression;
using What = Expression::Kind;

constexpr const char *name_of_name = "name", *name_of_number = "pid", *name_of_thread = "tid";

[[noreturn]] void refuse_rows(std::string_view text, std::size_t at, const std::string &sentence)
{
	throw Refusal("rows", text, at, sentence);
}

Expression parse_rows(const std::string &text)
{
	try {
		return filter::parse(text);
	} catch (const Refusal &refusal) { // of this expression
		refuse_rows(text, refusal.position().offset, refusal.sentence());
	}
}

// By the column that it is in.
std::optional<std::uint64_t> numbered(const report::Table &table, const Row &row, const std::string &key)
{
	return table.columns.size() > 2 && table.columns[2].key == key ? number_of_row(table, row) : std::nullopt;
}

} // namespace

RowFilter::RowFilter(const std::string &untrusted_text, const std::vector<FigureColumn> &columns)
    : text_(untrusted_text), columns_(columns), condition_(parse_rows(text_))
{
	check(condition_);
}

report::Table RowFilter::rows(const Refresh &refresh) const
{
	report::Table taken{refresh.rows.columns, {}};
	std::ranges::copy_if(refresh.rows.rows, std::back_inserter(taken.rows),
			     [&](const Row &row) { return takes(refresh, row); });
	return taken;
}

// The group `software` measures `faults`, which is also the name of a figure.
const FigureColumn *RowFilter::column(const Expression &name) const
{
	const FigureColumn *found = nullptr;
	for (const FigureColumn &column : columns_)
		if (column.name == name.text && (!found || column.is_measured() == name.is_field))
			found = &column;
	return found;
}

void RowFilter::check(const Expression &condition) const
{
	const std::vector<Expression> &children = condition.children;
	if (condition.kind >= What::negation) {
		for (const Expression &child : children)
			check(child);
		return;
	}
	if (children[0].kind != What::name)
		refuse_rows(text_, children[0].at, "only names can be compared here, not what is computed from them");
	const std::string &name = children[0].text;
	std::vector<std::string> all = {name_of_name, name_of_number, name_of_thread};
	for (const FigureColumn &column : columns_)
		if (!column.name.empty())
			all.push_back(column.name);
	if (std::ranges::find(all, name) == all.end())
		refuse_rows(text_, children[0].at,
			    fmt::format("a row has no {}; it has {}.{}", readable(name), fmt::join(all, ", "),
					suggestions(name, all)));
	for (std::size_t i = 1; i < children.size(); ++i)
		check_constant(name, children[i]);
}

void RowFilter::check_constant(const std::string &name, const Expression &constant) const
{
	if (constant.kind == What::range) {
		for (const Expression &end : constant.children)
			check_constant(name, end);
		return;
	}
	if (!constant.is_constant())
		refuse_rows(text_, constant.at, "compare it with a string or a number");
	const bool is_text = name == name_of_name;
	if ((constant.kind == What::text) != is_text)
		refuse_rows(text_, constant.at,
			    is_text ? fmt::format("{} is a text: compare it with a string in double quotes", name)
				    : fmt::format("{} is a number: compare it with a number", readable(name)));
	if (constant.number.has_unit)
		refuse_rows(text_, constant.at, fmt::format("{} is not a time: leave out the unit", readable(name)));
}

bool RowFilter::holds(const Expression &condition, const Refresh &refresh, const Row &row) const
{
	const std::vector<Expression> &children = condition.children;
	const auto each_holds = [&](const Expression &child) { return holds(child, refresh, row); };
	switch (condition.kind) {
	case What::negation:
		return !each_holds(children[0]);
	case What::conjunction:
		return std::ranges::all_of(children, each_holds);
	case What::disjunction:
		return std::ranges::any_of(children, each_holds);
	default:
		break;
	}
	const std::string &name = children[0].text;
	const bool is_negated = condition.relation == filter::Relation::not_equal;
	if (name == name_of_name)
		return condition.kind == What::has || filter::takes_text(condition, name_of_row(row)) != is_negated;
	std::optional<double> value;
	if (const FigureColumn *figure = column(children[0]))
		value = figure->value(refresh, row);
	else if (const auto number = numbered(refresh.rows, row, name))
		value = static_cast<double>(*number);
	return value && (condition.kind == What::has || filter::takes_number(condition, *value));
}

} // namespace monitor::top
