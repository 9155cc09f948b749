// SPDX-License-Identifier: MIT
#include "parser.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parse_error.h"
#include "base/text.h"
#include "lexer.h"

namespace monitor::filter {
namespace {

using ExpressionKind = Expression::Kind;

enum Level : unsigned {
	any,
	disjunctions,
	conjunctions,
	comparisons,
	bit_ors,
	bit_xors,
	bit_ands,
	shifts,
	sums,
	products
};

struct Operator {
	std::string_view symbol;
	Level level;
	ExpressionKind kind;
	Relation relation = Relation::equal;
	Arithmetic arithmetic = Arithmetic::add;
};

constexpr Operator operator_of(std::string_view symbol, Relation relation)
{
	return {symbol, comparisons, ExpressionKind::comparison, relation, Arithmetic::add};
}

constexpr Operator operator_of(std::string_view symbol, Level level, Arithmetic arithmetic)
{
	return {symbol, level, ExpressionKind::arithmetic, Relation::equal, arithmetic};
}

constexpr Operator operators[] = {
    {"or", disjunctions, ExpressionKind::disjunction},
    {"||", disjunctions, ExpressionKind::disjunction},
    {"and", conjunctions, ExpressionKind::conjunction},
    {"&&", conjunctions, ExpressionKind::conjunction},
    operator_of("==", Relation::equal),
    operator_of("!=", Relation::not_equal),
    operator_of("<", Relation::less),
    operator_of("<=", Relation::less_equal),
    operator_of(">", Relation::greater),
    operator_of(">=", Relation::greater_equal),
    {"~", comparisons, ExpressionKind::glob},
    {"!~", comparisons, ExpressionKind::glob, Relation::not_equal},
    {"in", comparisons, ExpressionKind::within},
    {"not", comparisons, ExpressionKind::within, Relation::not_equal}, // in
    operator_of("|", bit_ors, Arithmetic::bit_or),
    operator_of("^", bit_xors, Arithmetic::bit_xor),
    operator_of("&", bit_ands, Arithmetic::bit_and),
    operator_of("<<", shifts, Arithmetic::shift_left),
    operator_of(">>", shifts, Arithmetic::shift_right),
    operator_of("+", sums, Arithmetic::add),
    operator_of("-", sums, Arithmetic::subtract),
    operator_of("*", products, Arithmetic::multiply),
    operator_of("/", products, Arithmetic::divide),
    operator_of("%", products, Arithmetic::remainder),
};

const Operator *find_operator(const Token &token)
{
	const auto *found = std::find_if(std::begin(operators), std::end(operators),
					 [&](const Operator &known) { return token.is(known.symbol); });
	return found == std::end(operators) ? nullptr : found;
}

// The relation when the sides of a comparison are swapped.
Relation mirrored(Relation relation)
{
	switch (relation) {
	case Relation::less:
		return Relation::greater;
	case Relation::less_equal:
		return Relation::greater_equal;
	case Relation::greater:
		return Relation::less;
	case Relation::greater_equal:
		return Relation::less_equal;
	default:
		return relation;
	}
}

class Parser {
public:
	explicit Parser(std::string_view text) : text_(text), lexer_(text)
	{
		if (text.size() > max_expression_bytes)
			fail(max_expression_bytes,
			     fmt::format("an expression has at most {} bytes", max_expression_bytes));
		advance();
	}

	Expression parse()
	{
		if (token_.kind == Token::Kind::end)
			fail(token_.position.offset, "the expression is empty");
		Expression whole = expression(any);
		if (token_.is(")"))
			fail(token_.position.offset, "this ) closes nothing");
		if (token_.kind != Token::Kind::end)
			fail(token_.position.offset, std::string(no_operator) + token_text(token_));
		require_condition(whole);
		return whole;
	}

private:
	[[noreturn]] void fail(std::size_t at, const std::string &sentence) const
	{
		throw ParseError("filter", text_, at, sentence);
	}

	static std::string token_text(const Token &token)
	{
		switch (token.kind) {
		case Token::Kind::end:
			return "the end";
		case Token::Kind::number:
			return "this number";
		case Token::Kind::text:
			return "this string";
		case Token::Kind::quoted_name:
			return readable(token.text);
		default:
			return token.text;
		}
	}

	Token advance() { return std::exchange(token_, lexer_.next()); }
	bool accept(std::string_view symbol)
	{
		const bool is_next = token_.is(symbol);
		if (is_next)
			advance();
		return is_next;
	}
	void expect(std::string_view symbol, const std::string &sentence)
	{
		if (!accept(symbol))
			fail(token_.position.offset, sentence);
	}

	void require_condition(const Expression &expression) const
	{
		if (!expression.is_condition())
			fail(expression.at, "this is a value, not a condition: compare it with something");
	}
	void require_value(const Expression &expression) const
	{
		if (expression.is_condition())
			fail(expression.at, "this is a condition; a value is needed here");
	}

	Expression with_children(Expression parent, std::vector<Expression> children) const
	{
		for (const Expression &child : children)
			parent.height = std::max(parent.height, child.height + 1);
		if (parent.height > max_depth)
			fail_too_deep(parent.at);
		parent.children = std::move(children);
		return parent;
	}
	[[noreturn]] void fail_too_deep(std::size_t at) const
	{
		fail(at, fmt::format("an expression is at most {} levels deep", max_depth));
	}

	// Parses up to an operator that binds less tightly than `level`.
	Expression expression(Level level)
	{
		Expression left = operand();
		while (const Operator *found = find_operator(token_)) {
			if (found->level < level)
				break;
			const std::size_t at = advance().position.offset;
			left = join(*found, at, std::move(left));
		}
		return left;
	}

	// The right side of an operator.
	Expression join(const Operator &joining, std::size_t at, Expression left)
	{
		Expression made;
		made.kind = joining.kind;
		made.relation = joining.relation;
		made.arithmetic = joining.arithmetic;
		made.at = at;
		switch (joining.kind) {
		case ExpressionKind::conjunction:
		case ExpressionKind::disjunction:
			return chain(std::move(made), joining.level, std::move(left));
		case ExpressionKind::arithmetic:
			return calculation(std::move(made), std::move(left), expression(tighter(joining.level)));
		default:
			break;
		}
		if (left.is_condition())
			fail(at, "a condition cannot be compared; write a < b and b < c for a < b < c");
		if (joining.kind == ExpressionKind::glob)
			return glob(std::move(made), std::move(left));
		if (joining.kind == ExpressionKind::within)
			return within(std::move(made), std::move(left));
		return comparison(std::move(made), std::move(left), expression(tighter(comparisons)));
	}

	static Level tighter(Level level) { return static_cast<Level>(level + 1); }

	template <class... Children> Expression with(Expression parent, Children... children) const
	{
		std::vector<Expression> all;
		(all.push_back(std::move(children)), ...);
		return with_children(std::move(parent), std::move(all));
	}

	// Any number of chained conditions count as one level of depth.
	Expression chain(Expression made, Level level, Expression left)
	{
		require_condition(left);
		Expression right = expression(tighter(level));
		require_condition(right);
		if (left.kind == made.kind) {
			left.height = std::max(left.height, right.height + 1);
			if (left.height > max_depth)
				fail_too_deep(made.at);
			left.children.push_back(std::move(right));
			return left;
		}
		return with(std::move(made), std::move(left), std::move(right));
	}

	Expression calculation(Expression made, Expression left, Expression right) const
	{
		for (const Expression *side : {&left, &right}) {
			require_value(*side);
			if (side->kind == ExpressionKind::text)
				fail(side->at, "arithmetic is not possible with strings");
			if (side->kind == ExpressionKind::number && side->number.has_fraction)
				fail(side->at, "arithmetic is possible with integers only");
		}
		if (left.kind == ExpressionKind::number && right.kind == ExpressionKind::number) {
			made.kind = ExpressionKind::number;
			made.number.has_unit = left.number.has_unit || right.number.has_unit;
			if (!calculate(made.arithmetic, left.number.floor, right.number.floor, made.number.floor))
				fail(made.at, "this has no value in 64 bits");
			return made;
		}
		return with(std::move(made), std::move(left), std::move(right));
	}

	Expression comparison(Expression made, Expression left, Expression right) const
	{
		require_value(right);
		if (left.is_constant() && right.is_constant())
			fail(made.at, "both sides are constants: nothing of an event is compared");
		if (left.is_constant()) {
			std::swap(left, right);
			made.relation = mirrored(made.relation);
		}
		return with(std::move(made), std::move(left), std::move(right));
	}

	void require_no_constant(const Expression &left) const
	{
		if (left.is_constant())
			fail(left.at, "this is a constant: something of an event is needed here");
	}

	Expression glob(Expression made, Expression left)
	{
		require_no_constant(left);
		if (token_.kind != Token::Kind::text)
			fail(token_.position.offset, "a pattern is missing: a string such as \"sched_*\"");
		return with(std::move(made), std::move(left), constant());
	}

	Expression within(Expression made, Expression left)
	{
		if (made.relation == Relation::not_equal)
			expect("in", "`in` is missing after `not`, or `and` before it");
		require_no_constant(left);
		expect("{", "a set is missing, such as {1, 2, 5..9}");
		std::vector<Expression> parts;
		parts.push_back(std::move(left));
		do
			parts.push_back(element());
		while (accept(","));
		expect("}", fmt::format("a , or a }} is missing before {}", token_text(token_)));
		return with_children(std::move(made), std::move(parts));
	}

	// CONSTANT or CONSTANT..CONSTANT
	Expression element()
	{
		Expression first = constant();
		if (!token_.is(".."))
			return first;
		Expression range;
		range.kind = ExpressionKind::range;
		range.at = advance().position.offset;
		Expression last = constant();
		if (first.kind != last.kind)
			fail(range.at, "the ends of a range are two numbers or two strings");
		if (has_unit_missing(first.number, last.number) || has_unit_missing(last.number, first.number))
			fail(last.at, "the ends of a range both have a unit or none");
		if (first.kind == ExpressionKind::text ? last.text < first.text
						       : last.number.floor < first.number.floor)
			fail(range.at, "this range is empty: its end is before its start");
		return with(std::move(range), std::move(first), std::move(last));
	}

	static bool has_unit_missing(const Number &number, const Number &other)
	{
		return other.has_unit && !number.has_unit && number.floor != 0;
	}

	Expression constant()
	{
		Expression made = expression(bit_ors);
		if (!made.is_constant())
			fail(made.at, "only constants are allowed here");
		return made;
	}

	// A value, a condition in parentheses, has(...), or one of these after - or `not`.
	Expression operand()
	{
		if (nesting_ == max_depth)
			fail_too_deep(token_.position.offset);
		++nesting_;
		Expression made;
		made.at = token_.position.offset;
		if (token_.is("not") || token_.is("!")) {
			advance();
			made.kind = ExpressionKind::negation;
			Expression negated = expression(comparisons);
			require_condition(negated);
			made = with(std::move(made), std::move(negated));
		} else if (token_.is("-")) {
			advance();
			made = negative(made.at, operand());
		} else if (token_.is("(")) {
			advance();
			made = expression(any);
			expect(")", fmt::format("a ) is missing before {}", token_text(token_)));
		} else if (token_.kind == Token::Kind::number) {
			made.number = advance().number;
		} else if (token_.kind == Token::Kind::text) {
			made.kind = ExpressionKind::text;
			made.text = advance().text;
		} else {
			made = name_or_has();
		}
		--nesting_;
		return made;
	}

	Expression negative(std::size_t at, Expression value) const
	{
		if (value.kind != ExpressionKind::number || !value.number.has_fraction) {
			Expression zero, made;
			zero.at = made.at = at;
			made.kind = ExpressionKind::arithmetic;
			made.arithmetic = Arithmetic::subtract;
			return calculation(std::move(made), std::move(zero), std::move(value));
		}
		value.at = at;
		value.number.floor = -value.number.floor - 1;
		value.number.fraction = 1 - value.number.fraction;
		if (!is_within_bounds(value.number.floor))
			fail(at, "this has no value in 64 bits");
		return value;
	}

	Expression name_or_has()
	{
		if (token_.kind != Token::Kind::quoted_name &&
		    (token_.kind != Token::Kind::word || find_operator(token_)))
			fail(token_.position.offset, token_.kind == Token::Kind::end
							 ? "something is missing at the end"
							 : "a value is missing before " + token_text(token_));
		const Token first = advance();
		if (first.is("has") && token_.is("(")) {
			advance();
			Expression has;
			has.kind = ExpressionKind::has;
			has.at = first.position.offset;
			if (token_.kind != Token::Kind::word && token_.kind != Token::Kind::quoted_name)
				fail(token_.position.offset, "a name is missing in has()");
			Expression named = name(advance());
			expect(")", fmt::format("a ) is missing before {}", token_text(token_)));
			return with(std::move(has), std::move(named));
		}
		return name(first);
	}

	// NAME, NAME.NAME, `NAME` or event.NAME
	Expression name(const Token &first)
	{
		Expression made;
		made.kind = ExpressionKind::name;
		made.at = first.position.offset;
		made.text = first.text;
		made.is_field = first.kind == Token::Kind::quoted_name;
		if (first.is("event") && token_.is(".")) {
			made.text.clear();
			made.is_field = true;
		}
		// A member of a struct is named a.b.
		while (first.kind == Token::Kind::word && accept(".")) {
			if (token_.kind != Token::Kind::word && token_.kind != Token::Kind::quoted_name)
				fail(token_.position.offset, fmt::format("the name of a field is missing after `{}.`",
									 made.text.empty() ? first.text : made.text));
			made.text += (made.text.empty() ? "" : ".") + advance().text;
			made.is_field = true;
		}
		return made;
	}

	std::string_view text_;
	Lexer lexer_;
	Token token_; // the next token
	std::size_t nesting_ = 0;
};

} // namespace

Expression parse(std::string_view untrusted_text)
{
	return Parser(untrusted_text).parse();
}

} // namespace monitor::filter
