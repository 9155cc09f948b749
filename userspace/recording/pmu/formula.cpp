// SPDX-License-Identifier: MIT
#include "formula.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/scanner.h"

namespace monitor::pmu {
namespace {

constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.:=@";
constexpr std::string_view term_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.=,";
constexpr std::string_view modifiers = ":ukh";

class Parser : Scanner {
public:
	Parser(std::string_view text, const IsEvent &is_event) : Scanner(text), is_event_(is_event) {}

	Formula parse()
	{
		Formula formula;
		const TextPosition begin = skip_blanks();
		bool bare_sum = false;
		formula.numerator = sum(bare_sum);
		if (bare_sum && peek() == '/')
			refuse(begin, "put parentheses around a sum that is divided");
		if (take('/'))
			divide(formula);
		check_busy(formula);
		formula.text = trimmed(since(begin.offset));
		formula.unit = unit();
		return formula;
	}

private:
	// Returns the position after them.
	TextPosition skip_blanks()
	{
		take_any(" \t");
		return position();
	}
	bool take(char c)
	{
		skip_blanks();
		return accept({&c, 1});
	}

	// One word that is not an event.
	std::string unit()
	{
		const TextPosition begin = skip_blanks();
		std::string unit(rest());
		if (unit.empty())
			return unit;
		unit.resize(unit.find_last_not_of(" \t") + 1);
		if (std::string_view("+*()").find(unit[0]) != std::string_view::npos)
			refuse(begin, fmt::format("unexpected \"{}\"", unit[0]));
		if (unit.find_first_of(" \t") != std::string::npos || is_event_(unit))
			refuse(begin, fmt::format("\"{}\" is not a unit: an operator is missing before it", unit));
		return unit;
	}

	void divide(Formula &formula)
	{
		const TextPosition begin = skip_blanks();
		const std::string_view word = Scanner(rest()).take_any(name_characters);
		formula.per = word == "time"      ? Per::time
			      : word == "seconds" ? Per::seconds
			      : word == "count"   ? Per::occurrences
						  : Per::counters;
		if (formula.per != Per::counters) {
			skip(word.size());
			return;
		}
		bool bare_sum = false;
		formula.denominator = sum(bare_sum);
		if (bare_sum)
			refuse(begin, "put parentheses around a sum that is a divisor");
	}

	// A sum of terms; `bare` is set if it has several, without parentheses.
	std::vector<FormulaTerm> sum(bool &bare)
	{
		const bool parentheses = take('(');
		std::vector<FormulaTerm> terms = {term()};
		while (take('+'))
			terms.push_back(term());
		if (parentheses && !take(')'))
			refuse(position(), "a closing parenthesis is missing");
		bare = !parentheses && terms.size() > 1;
		return terms;
	}

	FormulaTerm term()
	{
		FormulaTerm term;
		for (skip_blanks(); is_digit(peek()) || peek() == '.'; skip_blanks()) {
			term.factor *= number();
			if (!take('*'))
				refuse(position(), "an asterisk and an event are missing after the number");
		}
		term.position = position();
		term.event = event();
		if (term.event != "busy" || !take('('))
			return term;
		term.busy = true;
		term.position = skip_blanks();
		term.event = event();
		if (!take(')'))
			refuse(position(), "a closing parenthesis is missing after busy(" + term.event);
		return term;
	}

	double number()
	{
		double value = 0;
		const char *begin = rest().data(), *end = begin + rest().size();
		const auto [stopped, error] = std::from_chars(begin, end, value);
		if (error != std::errc() || !std::isfinite(value) || value <= 0)
			refuse(position(), "this is not a factor: it must be a number above 0");
		skip(static_cast<std::size_t>(stopped - begin));
		return value;
	}

	std::string event()
	{
		const TextPosition begin = skip_blanks();
		if (at_end())
			refuse(begin, "an event is missing at the end");
		if (!is_letter(peek()))
			refuse(begin, fmt::format("an event is missing before \"{}\"", rest()));
		std::string word(take_any(name_characters));
		if (word == "time" || word == "seconds" || word == "count")
			refuse(begin, fmt::format("\"{}\" is not an event: it can only be a divisor", word));
		Scanner ahead(rest());
		if (!ahead.accept("/") || ahead.take_any(term_characters).empty() || !ahead.accept("/"))
			return word;
		ahead.take_any(modifiers);
		// "cycles/cpu/event=0x3c/": the divisor is an event of a PMU, whose terms follow the second slash.
		if (term_characters.find(ahead.peek()) != std::string_view::npos && is_event_(word))
			return word;
		return word += skip(ahead.at());
	}

	void check_busy(const Formula &formula) const
	{
		for (const auto *terms : {&formula.numerator, &formula.denominator})
			for (const FormulaTerm &term : *terms)
				if (term.busy && formula.per != Per::time)
					refuse(term.position, "busy() is a time: divide it by `time`");
	}

	const IsEvent &is_event_;
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
	return has_value && terms.find_first_not_of(term_characters) == std::string::npos;
}

} // namespace monitor::pmu
