// SPDX-License-Identifier: MIT
#include "times.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monitor::query {
namespace {

using From = EventColumn::From;

constexpr std::uint64_t last_tick = std::numeric_limits<std::uint64_t>::max();
constexpr trace::TimeRange nothing = {1, 0};

std::int64_t saturated(double value)
{
	return value <= -9.2e18 ? lowest : value >= 9.2e18 ? highest : static_cast<std::int64_t>(value);
}

// The values that a column may have, both ends included: wider than a real by its rounding.
struct Span {
	std::int64_t first, last;
};

Span span_of(From column, const Value &value)
{
	if (const auto *number = std::get_if<std::int64_t>(&value); number && column != From::time)
		return {*number, *number};
	const auto *whole = std::get_if<std::int64_t>(&value);
	const double real =
	    (whole ? static_cast<double>(*whole) : std::get<double>(value)) * (column == From::time ? 1e9 : 1);
	const double rounding = 2 + std::abs(real) * 1e-15;
	return {saturated(std::floor(real - rounding)), saturated(std::ceil(real + rounding))};
}

// The first tick whose value is at least `value`.
std::uint64_t first_tick(From column, std::int64_t value, const trace::Trace &trace)
{
	if (column == From::wall_ns)
		return trace.description().clock.from_wall_ns(value);
	if (column == From::ticks)
		return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
	return value == lowest ? 0 : trace.from_begin_ns(value);
}

trace::TimeRange range_of(From column, std::int64_t first, std::int64_t last, const trace::Trace &trace)
{
	trace::TimeRange range;
	range.from = first_tick(column, first, trace);
	if (last == highest)
		return range;
	const std::uint64_t after = first_tick(column, last + 1, trace);
	if (after == 0)
		return nothing;
	range.to = after == last_tick ? last_tick : after - 1;
	return range;
}

} // namespace

trace::TimeRange ticks_of(From column, Op op, const Value &value, const trace::Trace &trace)
{
	if (std::holds_alternative<std::monostate>(value))
		return nothing;
	if (std::holds_alternative<std::string>(value))
		return {};
	if (column == From::wall_ns && !trace.description().clock.steps.empty())
		return {}; // the system's clock was set: a wall time may be ambiguous
	if (column == From::ticks && trace.end_time() > static_cast<std::uint64_t>(highest))
		return {}; // values there are negative
	if (const auto *real = std::get_if<double>(&value); real && std::isnan(*real))
		return nothing;
	const auto [first, last] = span_of(column, value);
	switch (op) {
	case Op::equal:
		return range_of(column, first, last, trace);
	case Op::less:
	case Op::less_equal:
		return range_of(column, lowest, last, trace);
	case Op::greater:
	case Op::greater_equal:
		return range_of(column, first, highest, trace);
	default:
		return {};
	}
}

} // namespace monitor::query
