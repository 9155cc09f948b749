// SPDX-License-Identifier: MIT
#include "constraint.h"

#include <algorithm>
#include <cmath>

namespace monitor::query {
namespace {

// Reals up to here convert to integers exactly.
constexpr double exact = 4e18;

Constraint none(Type type)
{
	Constraint test;
	test.type = type;
	test.first = highest;
	test.last = lowest;
	test.least = test.greatest = std::numeric_limits<double>::quiet_NaN();
	return test;
}

void bound(Constraint &test, Op op, std::int64_t value)
{
	if ((op == Op::less && value == lowest) || (op == Op::greater && value == highest)) {
		test = none(test.type);
		return;
	}
	if (op == Op::equal || op == Op::greater_equal || op == Op::greater)
		test.first = op == Op::greater ? value + 1 : value;
	if (op == Op::equal || op == Op::less_equal || op == Op::less)
		test.last = op == Op::less ? value - 1 : value;
}

// Compares an integer with a real that may be between two integers.
bool bound(Constraint &test, Op op, double value)
{
	if (!(std::abs(value) < exact))
		return false;
	const bool up = op == Op::less || op == Op::greater_equal;
	if (op == Op::equal && value != std::floor(value))
		test = none(test.type);
	else
		bound(test, op, static_cast<std::int64_t>(up ? std::ceil(value) : std::floor(value)));
	return true;
}

bool make_integers(Constraint &test, const std::vector<Value> &values)
{
	if (test.op != Op::in) {
		if (const auto *number = std::get_if<std::int64_t>(&values.front()))
			bound(test, test.op, *number);
		else if (const auto *real = std::get_if<double>(&values.front()))
			return bound(test, test.op, *real);
		else
			return false;
		return true;
	}
	for (const Value &value : values) {
		if (const auto *number = std::get_if<std::int64_t>(&value))
			test.integers.push_back(*number);
		else
			return false;
	}
	std::ranges::sort(test.integers);
	return true;
}

bool make_reals(Constraint &test, const std::vector<Value> &values)
{
	double value = 0;
	if (test.op == Op::in)
		return false;
	if (const auto *real = std::get_if<double>(&values.front()))
		value = *real;
	else if (const auto *number = std::get_if<std::int64_t>(&values.front());
		 number && *number > -(std::int64_t(1) << 53) && *number < (std::int64_t(1) << 53))
		value = static_cast<double>(*number);
	else
		return false;
	if (test.op != Op::less && test.op != Op::less_equal)
		test.least = value;
	if (test.op != Op::greater && test.op != Op::greater_equal)
		test.greatest = value;
	return true;
}

bool make_texts(Constraint &test, const std::vector<Value> &values)
{
	for (const Value &value : values) {
		const auto *text = std::get_if<std::string>(&value);
		if (!text)
			return false;
		test.texts.push_back(*text);
	}
	std::ranges::sort(test.texts);
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

bool Constraint::takes(std::int64_t value) const
{
	return op == Op::in ? std::ranges::binary_search(integers, value) : value >= first && value <= last;
}

bool Constraint::takes(std::string_view value) const
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
	Constraint test;
	test.type = type;
	test.op = op;
	if (known.empty())
		return none(type);
	if ((op == Op::glob || op == Op::like) && type != Type::text)
		return std::nullopt;
	const bool made = type == Type::integer ? make_integers(test, known)
			  : type == Type::real  ? make_reals(test, known)
						: make_texts(test, known);
	return made ? std::optional(std::move(test)) : std::nullopt;
}

} // namespace monitor::query
