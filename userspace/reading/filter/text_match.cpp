// SPDX-License-Identifier: MIT
#include "text_match.h"

#include <algorithm>

namespace monitor::filter {
namespace {

using ExpressionKind = Expression::Kind;

// Whether one character matches the pattern element at `at`; moves `at` past that element.
bool matches_one(std::string_view pattern, std::size_t &at, char c)
{
	const auto byte = static_cast<unsigned char>(c);
	if (pattern[at] == '?') {
		++at;
		return true;
	}
	if (pattern[at] == '[') {
		std::size_t i = at + 1;
		const bool is_negated = i < pattern.size() && pattern[i] == '!';
		i += is_negated;
		bool found = false;
		for (const std::size_t first = i; i < pattern.size() && (pattern[i] != ']' || i == first);) {
			const auto from = static_cast<unsigned char>(pattern[i]);
			auto to = from;
			if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
				to = static_cast<unsigned char>(pattern[i + 2]);
				i += 2;
			}
			found = found || (byte >= from && byte <= to);
			++i;
		}
		if (i < pattern.size()) { // false: unterminated, so a literal [
			at = i + 1;
			return found != is_negated;
		}
	} else if (pattern[at] == '\\' && at + 1 < pattern.size()) {
		++at;
	}
	return pattern[at++] == c;
}

Relation without_negation(Relation relation)
{
	return relation == Relation::not_equal ? Relation::equal : relation;
}

} // namespace

bool matches_glob(std::string_view pattern, std::string_view text)
{
	// Only the last * is retried: what precedes it has already matched at its earliest position.
	std::size_t at = 0, i = 0, star = std::string_view::npos, from = 0;
	while (i < text.size()) {
		if (at < pattern.size() && pattern[at] == '*') {
			star = ++at;
			from = i;
			continue;
		}
		std::size_t after = at;
		if (at < pattern.size() && matches_one(pattern, after, text[i])) {
			at = after;
			++i;
		} else if (star != std::string_view::npos) {
			at = star;
			i = ++from;
		} else {
			return false;
		}
	}
	while (at < pattern.size() && pattern[at] == '*')
		++at;
	return at == pattern.size();
}

bool accepts_text(const Expression &condition, std::string_view text)
{
	const Expression &constant = condition.children[1];
	if (condition.kind == ExpressionKind::glob)
		return matches_glob(constant.text, text);
	if (condition.kind == ExpressionKind::comparison)
		return constant.kind == ExpressionKind::text &&
		       holds<std::string_view>(without_negation(condition.relation), text, constant.text);
	return std::any_of(condition.children.begin() + 1, condition.children.end(), [&](const Expression &element) {
		if (element.kind == ExpressionKind::range)
			return element.children[0].kind == ExpressionKind::text && text >= element.children[0].text &&
			       text <= element.children[1].text;
		return element.kind == ExpressionKind::text && text == element.text;
	});
}

bool accepts_real(const Expression &condition, double value)
{
	if (condition.kind == ExpressionKind::comparison)
		return holds(without_negation(condition.relation), value, condition.children[1].number.real());
	return std::any_of(condition.children.begin() + 1, condition.children.end(), [&](const Expression &each) {
		return each.kind == ExpressionKind::range
			   ? value >= each.children[0].number.real() && value <= each.children[1].number.real()
			   : value == each.number.real();
	});
}

bool accepts_number(const Expression &condition, double value)
{
	return accepts_real(condition, value) != (condition.relation == Relation::not_equal);
}

} // namespace monitor::filter
