// SPDX-License-Identifier: MIT
#include "pattern.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/parse_error.h"
#include "base/scanner.h"
#include "base/suggestions.h"
#include "base/text.h"

namespace monitor::states {
namespace {

using PatternKind = Pattern::Kind;

class PatternParser : Scanner {
public:
	PatternParser(std::string_view text, const Tree &tree) : Scanner(text, "match"), text_(text), tree_(tree)
	{
		if (text.size() > Pattern::max_bytes)
			fail(Pattern::max_bytes, fmt::format("a pattern has at most {} bytes", Pattern::max_bytes));
	}

	Pattern parse()
	{
		skip_blanks();
		if (at_end())
			fail(at(), "the pattern is empty");
		Pattern whole = alternatives(0);
		if (!at_end())
			fail(at(),
			     peek() == ')' ? "this ) closes nothing" : fmt::format("{} has no meaning here", shown()));
		return whole;
	}

private:
	[[noreturn]] void fail(std::size_t at, const std::string &sentence) const
	{
		throw ParseError("match", text_, at, sentence);
	}
	std::string shown() const { return readable(std::string_view(rest()).substr(0, 1)); }

	void skip_blanks() { take_any(" \t\n\r"); }
	bool take_sign(char sign)
	{
		if (at_end() || peek() != sign)
			return false;
		take();
		skip_blanks();
		return true;
	}

	Pattern alternatives(std::size_t depth)
	{
		if (depth == Pattern::max_depth)
			fail(at(), fmt::format("a pattern is at most {} levels deep", Pattern::max_depth));
		Pattern made;
		made.kind = PatternKind::alternatives;
		do
			made.children.push_back(sequence(depth));
		while (take_sign('|'));
		if (made.children.size() == 1)
			return std::move(made.children.front());
		return made;
	}

	Pattern sequence(std::size_t depth)
	{
		Pattern made;
		const std::size_t begin = at();
		while (!at_end() && peek() != '|' && peek() != ')')
			if (Pattern next = repeated(depth); !next.is_nothing())
				made.children.push_back(std::move(next));
		if (at() == begin)
			fail(at(), "a state is missing here");
		return made;
	}

	Pattern repeated(std::size_t depth)
	{
		Pattern made = atom(depth);
		for (bool is_first = true;; is_first = false) {
			const std::size_t begin = at();
			Pattern repetition;
			repetition.kind = PatternKind::repetition;
			if (take_sign('*'))
				repetition.min = 0, repetition.max = Pattern::unlimited;
			else if (take_sign('+'))
				repetition.max = Pattern::unlimited;
			else if (take_sign('?'))
				repetition.min = 0;
			else if (take_sign('{'))
				repetition_counts(repetition);
			else
				return made;
			if (!is_first)
				fail(begin, "this repeats a repetition: use parentheses");
			if (repetition.max == 0 || made.is_nothing()) {
				made = {};
				continue;
			}
			repetition.children.push_back(std::move(made));
			made = std::move(repetition);
		}
	}

	// M}, M,}, M,N}
	void repetition_counts(Pattern &repetition)
	{
		const std::size_t begin = at();
		repetition.min = repetition.max = repetition_count();
		if (take_sign(','))
			repetition.max = is_digit(peek()) ? repetition_count() : Pattern::unlimited;
		if (!take_sign('}'))
			fail(at(), "a } is missing after a number of repetitions, such as {2,5}");
		if (repetition.max < repetition.min)
			fail(begin, "the first number of repetitions is larger than the second");
	}
	std::uint32_t repetition_count()
	{
		if (!is_digit(peek()))
			fail(at(), "a number of repetitions is missing, such as {3}");
		constexpr std::uint32_t max = Pattern::max_repetitions;
		const std::uint64_t number =
		    number_below(max + 1, fmt::format("at most {} repetitions can be asked for", max));
		skip_blanks();
		return static_cast<std::uint32_t>(number);
	}
	std::uint64_t number_below(std::uint64_t end, const std::string &sentence)
	{
		const std::size_t begin = at();
		const std::optional<std::uint64_t> number = digits(10);
		if (!number || *number >= end)
			fail(begin, sentence);
		return *number;
	}

	Pattern atom(std::size_t depth)
	{
		if (take_sign('(')) {
			Pattern inner = alternatives(depth + 1);
			if (!take_sign(')'))
				fail(at(), "a ) is missing");
			return inner;
		}
		Pattern made;
		made.kind = PatternKind::states;
		if (take_sign('['))
			made.states = state_set();
		else if (take_sign('.'))
			made.states = others(no_states());
		else
			add_state(made.states = no_states());
		return made;
	}

	std::vector<bool> no_states() const { return std::vector<bool>(tree_.count()); }

	// The tree's other states: PAUSE and unknown only match by name.
	std::vector<bool> others(std::vector<bool> states) const
	{
		states.flip();
		states[tree_.pause()] = states[tree_.unknown()] = false;
		return states;
	}

	// After [
	std::vector<bool> state_set()
	{
		const bool is_others = take_sign('^');
		std::vector<bool> states = no_states();
		const std::size_t begin = at();
		while (!at_end() && peek() != ']')
			add_state(states);
		if (at() == begin)
			fail(at(), "a state is missing in []");
		if (!take_sign(']'))
			fail(at(), "a ] is missing");
		return is_others ? others(std::move(states)) : states;
	}

	// A number, or a path of names, and the blanks after it
	void add_state(std::vector<bool> &states)
	{
		const std::size_t begin = at();
		if (is_digit(peek())) {
			const State end = tree_.pause();
			states[number_below(end, fmt::format("this tree has the states 0 to {}", end - 1))] = true;
			return skip_blanks();
		}
		while (is_in_word() || peek() == '-' || peek() == '/')
			take();
		const std::string_view path = since(begin);
		if (path.empty())
			fail(begin, at_end() ? "a state is missing at the end"
					     : fmt::format("a state is expected here, not {}", shown()));
		const std::vector<State> found = tree_.states_of(path);
		if (found.empty())
			fail(begin, fmt::format("this tree has no state {}.{}", readable(path), near(path)));
		for (const State state : found)
			states[state] = true;
		skip_blanks();
	}

	std::string near(std::string_view path) const
	{
		std::vector<std::string> names = {std::string(pause_name), std::string(unknown_name)};
		for (const Node &node : tree_.nodes())
			if (std::ranges::find(names, node.name) == names.end())
				names.push_back(node.name);
		return suggestions(std::string(path.substr(path.rfind('/') + 1)), names);
	}

	std::string_view text_;
	const Tree &tree_;
};

} // namespace

Pattern parse_pattern(std::string_view untrusted_text, const Tree &tree)
{
	return PatternParser(untrusted_text, tree).parse();
}

} // namespace monitor::states
