// SPDX-License-Identifier: MIT
#include "condition.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_error.h"
#include "base/text.h"
#include "parser.h"
#include "text_match.h"

namespace monitor::filter {

using ExpressionKind = Expression::Kind;

static void check_each(Expression &condition, const std::function<void(Expression &)> &check)
{
	if (condition.kind >= ExpressionKind::negation) {
		for (Expression &child : condition.children)
			check_each(child, check);
		return;
	}
	const Expression &name = condition.children[0];
	if (name.kind != ExpressionKind::name)
		refuse(name, "only names can be compared here, not what is computed from them");
	check(condition);
}

Expression parse_condition(const char *subject, std::string_view untrusted_text,
			   const std::function<void(Expression &)> &check)
{
	try {
		Expression condition = parse(untrusted_text);
		check_each(condition, check);
		return condition;
	} catch (const ParseError &error) { // of the subject's own expression
		throw ParseError(subject, untrusted_text, error.position().offset, error.sentence());
	}
}

void refuse(const Expression &part, const std::string &sentence)
{
	throw ParseError({1, 1, static_cast<std::uint32_t>(part.at)}, sentence);
}

void check_constants(const Expression &comparison, bool is_text, const char *what,
		     const std::function<void(const Expression &)> &check)
{
	for (auto side = comparison.children.begin() + 1; side != comparison.children.end(); ++side)
		for (const Expression &constant :
		     side->kind == ExpressionKind::range ? side->children : std::vector{*side}) {
			if (!constant.is_constant())
				refuse(constant, fmt::format("compare it with {}", what));
			check(constant);
			if ((constant.kind == ExpressionKind::text) != is_text)
				refuse(constant, readable(comparison.children[0].text) +
						     (is_text ? " is a text: compare it with a string in double quotes"
							      : " is a number: compare it with a number"));
		}
}

bool holds(const Expression &condition, const std::function<bool(const Expression &)> &accepts)
{
	const auto each_holds = [&](const Expression &child) { return holds(child, accepts); };
	switch (condition.kind) {
	case ExpressionKind::negation:
		return !each_holds(condition.children[0]);
	case ExpressionKind::conjunction:
		return std::ranges::all_of(condition.children, each_holds);
	case ExpressionKind::disjunction:
		return std::ranges::any_of(condition.children, each_holds);
	default:
		return accepts(condition);
	}
}

bool takes_value(const Expression &comparison, const std::optional<std::string> &value)
{
	const bool is_negated = comparison.relation == Relation::not_equal;
	return value && (comparison.kind == ExpressionKind::has || accepts_text(comparison, *value) != is_negated);
}

bool takes_value(const Expression &comparison, const std::optional<double> &value)
{
	return value && (comparison.kind == ExpressionKind::has || accepts_number(comparison, *value));
}

} // namespace monitor::filter
