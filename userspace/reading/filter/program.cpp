// SPDX-License-Identifier: MIT
#include "program.h"

#include <algorithm>

#include "text_match.h"

namespace monitor::filter {
namespace {

bool value_of(const Step &step, const trace::Event &event, const Running &running, Integer &value)
{
	std::uint64_t bits = 0;
	if (!step.source.bits(event, running, bits))
		return false;
	if (step.source.from == ValueSource::From::time)
		value = bits < step.begin_time ? Integer(step.clock->since_ns(step.begin_time, bits))
					       : Integer(step.clock->to_ns(bits - step.begin_time));
	else
		value = step.source.is_signed ? Integer(static_cast<std::int64_t>(bits)) : Integer(bits);
	return true;
}

template <class Value, class R> bool is_within(const R *first, std::size_t count, Value value)
{
	const R *after =
	    std::upper_bound(first, first + count, value, [](Value v, const R &range) { return v < range.first; });
	return after != first && value <= (after - 1)->last;
}

} // namespace

bool Program::compute(const Test &test, const trace::Event &event, const Running &running, Integer &value) const
{
	Integer stack[max_depth + 1];
	std::size_t used = 0;
	for (std::uint32_t i = test.first; i < test.first + test.count; ++i) {
		const Step &step = steps[i];
		switch (step.kind) {
		case Step::Kind::constant:
			stack[used++] = step.constant;
			break;
		case Step::Kind::source:
			if (!value_of(step, event, running, stack[used++]))
				return false;
			break;
		case Step::Kind::arithmetic:
			--used;
			if (!calculate(step.arithmetic, stack[used - 1], stack[used], stack[used - 1]))
				return false;
			break;
		case Step::Kind::difference: // of two values within the bounds, may exceed the bounds
			--used;
			stack[used - 1] -= stack[used];
			break;
		}
	}
	value = stack[0];
	return true;
}

bool Program::holds_otherwise(const Test &test, const trace::Event &event, const Running &running) const
{
	std::uint64_t bits = 0;
	std::string_view text, other;
	Integer value = 0;
	switch (test.kind) {
	case Test::Kind::range:
	case Test::Kind::ranges:
		return test.source.bits(event, running, bits) &&
		       is_within(keys.data() + test.first, test.count, bits ^ test.flip);
	case Test::Kind::computed:
		return compute(test, event, running, value) &&
		       is_within(ranges.data() + test.range_first, test.range_count, value);
	case Test::Kind::text:
		return test.source.text(event, running, text) && accepts_text(*test.condition, text) != test.negated;
	case Test::Kind::texts:
		return test.source.text(event, running, text) && steps[test.first].source.text(event, running, other) &&
		       filter::holds<std::string_view>(test.relation, text, other);
	case Test::Kind::real:
		return test.source.field.is_in(event) &&
		       accepts_real(*test.condition, test.source.field.get<double>(event)) != test.negated;
	case Test::Kind::present:
		return test.source.is_in(event, running);
	}
	return false;
}

template <class Matches> bool Program::any_source(const Test &test, Matches &&matches) const
{
	if (matches(test.source))
		return true;
	if (test.kind != Test::Kind::computed && test.kind != Test::Kind::texts)
		return false;
	const auto first = steps.begin() + test.first;
	return std::any_of(first, first + std::max(test.count, 1u),
			   [&](const Step &step) { return step.kind == Step::Kind::source && matches(step.source); });
}

bool Program::is_derived() const
{
	return std::ranges::any_of(tests, [this](const Test &test) {
		return any_source(test, [](const ValueSource &source) { return source.is_derived(); });
	});
}

// A test of an unknown value may lead either way.
bool Program::is_undecided(const trace::Event &event, const Running &running) const
{
	const auto is_unknown = [&](const ValueSource &source) {
		return source.is_derived() && !source.is_in(event, running);
	};
	if (std::ranges::none_of(tests, [&](const Test &test) { return any_source(test, is_unknown); }))
		return false;
	std::vector<bool> visited(tests.size());
	std::vector<Target> open = {entry};
	bool may_accept = false, may_reject = false;
	while (!open.empty()) {
		const Target at = open.back();
		open.pop_back();
		may_accept = may_accept || at == accept;
		may_reject = may_reject || at == reject;
		if (at >= accept || visited[at])
			continue;
		visited[at] = true;
		const Test &test = tests[at];
		const bool either = any_source(test, is_unknown), is_true = !either && holds(test, event, running);
		if (either || is_true)
			open.push_back(test.on_true);
		if (!is_true)
			open.push_back(test.on_false);
	}
	return may_accept && may_reject;
}

} // namespace monitor::filter
