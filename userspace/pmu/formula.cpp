// SPDX-License-Identifier: MIT
#include "formula.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace monitor::pmu {
namespace {

constexpr const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr const char *of_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.:=@";
constexpr const char *of_terms = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.=,";
constexpr const char *modifiers = ":ukh";

bool is_number(char c)
{
	return (c >= '0' && c <= '9') || c == '.';
}

class Parser {
public:
	Parser(const std::string &text, const IsEvent &is_event) : text_(text), is_event_(is_event) {}

	Formula parse()
	{
		Formula formula;
		const std::size_t numerator_at = skip_blanks();
		bool bare_sum = false;
		formula.numerator = sum(bare_sum);
		std::size_t end = at_;
		if (next_is('/')) {
			if (bare_sum)
				fail(numerator_at, "put parentheses around a sum that is divided");
			take('/');
			divide(formula);
			end = at_;
		}
		check_busy(formula);
		const std::size_t last = text_.find_last_not_of(" \t", end - 1);
		formula.text = text_.substr(numerator_at, last + 1 - numerator_at);
		formula.unit = rest();
		return formula;
	}

private:
	[[noreturn]] void fail(std::size_t at, const std::string &sentence) const
	{
		throw FormulaError(at + 1, sentence);
	}

	std::size_t skip_blanks()
	{
		at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
		return at_;
	}
	bool next_is(char c) { return skip_blanks() < text_.size() && text_[at_] == c; }
	bool take(char c)
	{
		const bool is_next = next_is(c);
		at_ += is_next;
		return is_next;
	}
	// The unit: one word that is not an event.
	std::string rest()
	{
		const std::size_t from = skip_blanks(), last = text_.find_last_not_of(" \t");
		if (from == text_.size())
			return {};
		std::string unit = text_.substr(from, last + 1 - from);
		if (std::string("+*()").find(unit[0]) != std::string::npos)
			fail(from, fmt::format("unexpected \"{}\"", unit[0]));
		if (unit.find_first_of(" \t") != std::string::npos || is_event_(unit))
			fail(from, fmt::format("\"{}\" is not a unit: an operator is missing before it", unit));
		return unit;
	}

	void divide(Formula &formula)
	{
		const std::size_t from = skip_blanks();
		const std::size_t end = std::min(text_.find_first_not_of(of_names, from), text_.size());
		const std::string word = text_.substr(from, end - from);
		formula.per = word == "time"      ? Per::time
			      : word == "seconds" ? Per::seconds
			      : word == "count"   ? Per::occurrences
						  : Per::counters;
		if (formula.per != Per::counters) {
			at_ = end;
			return;
		}
		bool bare_sum = false;
		formula.denominator = sum(bare_sum);
		if (bare_sum)
			fail(from, "put parentheses around a sum that is a divisor");
	}

	// Terms; `bare` is set if there are several without parentheses around them.
	std::vector<FormulaTerm> sum(bool &bare)
	{
		const bool parentheses = take('(');
		std::vector<FormulaTerm> terms = {term()};
		while (take('+'))
			terms.push_back(term());
		if (parentheses && !take(')'))
			fail(at_, "a closing parenthesis is missing");
		bare = !parentheses && terms.size() > 1;
		return terms;
	}

	FormulaTerm term()
	{
		FormulaTerm term;
		while (skip_blanks() < text_.size() && is_number(text_[at_])) {
			term.factor *= number();
			if (!take('*'))
				fail(at_, "an asterisk and an event are missing after the number");
		}
		term.column = skip_blanks() + 1;
		term.event = event();
		if (term.event != "busy" || !take('('))
			return term;
		term.busy = true;
		term.column = skip_blanks() + 1;
		term.event = event();
		if (!take(')'))
			fail(at_, "a closing parenthesis is missing after busy(" + term.event);
		return term;
	}

	double number()
	{
		double value = 0;
		const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
		const auto [stopped, error] = std::from_chars(begin, end, value);
		if (error != std::errc() || !std::isfinite(value) || value <= 0)
			fail(at_, "this is not a factor: it must be a number above 0");
		at_ += static_cast<std::size_t>(stopped - begin);
		return value;
	}

	std::string event()
	{
		const std::size_t from = skip_blanks();
		if (from == text_.size())
			fail(from, "an event is missing at the end");
		if (std::string(letters).find(text_[from]) == std::string::npos)
			fail(from, fmt::format("an event is missing before \"{}\"", text_.substr(from)));
		at_ = std::min(text_.find_first_not_of(of_names, from), text_.size());
		std::string word = text_.substr(from, at_ - from);
		if (word == "time" || word == "seconds" || word == "count")
			fail(from, fmt::format("\"{}\" is not an event: it can only be a divisor", word));
		const std::size_t slash = end_of_terms(at_);
		if (slash == std::string::npos)
			return word;
		const std::size_t after = std::min(text_.find_first_not_of(modifiers, slash + 1), text_.size());
		// "cycles/cpu/event=0x3c/": the divisor is an event of a PMU, whose terms follow the second slash.
		const bool divides =
		    after < text_.size() && std::string(of_terms).find(text_[after]) != std::string::npos;
		if (divides && is_event_(word))
			return word;
		at_ = after;
		return text_.substr(from, at_ - from);
	}

	// Where the terms end that start with the slash at `slash`: the position of their last slash; npos if none.
	std::size_t end_of_terms(std::size_t slash) const
	{
		if (slash >= text_.size() || text_[slash] != '/')
			return std::string::npos;
		const std::size_t end = text_.find_first_not_of(of_terms, slash + 1);
		return end != std::string::npos && text_[end] == '/' && end > slash + 1 ? end : std::string::npos;
	}

	void check_busy(const Formula &formula) const
	{
		for (const auto *terms : {&formula.numerator, &formula.denominator})
			for (const FormulaTerm &term : *terms)
				if (term.busy && formula.per != Per::time)
					fail(term.column - 1, "busy() is a time: divide it by `time`");
	}

	const std::string &text_;
	const IsEvent &is_event_;
	std::size_t at_ = 0;
};

} // namespace

Formula parse_formula(const std::string &text, const IsEvent &is_event)
{
	return Parser(text, is_event).parse();
}

bool ends_within_terms(const std::string &text)
{
	const std::size_t slash = text.rfind('/');
	if (slash == std::string::npos || slash + 1 == text.size())
		return false;
	const std::string terms = text.substr(slash + 1);
	const bool has_value = terms.find('=') != std::string::npos;
	return has_value && terms.find_first_not_of(of_terms) == std::string::npos;
}

} // namespace monitor::pmu
