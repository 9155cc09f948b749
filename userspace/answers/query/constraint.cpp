// SPDX-License-Identifier: MIT
#include "constraint.h"

#include <algorithm>
#include <cmath>

namespace monitor::query {
namespace {

// Reals up to here convert to integers exactly.
constexpr double max_exact = 4e18;

Constraint accept_nothing(Type type)
{
	Constraint constraint;
	constraint.type = type;
	constraint.first = highest;
	constraint.last = lowest;
	constraint.least = constraint.greatest = std::numeric_limits<double>::quiet_NaN();
	return constraint;
}

void narrow(Constraint &constraint, Op op, std::int64_t value)
{
	if ((op == Op::less && value == lowest) || (op == Op::greater && value == highest)) {
		constraint = accept_nothing(constraint.type);
		return;
	}
	if (op == Op::equal || op == Op::greater_equal || op == Op::greater)
		constraint.first = op == Op::greater ? value + 1 : value;
	if (op == Op::equal || op == Op::less_equal || op == Op::less)
		constraint.last = op == Op::less ? value - 1 : value;
}

// Compares an integer with a real that may be between two integers.
bool narrow(Constraint &constraint, Op op, double value)
{
	if (!(std::abs(value) < max_exact))
		return false;
	const bool up = op == Op::less || op == Op::greater_equal;
	if (op == Op::equal && value != std::floor(value))
		constraint = accept_nothing(constraint.type);
	else
		narrow(constraint, op, static_cast<std::int64_t>(up ? std::ceil(value) : std::floor(value)));
	return true;
}

bool make_integers(Constraint &constraint, const std::vector<Value> &values)
{
	if (constraint.op != Op::in) {
		if (const auto *number = std::get_if<std::int64_t>(&values.front()))
			narrow(constraint, constraint.op, *number);
		else if (const auto *real = std::get_if<double>(&values.front()))
			return narrow(constraint, constraint.op, *real);
		else
			return false;
		return true;
	}
	for (const Value &value : values) {
		if (const auto *number = std::get_if<std::int64_t>(&value))
			constraint.integers.push_back(*number);
		else
			return false;
	}
	std::ranges::sort(constraint.integers);
	return true;
}

bool make_reals(Constraint &constraint, const std::vector<Value> &values)
{
	double value = 0;
	if (constraint.op == Op::in)
		return false;
	if (const auto *real = std::get_if<double>(&values.front()))
		value = *real;
	else if (const auto *number = std::get_if<std::int64_t>(&values.front());
		 number && *number > -(std::int64_t(1) << 53) && *number < (std::int64_t(1) << 53))
		value = static_cast<double>(*number);
	else
		return false;
	if (constraint.op != Op::less && constraint.op != Op::less_equal)
		constraint.least = value;
	if (constraint.op != Op::greater && constraint.op != Op::greater_equal)
		constraint.greatest = value;
	return true;
}

bool make_texts(Constraint &constraint, const std::vector<Value> &values)
{
	for (const Value &value : values) {
		const auto *text = std::get_if<std::string>(&value);
		if (!text)
			return false;
		constraint.texts.push_back(*text);
	}
	std::ranges::sort(constraint.texts);
	return true;
}

// SQLite's own matching stops at a NUL.
template <class Match> bool matches(std::string_view value, Match match)
{
	char small[256];
	if (value.size() >= sizeof small)
		return match(std::string(value).c_str());
	*std::copy(value.begin(), value.end(), small) = '\0';
	return match(static_cast<const char *>(small));
}

} // namespace

bool Constraint::accepts(std::int64_t value) const
{
	return op == Op::in ? std::ranges::binary_search(integers, value) : value >= first && value <= last;
}

bool Constraint::accepts(std::string_view value) const
{
	switch (op) {
	case Op::equal:
	case Op::in:
		return std::ranges::binary_search(texts, value);
	case Op::less:
		return value < texts.front();
	case Op::less_equal:
		return value <= texts.front();
	case Op::greater:
		return value > texts.front();
	case Op::greater_equal:
		return value >= texts.front();
	case Op::glob:
		return matches(value, [&](auto *text) { return !sqlite3_strglob(texts.front().c_str(), text); });
	case Op::like:
		return matches(value, [&](auto *text) { return !sqlite3_strlike(texts.front().c_str(), text, 0); });
	}
	return true;
}

std::optional<Constraint> make_constraint(Type type, Op op, const std::vector<Value> &values)
{
	std::vector<Value> known;
	for (const Value &value : values)
		if (!std::holds_alternative<std::monostate>(value))
			known.push_back(value);
	Constraint constraint;
	constraint.type = type;
	constraint.op = op;
	if (known.empty())
		return accept_nothing(type);
	if ((op == Op::glob || op == Op::like) && type != Type::text)
		return std::nullopt;
	const bool made = type == Type::integer ? make_integers(constraint, known)
			  : type == Type::real  ? make_reals(constraint, known)
						: make_texts(constraint, known);
	return made ? std::optional(std::move(constraint)) : std::nullopt;
}

} // namespace monitor::query
