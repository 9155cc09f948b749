// SPDX-License-Identifier: MIT
#include "trigger_text.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/parse_error.h"
#include "base/quoting.h"
#include "base/scanner.h"
#include "monitor/trigger.h"
#include "reading/filter/pair_text.h"

namespace monitor::trigger {
namespace {

constexpr std::uint64_t min_every_ns = 1'000'000;
constexpr unsigned usual_per_minute = 10, max_per_minute = 600; // of `run`
constexpr std::size_t max_bytes = 16384;                        // of a trigger's text
constexpr std::size_t max_name = 60;                            // fits into a description, and is printable

bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Joins lines.
std::string joined(std::string_view text)
{
	std::string line;
	bool is_indent = false;
	for (const char c : text) {
		if (c == '\n' && !is_indent)
			line += ' ';
		is_indent = c == '\n' || (is_indent && is_blank(c));
		if (!is_indent)
			line += c;
	}
	return line;
}

class Parser {
public:
	Parser(const TriggerText &text, std::size_t number) : text_(joined(text.text))
	{
		made_.name = fmt::format("trigger{}", number);
		made_.where = text.where;
		option_ = made_.title();
	}

	NamedTrigger parse()
	{
		if (text_.size() > max_bytes)
			fail(fmt::format("it is longer than {} bytes", max_bytes));
		const Outside outside(text_);
		if (outside.open_quote() != Outside::npos)
			fail(
			    "a quoted text does not end: a \" or ' is missing, or the text that has one is not quoted");
		const std::size_t arrow = outside.find("=>");
		check_arrow(arrow, outside.open_bracket());
		if (arrow == Outside::npos)
			fail(fmt::format("there is no => in '{}': write WHEN => DO, as in 'name == \"sys_enter\" and "
					 "id == \"fsync\" => snapshot'",
					 printable(trimmed(text_))));
		std::string when = text_.substr(0, arrow);
		if (const std::size_t colon = Outside(when).find(":"); colon != Outside::npos) {
			made_.name = trimmed(when.substr(0, colon));
			if (made_.name.size() > max_name || !is_name(made_.name, "-"))
				fail(fmt::format(
				    "'{}' is not a name: it begins with a letter and has letters, digits, _ and - only",
				    printable(made_.name)));
			option_ = made_.title();
			when = when.substr(colon + 1);
		}
		made_.when = trimmed(when);
		made_.what = trimmed(text_.substr(arrow + 2));
		if (made_.when == "at start") {
			made_.kind = EDC_TRIGGER_START;
		} else if (Outside(made_.when).find("every") == 0) {
			made_.kind = EDC_TRIGGER_EVERY;
			made_.within_ns = parse_duration(trimmed(made_.when.substr(5)), option_.c_str());
			if (made_.within_ns < min_every_ns)
				fail("`every T`: T is 1ms or more");
		} else {
			set_pair(filter::parse_pair(made_.when, option_));
		}
		for (const Outside::Part &part : Outside(made_.what).split({","}))
			made_.acts.push_back(parse_act(part.text));
		if (made_.first.empty() && made_.does(TriggerAct::Kind::signal))
			fail("`signal` is for the process of an event, and this trigger has no event");
		return made_;
	}

private:
	[[noreturn]] void fail(const std::string &sentence) const { throw Error(option_ + ": " + sentence); }

	// Checks that => is not within brackets or quotes.
	void check_arrow(std::size_t arrow, std::size_t open_bracket) const
	{
		const std::size_t inside = arrow == Outside::npos ? text_.find("=>") : Outside::npos;
		if (inside == Outside::npos)
			return;
		if (open_bracket < inside)
			throw ParseError(option_, text_, open_bracket, "this bracket is not closed before the =>");
		throw ParseError(option_, text_, inside,
				 "this => is within brackets or quotes, which have to end before it");
	}

	void set_pair(const filter::PairText &pair)
	{
		using PairKind = filter::PairText::Kind;
		if (pair.kind == PairKind::missing && !pair.within_ns)
			fail("`not followed by` needs a time: add `within T`, such as within 100ms");
		if (pair.kind == PairKind::times && !pair.within_ns)
			fail("`N times` needs a time: add `within T`, such as within 1s");
		made_.kind = pair.kind == PairKind::event   ? EDC_TRIGGER_EVENT
			     : pair.kind == PairKind::then  ? EDC_TRIGGER_THEN
			     : pair.kind == PairKind::times ? EDC_TRIGGER_TIMES
							    : EDC_TRIGGER_MISSING;
		made_.first = pair.start;
		made_.second = pair.end;
		std::tie(made_.first_key, made_.second_key) = pair.one_key(option_);
		made_.within_ns = pair.within_ns;
		made_.times = pair.times;
	}

	// "'text'", "\"text\"", or text.
	static std::string unquoted(const std::string &text)
	{
		const bool is_quoted =
		    text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
		return is_quoted ? text.substr(1, text.size() - 2) : text;
	}

	TriggerAct parse_act(const std::string &text) const
	{
		using ActKind = TriggerAct::Kind;
		static constexpr std::pair<std::string_view, ActKind> words[] = {
		    {"end", ActKind::end},     {"start", ActKind::start},   {"stop", ActKind::stop},
		    {"stack", ActKind::stack}, {"sample", ActKind::sample}, {"read", ActKind::read},
		    {"reset", ActKind::reset}};
		const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
		const std::string word = text.substr(0, space), rest = trimmed(text.substr(space));
		TriggerAct made;
		if (const auto *one = std::ranges::find(words, text, &std::pair<std::string_view, ActKind>::first);
		    one != std::end(words)) {
			made.kind = one->second;
		} else if (word == "snapshot") {
			made.kind = ActKind::snapshot;
			parse_window(rest, made);
		} else if (word == "mark") {
			made.text = unquoted(rest);
		} else if (word == "run") {
			made.kind = ActKind::run;
			parse_command(rest, made);
		} else if (word == "signal") {
			made.kind = ActKind::signal;
			made.number = signal_number(rest);
		} else {
			fail(fmt::format(
			    "'{}' is not something to do; there is: snapshot [before T] [after T], mark TEXT, start, "
			    "stop, sample, read, reset, stack, end, run 'CMD' [N per minute], signal SIG",
			    printable(text)));
		}
		return made;
	}

	void parse_command(const std::string &text, TriggerAct &act) const
	{
		const std::string what = "write run 'CMD', or run 'CMD' N per minute";
		if (text.empty() || (text[0] != '\'' && text[0] != '"'))
			fail(what);
		const std::size_t end = text.find(text[0], 1);
		if (end == std::string::npos || end == 1)
			fail(what);
		act.text = text.substr(1, end - 1);
		act.number = usual_per_minute;
		const std::string rest = trimmed(text.substr(end + 1));
		if (rest.empty())
			return;
		const auto [unit, error] = std::from_chars(rest.data(), rest.data() + rest.size(), act.number);
		if (error != std::errc() || act.number == 0 || act.number > max_per_minute ||
		    trimmed(std::string_view(unit, rest.data() + rest.size())) != "per minute")
			fail(fmt::format("{}: N from 1 to {}", what, max_per_minute));
	}

	unsigned signal_number(const std::string &text) const
	{
		const std::string name = text.starts_with("SIG") ? text.substr(3) : text;
		unsigned number = 0;
		const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
		if (error == std::errc() && end == name.data() + name.size() && number > 0 && number < NSIG)
			return number;
		for (int known = 1; known < NSIG; ++known)
			if (const char *abbreviation = ::sigabbrev_np(known); abbreviation && name == abbreviation)
				return static_cast<unsigned>(known);
		fail(fmt::format("there is no signal '{}': write for example signal SIGUSR1", printable(text)));
	}

	void parse_window(const std::string &text, TriggerAct &act) const
	{
		for (const Outside::Part &part : Outside(text).split({"before", "after"})) {
			if (part.separator.empty() && !part.text.empty())
				fail(fmt::format("snapshot [before T] [after T]: '{}' is neither",
						 printable(part.text)));
			if (part.separator == "before")
				act.before_ns = parse_duration(part.text, option_.c_str());
			if (part.separator == "after")
				act.after_ns = parse_duration(part.text, option_.c_str());
		}
	}

	const std::string text_;
	std::string option_;
	NamedTrigger made_;
};

} // namespace

std::vector<NamedTrigger> parse_triggers(const std::vector<TriggerText> &untrusted_texts)
{
	if (untrusted_texts.size() > EDC_TRIGGERS)
		throw Error("there can be {} triggers, not {}", EDC_TRIGGERS, untrusted_texts.size());
	std::vector<NamedTrigger> triggers;
	for (const TriggerText &text : untrusted_texts) {
		NamedTrigger made = Parser(text, triggers.size() + 1).parse();
		if (std::ranges::find(triggers, made.name, &NamedTrigger::name) != triggers.end())
			throw Error("{}: another trigger has this name", made.title());
		triggers.push_back(std::move(made));
	}
	return triggers;
}

std::vector<TriggerText> texts_in(const std::string &untrusted_file, const std::string &file_name)
{
	std::vector<TriggerText> texts;
	std::size_t from = 0, number = 0;
	while (from < untrusted_file.size()) {
		const std::size_t end = std::min(untrusted_file.find('\n', from), untrusted_file.size());
		std::string line = untrusted_file.substr(from, end - from);
		from = end + 1;
		++number;
		line.resize(std::min(Outside(line).find("#"), line.size()));
		if (trimmed(line).empty())
			continue;
		if (is_blank(line[0]) && !texts.empty())
			texts.back().text += '\n' + line;
		else
			texts.emplace_back(line, file_name.empty() ? "" : fmt::format("{}:{}", file_name, number));
	}
	return texts;
}

} // namespace monitor::trigger
