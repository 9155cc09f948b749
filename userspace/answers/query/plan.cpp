// SPDX-License-Identifier: MIT
#include "plan.h"

#include <algorithm>
#include <cstring>

#include "times.h"

namespace monitor::query {
namespace {

using From = EventColumn::From;

// Third argument of sqlite3_vtab_in().
constexpr int only_test = -1, all_at_once = 1;

const char *const op_texts[] = {"=", "<", "<=", ">", ">=", " IN ", " GLOB ", " LIKE "};

constexpr std::pair<unsigned char, Op> ops[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, Op::equal},         {SQLITE_INDEX_CONSTRAINT_LT, Op::less},
    {SQLITE_INDEX_CONSTRAINT_LE, Op::less_equal},    {SQLITE_INDEX_CONSTRAINT_GT, Op::greater},
    {SQLITE_INDEX_CONSTRAINT_GE, Op::greater_equal}, {SQLITE_INDEX_CONSTRAINT_GLOB, Op::glob},
    {SQLITE_INDEX_CONSTRAINT_LIKE, Op::like}};

bool op_of(unsigned char constraint, Op &op)
{
	for (const auto &[of_sqlite, ours] : ops)
		if (of_sqlite == constraint) {
			op = ours;
			return true;
		}
	return false;
}

// Whether events can be checked against the constraint before they become rows.
bool can_constrain(const EventColumn &column, Op op, const char *collation)
{
	if (column.from == From::fields || column.from == From::context || column.from == From::filter)
		return false;
	const bool is_text = column.type == "TEXT";
	if (op == Op::glob || op == Op::like)
		return is_text;
	return !is_text || std::strcmp(collation, "BINARY") == 0;
}

// Rough estimate of the fraction of rows that a term keeps. Times are estimated separately.
double share_of(const EventColumn &column, Op op)
{
	if (column.from == From::filter)
		return 0.1;
	const double of_one = column.from == From::mode || column.from == From::level ? 0.5
			      : column.from == From::cpu                              ? 0.25
										      : 0.05;
	return op == Op::equal ? of_one : op == Op::in ? std::min(1.0, 3 * of_one) : 0.4;
}

struct Estimate {
	double rows;
	double share_of_time = 1; // the fraction that is read
	bool has_begin = false, has_end = false;

	void add_time(Op op)
	{
		if (op == Op::equal)
			share_of_time = 0;
		has_begin |= op == Op::greater || op == Op::greater_equal;
		has_end |= op == Op::less || op == Op::less_equal;
	}
	void finish()
	{
		if (has_begin && has_end)
			share_of_time = std::min(share_of_time, 0.01);
		else if (has_begin || has_end)
			share_of_time = std::min(share_of_time, 0.4);
	}
};

bool is_ordered(const sqlite3_index_info &info, const EventColumns &columns)
{
	for (int i = 0; i < info.nOrderBy; ++i) {
		const auto &[column, descends] = info.aOrderBy[i];
		if (descends || column < 0 || !columns.columns()[static_cast<std::size_t>(column)].is_time())
			return false;
	}
	return info.nOrderBy > 0;
}

// In tables with many columns the last bit stands for all columns after the 63rd, none of which is about threads.
bool uses_threads(const sqlite3_index_info &info, const EventColumns &columns)
{
	for (std::size_t i = 0; i < std::min<std::size_t>(columns.columns().size(), 63); ++i)
		if ((info.colUsed >> i & 1) && columns.columns()[i].is_of_thread())
			return true;
	return false;
}

void narrow_range(const EventColumn &column, Op op, const Value &value, const Context &context, trace::TimeRange &range)
{
	const trace::TimeRange accepted = ticks_of(column.from, op, value, context.trace);
	range.from = std::max(range.from, accepted.from);
	range.to = std::min(range.to, accepted.to);
}

// All values of an IN. False: one of them is unsuitable for a constraint.
bool read_values(sqlite3_value *list, std::vector<Value> &values)
{
	sqlite3_value *each = nullptr;
	for (int status = sqlite3_vtab_in_first(list, &each); status == SQLITE_OK && each;
	     status = sqlite3_vtab_in_next(list, &each))
		if (!read_value(each, values.emplace_back()))
			return false;
	return true;
}

} // namespace

std::string Plan::text(const EventColumns &columns) const
{
	std::string made;
	for (const PlanTerm &term : terms)
		made += (made.empty() ? "" : " ") + columns.columns()[term.column].name +
			op_texts[static_cast<std::size_t>(term.op)] + "?";
	made += made.empty() ? "all events" : "";
	return made + (needs_threads ? ", with threads" : "") + (is_ordered ? ", in order of time" : "");
}

std::string Plan::key() const
{
	std::string made = std::string(needs_threads ? "t" : "") + (is_ordered ? "o" : "");
	for (const PlanTerm &term : terms)
		made += " " + std::to_string(term.column) + ":" + std::to_string(static_cast<int>(term.op));
	return made;
}

bool choose(sqlite3_index_info &info, const EventColumns &columns, const Context &context, Plan &plan)
{
	Estimate estimate{context.estimated_events()};
	if (columns.classes().size() < context.trace.description().classes().size())
		estimate.rows = std::max(1.0, estimate.rows / 8);
	double share = 1;
	for (int i = 0; i < info.nConstraint; ++i) {
		const auto &constraint = info.aConstraint[i];
		Op op;
		if (constraint.iColumn < 0 || !op_of(constraint.op, op))
			continue;
		const auto number = static_cast<std::size_t>(constraint.iColumn);
		const EventColumn &column = columns.columns()[number];
		const bool is_filter = column.from == From::filter && op == Op::equal;
		if (is_filter && !constraint.usable)
			return false; // a filter cannot be checked on a finished row
		if (!constraint.usable || !(is_filter || can_constrain(column, op, sqlite3_vtab_collation(&info, i))))
			continue;
		if (op == Op::equal && !column.is_time() && !is_filter && sqlite3_vtab_in(&info, i, only_test)) {
			sqlite3_vtab_in(&info, i, all_at_once);
			op = Op::in;
		}
		plan.terms.push_back({number, op});
		info.aConstraintUsage[i].argvIndex = static_cast<int>(plan.terms.size());
		info.aConstraintUsage[i].omit = is_filter;
		if (column.is_time())
			estimate.add_time(op);
		else
			share *= share_of(column, op);
	}
	estimate.finish();
	plan.is_ordered = is_ordered(info, columns);
	plan.needs_threads = uses_threads(info, columns);
	info.orderByConsumed = plan.is_ordered;
	const double read = context.estimated_events() * estimate.share_of_time;
	const double rows = std::max(1.0, estimate.rows * estimate.share_of_time * share);
	info.estimatedRows = static_cast<sqlite3_int64>(std::min(rows, 1e15));
	info.estimatedCost = 100 + (plan.needs_threads ? 10'000 : 0) + read * 0.2 + rows;
	return true;
}

ScanOptions options(const Plan &plan, const EventColumns &columns, Context &context, sqlite3_value **values)
{
	ScanOptions made;
	made.needs_threads = plan.needs_threads;
	for (std::size_t i = 0; i < plan.terms.size(); ++i) {
		const auto &[number, op] = plan.terms[i];
		const EventColumn &column = columns.columns()[number];
		std::vector<Value> known(op == Op::in ? 0 : 1);
		if (!(op == Op::in ? read_values(values[i], known) : read_value(values[i], known.front())))
			continue;
		if (column.from == From::filter) {
			const auto *text = std::get_if<std::string>(&known.front());
			if (text)
				made.filter = context.compiled(*text);
			else
				made.range = {1, 0}; // NULL, or not a text: nothing matches
		} else if (column.is_time()) {
			narrow_range(column, op, known.front(), context, made.range);
		} else if (!column.type.empty()) {
			const Type type = column.type == "TEXT"   ? Type::text
					  : column.type == "REAL" ? Type::real
								  : Type::integer;
			made.needs_threads |= column.is_of_thread();
			if (auto constraint = make_constraint(type, op, known))
				made.constraints.emplace_back(number, std::move(*constraint));
		}
	}
	return made;
}

} // namespace monitor::query
