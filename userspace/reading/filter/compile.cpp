// SPDX-License-Identifier: MIT
#include "compile.h"

#include <algorithm>
#include <optional>

#include "monitor/syscall_arg.h"

#include "text_match.h"

namespace monitor::filter {
namespace {

using ExpressionKind = Expression::Kind;

constexpr std::uint64_t sign_bit = std::uint64_t(1) << 63;

bool is_negated(const Expression &condition)
{
	return condition.relation == Relation::not_equal;
}

bool is_text(const Expression &constant)
{
	return constant.kind == ExpressionKind::text ||
	       (constant.kind == ExpressionKind::range && constant.children[0].kind == ExpressionKind::text);
}

// Whether any constant of a comparison, glob or set is of this type.
bool has_constant(const Expression &condition, Type type)
{
	return std::any_of(condition.children.begin() + 1, condition.children.end(), [&](const Expression &constant) {
		return (constant.is_constant() || constant.kind == ExpressionKind::range) &&
		       is_text(constant) == (type == Type::text);
	});
}

// The values whose labels a condition accepts.
Ranges labelled(const Expression &condition, const trace::Enumeration &labels, bool is_signed)
{
	const auto value = [&](std::uint64_t bits) {
		return is_signed ? Integer(static_cast<std::int64_t>(bits)) : Integer(bits);
	};
	Ranges ranges;
	const bool is_ordering =
	    condition.kind == ExpressionKind::comparison && condition.relation > Relation::not_equal;
	for (const auto &label : labels.labels())
		if (!is_ordering && accepts_text(condition, label.text))
			ranges.push_back({value(label.first), value(label.last)});
	return ranges;
}

// The integers that a comparison, glob or set accepts: those of its constants, and `ranges`, those of its labels.
Ranges accepted_numbers(const Expression &condition, Ranges ranges)
{
	const bool negated = is_negated(condition);
	for (auto constant = condition.children.begin() + 1; constant != condition.children.end(); ++constant) {
		if (is_text(*constant))
			continue;
		const Relation relation =
		    negated || condition.kind != ExpressionKind::comparison ? Relation::equal : condition.relation;
		const Ranges accepted = constant->kind == ExpressionKind::range
					    ? between(constant->children[0].number, constant->children[1].number)
					    : related(relation, constant->number);
		ranges.insert(ranges.end(), accepted.begin(), accepted.end());
	}
	ranges = joined(std::move(ranges));
	return negated ? complement(ranges) : ranges;
}

class Compiler {
public:
	Compiler(const trace::EventClass &cls, Common &common) : cls_(cls), common_(common) {}

	// Compiles from back to front, since a test needs its targets. Returns the entry point.
	Target branch(const Expression &condition, Target on_true, Target on_false)
	{
		const auto &children = condition.children;
		Target next = condition.kind == ExpressionKind::conjunction ? on_true : on_false;
		switch (condition.kind) {
		case ExpressionKind::negation:
			return branch(children[0], on_false, on_true);
		case ExpressionKind::conjunction:
			for (auto child = children.rbegin(); child != children.rend(); ++child)
				next = branch(*child, next, on_false);
			return next;
		case ExpressionKind::disjunction:
			for (auto child = children.rbegin(); child != children.rend(); ++child)
				next = branch(*child, on_true, next);
			return next;
		case ExpressionKind::has:
			return presence(children[0], on_true, on_false);
		default:
			break;
		}
		if (condition.kind == ExpressionKind::comparison && !children[1].is_constant())
			return compare_values(condition, on_true, on_false);
		return children[0].kind == ExpressionKind::name ? compare_name(condition, on_true, on_false)
								: compare_computed(condition, on_true, on_false);
	}

	Program finish(Target entry)
	{
		if (entry >= accept)
			program_ = {};
		program_.entry = entry;
		return std::move(program_);
	}

private:
	Resolved resolved(const Expression &name) const
	{
		return resolve(name, cls_, *common_.known, common_.derives_from);
	}

	Target add(Test test, Target on_true, Target on_false)
	{
		if (on_true == on_false)
			return on_true; // both results of the test lead there
		test.on_true = on_true;
		test.on_false = on_false;
		program_.tests.push_back(test);
		return static_cast<Target>(program_.tests.size() - 1);
	}

	Target presence(const Expression &name, Target on_true, Target on_false)
	{
		const Resolved found = resolved(name);
		if (found.type == Type::none)
			return on_false;
		if (!found.may_be_absent)
			return on_true;
		Test test;
		test.source = found.source;
		test.condition = &name;
		return add(test, on_true, on_false);
	}

	// A name compared with constants.
	Target compare_name(const Expression &condition, Target on_true, Target on_false)
	{
		const Resolved left = resolved(condition.children[0]);
		if (left.type == Type::number && left.source.from == ValueSource::From::call_id)
			return compare_syscall(condition, left, on_true, on_false);
		if (left.type == Type::number)
			return compare_number(condition, left, on_true, on_false);
		const bool is_real = left.type == Type::real;
		if ((!is_real && left.type != Type::text) || is_real == has_constant(condition, Type::text))
			return on_false;
		if (left.source.from == ValueSource::From::name)
			return accepts_text(condition, cls_.name) != is_negated(condition) ? on_true : on_false;
		Test test;
		test.kind = is_real ? Test::Kind::real : Test::Kind::text;
		test.source = left.source;
		test.negated = is_negated(condition);
		test.condition = &condition;
		return add(test, on_true, on_false);
	}

	// Labels name native system calls only: a compat call is compared by its number.
	Target compare_syscall(const Expression &condition, Resolved left, Target on_true, Target on_false)
	{
		const Target native = compare_number(condition, left, on_true, on_false);
		if (!has_constant(condition, Type::text))
			return native;
		left.labels = nullptr;
		const Target compat = compare_number(condition, left, on_true, on_false);
		Test is_compat;
		is_compat.kind = Test::Kind::range;
		is_compat.condition = &condition;
		is_compat.source.from = ValueSource::From::call_abi;
		is_compat.range = {EDC_ABI_COMPAT, EDC_ABI_COMPAT};
		return add(is_compat, compat, native);
	}

	Target compare_number(const Expression &condition, const Resolved &left, Target on_true, Target on_false)
	{
		if (!has_constant(condition, Type::number) && !left.labels)
			return on_false;
		const Ranges ranges =
		    clipped(accepted_numbers(condition, accepted_labels(condition, left)), {left.min, left.max});
		if (ranges.empty())
			return on_false;
		if (!left.may_be_absent && ranges.front().first == left.min && ranges.front().last == left.max)
			return on_true;
		Test test;
		test.condition = &condition;
		test.source = left.source;
		test.flip = left.source.is_signed ? sign_bit : 0;
		test.first = static_cast<std::uint32_t>(program_.keys.size());
		for (const Range &range : ranges)
			if (left.source.from == ValueSource::From::time)
				add_ticks(range);
			else
				program_.keys.push_back({static_cast<std::uint64_t>(range.first) ^ test.flip,
							 static_cast<std::uint64_t>(range.last) ^ test.flip});
		test.count = static_cast<std::uint32_t>(program_.keys.size()) - test.first;
		if (test.count == 0)
			return on_false;
		test.kind = test.count == 1 ? Test::Kind::range : Test::Kind::ranges;
		test.range = program_.keys[test.first];
		return add(test, on_true, on_false);
	}

	Ranges accepted_labels(const Expression &condition, const Resolved &left)
	{
		if (!left.labels || !has_constant(condition, Type::text))
			return {};
		const auto [found, added] = common_.labelled.try_emplace({&condition, left.labels});
		if (added)
			found->second = labelled(condition, *left.labels, left.source.is_signed);
		return found->second;
	}

	// Adds the ticks whose nanoseconds since the start, rounded down, are within the range.
	void add_ticks(const Range &ns)
	{
		const std::optional<std::uint64_t> first = first_tick(ns.first), after = first_tick(ns.last + 1);
		if (first && after != 0 && (!after || *first < *after))
			program_.keys.push_back({*first, after.value_or(0) - 1});
	}

	// The first tick at least this long after the start; nullopt: the clock ends before.
	std::optional<std::uint64_t> first_tick(Integer ns) const
	{
		const std::uint64_t begin = common_.begin_time, max = ~std::uint64_t(0);
		if (ns <= min_integer)
			return 0;
		if (ns < 0)
			return common_.clock->from_since_ns(begin, static_cast<std::int64_t>(ns));
		if (ns > max_integer)
			return std::nullopt;
		const std::uint64_t ticks = common_.clock->to_ticks(static_cast<std::uint64_t>(ns));
		return ticks > max - begin ? std::nullopt : std::optional(begin + ticks);
	}

	// A computed value compared with constants.
	Target compare_computed(const Expression &condition, Target on_true, Target on_false)
	{
		Test test;
		test.condition = &condition;
		test.first = static_cast<std::uint32_t>(program_.steps.size());
		if (!has_constant(condition, Type::number) || !compute(condition.children[0]))
			return on_false;
		return add_computed(test, accepted_numbers(condition, {}), on_true, on_false);
	}

	// Two values compared, neither of them constant.
	Target compare_values(const Expression &condition, Target on_true, Target on_false)
	{
		const Expression &left = condition.children[0], &right = condition.children[1];
		Test test;
		test.condition = &condition;
		test.relation = condition.relation;
		test.first = static_cast<std::uint32_t>(program_.steps.size());
		if (left.kind == ExpressionKind::name && right.kind == ExpressionKind::name) {
			const Resolved a = resolved(left), b = resolved(right);
			if (a.type == Type::text && b.type == Type::text) {
				Step other;
				other.kind = Step::Kind::source;
				other.source = b.source;
				program_.steps.push_back(other);
				test.kind = Test::Kind::texts;
				test.source = a.source;
				return add(test, on_true, on_false);
			}
		}
		if (!compute(left) || !compute(right))
			return on_false;
		Step difference;
		difference.kind = Step::Kind::difference;
		program_.steps.push_back(difference);
		return add_computed(test, related(condition.relation, {}), on_true, on_false);
	}

	Target add_computed(Test test, const Ranges &ranges, Target on_true, Target on_false)
	{
		test.kind = Test::Kind::computed;
		test.count = static_cast<std::uint32_t>(program_.steps.size()) - test.first;
		test.range_first = static_cast<std::uint32_t>(program_.ranges.size());
		test.range_count = static_cast<std::uint32_t>(ranges.size());
		program_.ranges.insert(program_.ranges.end(), ranges.begin(), ranges.end());
		return add(test, on_true, on_false);
	}

	// Appends the steps that compute a number. False: the class lacks a needed value.
	bool compute(const Expression &value)
	{
		Step step;
		if (value.kind == ExpressionKind::number) {
			step.constant = value.number.floor;
		} else if (value.kind == ExpressionKind::name) {
			const Resolved found = resolved(value);
			if (found.type != Type::number)
				return false;
			step.kind = Step::Kind::source;
			step.source = found.source;
			step.clock = common_.clock;
			step.begin_time = common_.begin_time;
		} else {
			if (!compute(value.children[0]) || !compute(value.children[1]))
				return false;
			step.kind = Step::Kind::arithmetic;
			step.arithmetic = value.arithmetic;
		}
		program_.steps.push_back(step);
		return true;
	}

	const trace::EventClass &cls_;
	Common &common_;
	Program program_;
};

} // namespace

Program compile(const Expression &condition, const trace::EventClass &cls, Common &common)
{
	Compiler compiler(cls, common);
	const Target entry = compiler.branch(condition, accept, reject);
	return compiler.finish(entry);
}

} // namespace monitor::filter
