// SPDX-License-Identifier: MIT
#include "pair_text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/parse_error.h"
#include "base/quoting.h"
#include "base/scanner.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "monitor/trigger.h"
#include "parser.h"

namespace monitor::filter {
namespace {

bool is_key_name(std::string_view text)
{
	return is_name(text, "-.:");
}

constexpr std::size_t max_bytes = 16384; // the limit of a trigger's text
constexpr std::string_view operator_characters = "=<>~&|^+-*/%!";

bool is_after_one_event(std::string_view word)
{
	return word == "within" || word == "per" || word == "as" || word == "times";
}

// Whether the word is a field's name, although it is a keyword: if a condition expects a value there. `after`: the text
// after the word.
bool is_field(std::string_view word, std::string_view after, const Outside::Part &before)
{
	if (!is_after_one_event(word))
		return false;
	const std::string_view text = before.text;
	if (text.empty() && (before.separator == "as" || before.separator == "per"))
		return true; // the name of the first event or of a key
	if (text.empty())
		return before.separator != "times" && !after.empty() &&
		       operator_characters.find(after[0]) != operator_characters.npos;
	if (operator_characters.find(text.back()) != operator_characters.npos)
		return true;
	const std::string_view last = text.substr(text.find_last_of(" \t\r\n)") + 1);
	return last == "and" || last == "or" || last == "not";
}

// A word where a condition should have ended but continues.
struct SecondCondition {
	std::size_t at = Outside::npos;
	std::string word, similar; // similar to `then`, and " Did you mean then?"; or ""
};

SecondCondition find_second(const std::string &condition)
{
	try {
		parse(condition);
	} catch (const ParseError &error) {
		std::size_t at = std::min<std::size_t>(error.position().offset, condition.size());
		if (constexpr std::string_view negation = "not "; condition.compare(at, negation.size(), negation) == 0)
			at += negation.size(); // part of `not followed by`
		const auto *const end =
		    std::find_if_not(condition.data() + at, condition.data() + condition.size(), is_letter);
		const std::string word(condition.data() + at, end);
		if (std::string similar = suggestions(word, {"then", "followed"}); !similar.empty())
			return {at, word, std::move(similar)};
		if (error.sentence().starts_with(no_operator))
			return {at, "", ""};
	}
	return {};
}

class PairParser {
public:
	PairParser(std::string_view text, const std::string &subject) : text_(text), subject_(subject) {}

	PairText parse()
	{
		if (text_.size() > max_bytes)
			throw Error("{}: a pair of events has at most {} bytes", subject_, max_bytes);
		const Outside outside(text_);
		if (outside.open_quote() != Outside::npos)
			fail(outside.open_quote(), "this quoted text does not end");
		if (outside.open_bracket() != Outside::npos)
			fail(outside.open_bracket(), "this bracket is not closed");
		std::vector<Outside::Part> parts;
		for (Outside::Part &part :
		     outside.split({"not followed by", "followed by", "then", "..", "as", "times", "within", "per"}))
			if (!parts.empty() && is_field(part.separator, part.text, parts.back()))
				parts.back().text = trimmed(
				    text_.substr(parts.back().at, part.at + part.text.size() - parts.back().at));
			else
				parts.push_back(std::move(part));
		if (parts.size() == 1 || is_after_one_event(parts[1].separator))
			expect_one_event(parts);
		for (const Outside::Part &part : parts)
			parse_part(part);
		if (!role_.empty() && made_.kind != PairText::Kind::then && made_.kind != PairText::Kind::missing)
			fail(role_at_, "a name for the first event is for `then` and `not followed by`");
		return std::move(made_);
	}

private:
	[[noreturn]] void fail(std::size_t at, const std::string &sentence) const
	{
		throw ParseError(subject_, text_, at, sentence);
	}

	// Two conditions need a pair's keyword between them.
	void expect_one_event(const std::vector<Outside::Part> &parts) const
	{
		const SecondCondition second = find_second(parts.front().text);
		if (!second.similar.empty())
			fail(parts.front().at + second.at,
			     fmt::format("`{}` joins no two events.{}", second.word, second.similar));
		if (second.at != Outside::npos && parts.size() > 1 && parts[1].separator != "times") // after a number
			fail(parts.front().at + second.at,
			     "`then` or `not followed by` is missing between the first event and this");
	}

	void parse_part(const Outside::Part &part)
	{
		const std::string_view word = part.separator;
		const bool is_first = made_.kind == PairText::Kind::event, is_limit = word == "within" || word == "per";
		if (is_limit && is_first)
			fail(part.at, "`within` and `per` are for `A then B`, `A not followed by B` and `N times`");
		if (word == "followed by")
			fail(part.at, "write `A then B`, or `A not followed by B within T`");
		if ((!is_first && !is_limit) || (word == "within" && made_.within_ns) || (is_limit && has_key_) ||
		    (word == "as" && !role_.empty()))
			fail(part.at, fmt::format("`{}` is too much here: write A then B [within T] [per KEY]", word));
		if (word == "within") {
			parse_duration(part);
		} else if (word == "per") {
			parse_key(part);
		} else if (word == "times") {
			parse_times(part);
		} else if (word == "as") {
			role_ = part.text + '.';
			role_at_ = part.at;
		} else {
			parse_condition(part);
		}
	}

	void parse_condition(const Outside::Part &part)
	{
		if (part.text.empty())
			fail(part.at, "a condition is missing, such as name == \"sys_enter\"; of two events write the "
				      "first, then .. or `then`, and the second");
		(part.separator.empty() ? made_.start : made_.end) = part.text;
		if (part.separator.empty())
			return;
		made_.kind = part.separator == "not followed by" ? PairText::Kind::missing : PairText::Kind::then;
		if (!role_.empty())
			parse_join(part);
	}

	void parse_duration(const Outside::Part &part)
	{
		const std::int64_t ns = ns_of(part.text).value_or(0);
		made_.within_ns = static_cast<std::uint64_t>(ns);
		if (ns <= 0)
			fail(part.at, readable(part.text) + " is not a duration, such as 100ms, of 1 ns to 31 years");
	}

	void parse_key(const Outside::Part &part)
	{
		const auto sides = split_key(part.text, subject_);
		for (const auto &side : sides)
			if (side.empty() || !std::ranges::all_of(side, is_key_name))
				fail(part.at, "after `per` follows a key: tid, cpu, or another name that both events "
					      "have, or two as in pid=next_pid");
		has_key_ = true;
		made_.start_key.insert(made_.start_key.end(), sides.front().begin(), sides.front().end());
		made_.end_key.insert(made_.end_key.end(), sides.back().begin(), sides.back().end());
	}

	// N in `CONDITION N times`.
	void parse_times(const Outside::Part &part)
	{
		const std::size_t digits = made_.start.find_last_not_of("0123456789") + 1;
		std::from_chars(made_.start.data() + digits, made_.start.data() + made_.start.size(), made_.times);
		if (made_.times < 2 || made_.times > EDC_MAX_TIMES || !part.text.empty())
			fail(part.at, fmt::format("write a number from 2 to {} before `times`, and `within T` after it",
						  EDC_MAX_TIMES));
		parse_condition({"", part.at, trimmed(made_.start.substr(0, digits))});
		made_.kind = PairText::Kind::times;
	}

	// `FIELD == ROLE.FIELD`, in either order: a part of the key.
	bool parse_equality(const std::string &text)
	{
		auto sides = Outside(text).split({"=="});
		if (sides.front().text.starts_with(role_))
			std::swap(sides.front(), sides.back());
		const std::string &left = sides.front().text, &right = sides.back().text;
		const std::string of_first = right.starts_with(role_) ? right.substr(role_.size()) : "";
		if (sides.size() != 2 || !is_key_name(left) || !is_key_name(of_first))
			return false;
		made_.start_key.push_back(of_first);
		made_.end_key.push_back(left);
		return true;
	}

	// Removes the key from the second condition.
	void parse_join(const Outside::Part &part)
	{
		const Outside second(part.text);
		const bool has_or = second.find("or") != Outside::npos || second.find("||") != Outside::npos;
		made_.end.clear();
		for (const auto &each : has_or ? second.split({}) : second.split({"and", "&&"}))
			if (!parse_equality(each.text))
				made_.end += (made_.end.empty() ? "" : " and ") + each.text;
		if (made_.start_key.empty() || made_.end.empty() || Outside(made_.end).find(role_) != Outside::npos)
			fail(part.at, fmt::format("after `as NAME` the second condition also says what both events "
						  "have in common: ... and FIELD == {}FIELD",
						  printable(role_)));
	}

	const std::string_view text_;
	const std::string &subject_;
	std::string role_; // with the dot; "": the first event has no name
	std::size_t role_at_ = 0;
	bool has_key_ = false;
	PairText made_;
};

} // namespace

std::pair<std::string, std::string> PairText::one_key(const std::string &subject) const
{
	if (start_key.size() > 1)
		throw Error(subject + ": the events can have one number in common, not several");
	return start_key.empty() ? std::pair<std::string, std::string>() : std::pair(start_key[0], end_key[0]);
}

PairText parse_pair(std::string_view untrusted_text, const std::string &subject)
{
	return PairParser(untrusted_text, subject).parse();
}

bool has_pair(std::string_view untrusted_text)
{
	return Outside(untrusted_text).split({"not followed by", "then", ".."}).size() > 1;
}

bool misspells_then(std::string_view untrusted_text)
{
	const auto parts = Outside(untrusted_text).split({"as", "times", "within", "per"});
	return !has_pair(untrusted_text) && !find_second(parts.front().text).similar.empty();
}

std::string key_hint(const std::vector<std::string> &names)
{
	for (const std::string &name : names)
		if (name == "comm" || name == "pid")
			return name == "pid" ? " Did you mean tid?" : " Did you mean thread?";
	return "";
}

std::vector<std::string> split_names(const std::string &text, const char *option)
{
	if (text.empty())
		return {};
	std::vector<std::string> names;
	for (Outside::Part &part : Outside(text).split({","})) {
		if (part.text.empty())
			throw Error("{}: a name is missing in {}", option, readable(text));
		names.push_back(std::move(part.text));
	}
	return names;
}

std::vector<std::vector<std::string>> split_key(const std::string &text, const std::string &option,
						std::size_t max_sides)
{
	std::vector<std::vector<std::string>> sides;
	for (const Outside::Part &side : Outside(text).split({"="}))
		sides.push_back(split_names(side.text, option.c_str()));
	for (const auto &side : sides)
		if (side.size() != sides.front().size() || (side.empty() && sides.size() > 1))
			throw Error(option + ": there are not as many names before = as after it");
	if (sides.size() > max_sides)
		throw Error("{}: a key has at most {} sides", option, max_sides);
	return sides;
}

} // namespace monitor::filter
