// SPDX-License-Identifier: MIT
#include "comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "base/ranges.h"
#include "significance.h"

namespace monitor::diff {
namespace {

using Values = std::vector<std::optional<double>>;

// Unknown if one of them is.
std::optional<double> median(const Values &values)
{
	std::vector<double> known;
	for (const std::optional<double> &value : values) {
		if (!value)
			return {};
		known.push_back(*value);
	}
	if (known.empty())
		return {};
	std::ranges::sort(known);
	const std::size_t middle = known.size() / 2;
	return known.size() % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

template <class Of> Values values_of(const std::vector<Measured> &side, const Of &of)
{
	Values values;
	std::ranges::transform(side, std::back_inserter(values), of);
	return values;
}

template <class Of>
Change change_of(const std::vector<Measured> &before, const std::vector<Measured> &after, const Of &of)
{
	return {median(values_of(before, of)), median(values_of(after, of))};
}

ComparedRow row_of(const RowKey &key, const std::vector<Measured> &before, const std::vector<Measured> &after)
{
	const auto time = [&](const Measured &repetition) -> std::optional<double> {
		const Amount *amount = repetition.find(key);
		return amount ? std::optional(static_cast<double>(amount->time_ns)) : std::nullopt;
	};
	const auto count = [&](const Measured &repetition) -> std::optional<double> {
		const Amount *amount = repetition.find(key);
		const bool is_open = amount && amount->count == 0 && amount->time_ns > 0; // it has not returned
		return amount && amount->count && !is_open ? std::optional(static_cast<double>(*amount->count))
							   : std::nullopt;
	};
	ComparedRow row;
	row.key = key;
	row.before_ns = values_of(before, time);
	row.after_ns = values_of(after, time);
	row.time_ns = {median(row.before_ns), median(row.after_ns)};
	row.count = change_of(before, after, count);
	for (const std::vector<Measured> *side : {&before, &after})
		for (const Measured &each : *side)
			if (const auto found = each.rows.find(key); found != each.rows.end())
				row.leads |= found->second.leads;
	return row;
}

double size_of(const ComparedRow &row)
{
	return std::abs(row.time_ns.difference().value_or(0));
}

// Shares of all differences in the ranking. Only leading rows have one, as the others show the same time differently.
void set_shares(Ranking &ranking)
{
	const double all =
	    std::accumulate(ranking.rows.begin(), ranking.rows.end(), 0.0,
			    [](double sum, const ComparedRow &row) { return sum + (row.leads ? size_of(row) : 0); });
	for (ComparedRow &row : ranking.rows)
		if (row.leads && row.time_ns.difference() && all > 0)
			row.share = size_of(row) / all * 100;
}

// Significant rows first, then by the size of the difference. Equal ones, and unknown ones, by their names.
void sort(Ranking &ranking)
{
	std::ranges::stable_sort(ranking.rows, [](const ComparedRow &a, const ComparedRow &b) {
		const auto order = [](const ComparedRow &row) {
			return std::tuple(!row.time_ns.difference(), !row.is_significant(), -size_of(row));
		};
		return order(a) != order(b) ? order(a) < order(b) : a.key < b.key;
	});
}

std::vector<double> all_values(const ComparedRow &row)
{
	std::vector<double> values;
	for (const Values *side : {&row.before_ns, &row.after_ns})
		for (const std::optional<double> &value : *side)
			values.push_back(*value);
	return values;
}

// The gap when the values are split into two groups of these sizes, whichever side they are on.
double gap(std::vector<double> values, std::size_t before, std::size_t after)
{
	std::ranges::sort(values);
	return std::max(values[before] - values[before - 1], values[after] - values[after - 1]);
}

void test_rows(Ranking &ranking, Tests &tests)
{
	std::vector<ComparedRow *> candidates;
	for (ComparedRow &row : ranking.rows)
		if (row.time_ns.difference())
			candidates.push_back(&row);
	tests.candidates = candidates.size();
	tests.tested = std::min(max_tested_rows(tests.before, tests.after), candidates.size());
	const auto gap_of = [&](const ComparedRow *row) { return gap(all_values(*row), tests.before, tests.after); };
	std::ranges::stable_sort(candidates, [&](const ComparedRow *a, const ComparedRow *b) {
		const double x = gap_of(a), y = gap_of(b);
		return x != y ? x > y : a->key < b->key;
	});
	candidates.resize(tests.tested);
	std::vector<double> p;
	for (ComparedRow *row : candidates) {
		const std::vector<double> values = all_values(*row);
		row->is_tested = true;
		row->p = mann_whitney(std::span(values).first(tests.before), std::span(values).subspan(tests.before));
		p.push_back(*row->p);
	}
	const std::vector<double> corrected = holm(p);
	for (std::size_t i = 0; i < candidates.size(); ++i) {
		candidates[i]->corrected_p = corrected[i];
		tests.significant += candidates[i]->is_significant();
	}
}

template <class Of> double p_of(const std::vector<Measured> &before, const std::vector<Measured> &after, const Of &of)
{
	const auto values = [&](const std::vector<Measured> &side) {
		return list_of<double>(side, [&](const Measured &each) { return static_cast<double>(of(each)); });
	};
	return mann_whitney(values(before), values(after));
}

std::set<RowKey> all_keys(const std::vector<Measured> &before, const std::vector<Measured> &after)
{
	std::set<RowKey> keys;
	for (const std::vector<Measured> *side : {&before, &after})
		for (const Measured &each : *side)
			for (const auto &[key, amount] : each.rows)
				keys.insert(key);
	return keys;
}

Ranking::Of ranking_of(const RowKey &key, bool with_others_apart)
{
	switch (kind_of(key.item)) {
	case RowKind::activities:
		return Ranking::Of::activities;
	case RowKind::functions:
		return Ranking::Of::functions;
	case RowKind::stacks:
		return Ranking::Of::stacks;
	case RowKind::sleeps:
		return Ranking::Of::sleeps;
	default:
		return with_others_apart && !key.of_command ? Ranking::Of::others : Ranking::Of::time;
	}
}

} // namespace

std::optional<double> Change::difference() const
{
	return before && after ? std::optional(*after - *before) : std::nullopt;
}

std::optional<double> Change::ratio() const
{
	return before && after && *before > 0 ? std::optional(*after / *before) : std::nullopt;
}

bool is_significant(const std::optional<double> &p)
{
	return p && *p < significance_level;
}

bool ComparedRow::is_significant() const
{
	return diff::is_significant(corrected_p);
}

bool Tests::is_possible() const
{
	return max_tested_rows(before, after) > 0;
}

Comparison compare(const std::vector<Measured> &before, const std::vector<Measured> &after, Ours ours,
		   const std::set<RowKind> &chosen)
{
	Comparison result;
	result.ours = chosen.empty() ? ours : Ours::nobody;
	result.is_of_selected = ours == Ours::selected;
	result.elapsed_ns = change_of(
	    before, after, [](const Measured &repetition) { return static_cast<double>(repetition.elapsed_ns); });
	result.cpu_ns =
	    change_of(before, after, [](const Measured &repetition) { return static_cast<double>(repetition.cpu_ns); });
	result.command_cpu_ns = change_of(
	    before, after, [](const Measured &repetition) { return static_cast<double>(repetition.command_cpu_ns); });
	std::map<Ranking::Of, Ranking> rankings;
	for (const RowKey &key : all_keys(before, after)) {
		if (!chosen.empty() && !chosen.contains(kind_of(key.item)))
			continue;
		ComparedRow row = row_of(key, before, after);
		if (chosen.empty() && !row.leads && row.time_ns.difference())
			continue;
		const Ranking::Of of = ranking_of(key, result.ours != Ours::nobody);
		rankings[of].of = of;
		rankings[of].rows.push_back(std::move(row));
	}
	for (auto &[of, ranking] : rankings) {
		set_shares(ranking);
		result.rankings.push_back(std::move(ranking));
	}
	result.tests.before = before.size();
	result.tests.after = after.size();
	if (result.tests.is_possible()) {
		result.elapsed_p =
		    p_of(before, after, [](const Measured &repetition) { return repetition.elapsed_ns; });
		result.command_cpu_p =
		    p_of(before, after, [](const Measured &repetition) { return repetition.command_cpu_ns; });
	}
	if (!result.rankings.empty())
		test_rows(result.rankings.front(), result.tests);
	for (Ranking &ranking : result.rankings)
		sort(ranking);
	return result;
}

} // namespace monitor::diff
