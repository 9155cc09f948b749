// SPDX-License-Identifier: MIT
#include "trigger_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/quoting.h"
#include "base/scanner.h"
#include "monitor/trigger.h"

namespace monitor::trigger {
namespace {

constexpr std::uint64_t min_every_ns = 1'000'000;
constexpr unsigned usual_per_minute = 10, max_per_minute = 600; // of run
constexpr std::size_t max_bytes = 16384;                        // of a trigger
constexpr std::size_t max_name = 60;                            // what a description can hold, and a terminal show

bool is_letter(char c)
{
	return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// In one line.
std::string joined(std::string_view text)
{
	std::string line;
	for (std::size_t at = 0; at < text.size(); ++at) {
		if (text[at] != '\n') {
			line += text[at];
			continue;
		}
		while (at + 1 < text.size() && is_blank(text[at + 1]))
			++at;
		line += ' ';
	}
	return line;
}

bool is_name(std::string_view text)
{
	return !text.empty() && text.size() <= max_name && !std::isdigit(static_cast<unsigned char>(text[0])) &&
	       std::ranges::all_of(text, [](char c) { return is_letter(c) || c == '-'; });
}

// Where `what` is outside of quotes and parentheses; npos: nowhere. Words are whole ones, with any space between them.
struct Found {
	std::size_t at = std::string::npos, end = std::string::npos;

	explicit operator bool() const { return at != std::string::npos; }
};

Found find(std::string_view text, std::string_view what, std::size_t from = 0)
{
	const Outside outside = outside_of(text);
	const bool is_word = is_letter(what[0]);
	for (std::size_t at = from; at < text.size(); ++at) {
		if (!outside.is_at[at] || (is_word && at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '.')))
			continue;
		std::size_t end = at, next = 0;
		while (next < what.size() && end < text.size()) {
			if (what[next] == ' ' && is_blank(text[end])) {
				while (end < text.size() && is_blank(text[end]))
					++end;
				++next;
			} else if (what[next] == text[end]) {
				++end;
				++next;
			} else {
				break;
			}
		}
		if (next == what.size() && (!is_word || end == text.size() || !is_letter(text[end])))
			return {at, end};
	}
	return {};
}

Found find_last(std::string_view text, std::string_view what)
{
	Found last;
	for (Found found = find(text, what); found; found = find(text, what, found.end))
		last = found;
	return last;
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
		if (outside_of(text_).has_open_quote)
			fail(
			    "a quoted text does not end: a \" or ' is missing, or the text that has one is not quoted");
		const Found arrow = find(text_, "=>");
		if (!arrow)
			fail(fmt::format(
			    "there is no => in '{}': write WHEN => DO, as in 'name == \"sys_enter\" and id == "
			    "\"fsync\" => snapshot'",
			    printable(trimmed(text_))));
		std::string when = text_.substr(0, arrow.at);
		if (const Found colon = find(when, ":")) {
			made_.name = trimmed(when.substr(0, colon.at));
			if (!is_name(made_.name))
				fail(fmt::format(
				    "'{}' is not a name: it begins with a letter and has letters, digits, _ and - "
				    "only",
				    printable(made_.name)));
			option_ = made_.title();
			when = when.substr(colon.end);
		}
		made_.when = trimmed(when);
		made_.what = trimmed(text_.substr(arrow.end));
		if (made_.when == "at start") {
			made_.kind = EDC_TRIGGER_START;
		} else if (const Found every = find(made_.when, "every"); every && every.at == 0) {
			made_.kind = EDC_TRIGGER_EVERY;
			made_.within_ns = parse_duration(trimmed(made_.when.substr(every.end)), option_.c_str());
			if (made_.within_ns < min_every_ns)
				fail("`every T`: T is 1ms or more");
		} else {
			take_per(when);
			take_condition(when);
		}
		for (const std::string &part : split(made_.what))
			made_.acts.push_back(act(part));
		if (made_.first.empty() && made_.does(TriggerAct::Kind::signal))
			fail("`signal` is for the process of an event, and this trigger has no event");
		return made_;
	}

private:
	[[noreturn]] void fail(const std::string &sentence) const { throw Error(option_ + ": " + sentence); }

	static std::vector<std::string> split(const std::string &text)
	{
		std::vector<std::string> parts;
		std::size_t from = 0;
		for (Found comma = find(text, ","); comma; comma = find(text, ",", comma.end)) {
			parts.push_back(trimmed(text.substr(from, comma.at - from)));
			from = comma.end;
		}
		parts.push_back(trimmed(text.substr(from)));
		return parts;
	}

	// Takes " per KEY" off the end.
	void take_per(std::string &when)
	{
		const Found per = find_last(when, "per");
		if (!per)
			return;
		const std::string key = trimmed(when.substr(per.end));
		const std::size_t equals = key.find('=');
		made_.first_key = trimmed(key.substr(0, equals));
		made_.second_key = equals == std::string::npos ? made_.first_key : trimmed(key.substr(equals + 1));
		for (const std::string *name : {&made_.first_key, &made_.second_key})
			if (!is_name(*name))
				fail(fmt::format(
				    "after `per` at the end follows the name of a number that the events have, "
				    "or two as in pid=next_pid, not '{}'",
				    printable(key)));
		when.resize(per.at);
	}

	void take_condition(std::string &when)
	{
		if (find(when, "followed by") && !find(when, "not followed by"))
			fail("write `A then B`, or `A not followed by B within T`");
		const Found missing = find(when, "not followed by"), then = find(when, "then"),
			    within = find_last(when, "within");
		if (within) {
			made_.within_ns = parse_duration(trimmed(when.substr(within.end)), option_.c_str());
			when.resize(within.at);
		}
		if (missing) {
			made_.kind = EDC_TRIGGER_MISSING;
			if (!within)
				fail("`not followed by` needs a time: add `within T`, such as within 100ms");
			take_both(when, missing);
		} else if (then) {
			made_.kind = EDC_TRIGGER_THEN;
			take_both(when, then);
		} else if (const Found times = find_last(when, "times");
			   times && trimmed(when.substr(times.end)).empty()) {
			made_.kind = EDC_TRIGGER_TIMES;
			if (!within)
				fail("`N times` needs a time: add `within T`, such as within 1s");
			take_times(when.substr(0, times.at));
		} else {
			made_.kind = EDC_TRIGGER_EVENT;
			made_.first = trimmed(when);
			if (within)
				fail("`within` is for `A then B`, `A not followed by B` and `N times`");
			if (!made_.first_key.empty())
				fail("`per` is for `A then B`, `A not followed by B` and `N times`");
		}
		if (made_.first.empty() || (made_.second.empty() && (missing || then)))
			fail("a condition is missing, such as name == \"sys_enter\"");
	}

	void take_times(const std::string &text)
	{
		std::string condition = trimmed(text);
		std::size_t digits = condition.size();
		while (digits > 0 && std::isdigit(static_cast<unsigned char>(condition[digits - 1])))
			--digits;
		unsigned times = 0;
		std::from_chars(condition.data() + digits, condition.data() + condition.size(), times);
		if (times < 2 || times > EDC_MAX_TIMES)
			fail(fmt::format("write a number from 2 to {} before `times`", EDC_MAX_TIMES));
		made_.times = times;
		made_.first = trimmed(condition.substr(0, digits));
	}

	void take_both(const std::string &when, const Found &between)
	{
		made_.first = trimmed(when.substr(0, between.at));
		made_.second = trimmed(when.substr(between.end));
		const Found as = find_last(made_.first, "as");
		if (!as)
			return;
		const std::string name = trimmed(std::string_view(made_.first).substr(as.end));
		if (!is_name(name))
			fail(fmt::format("after `as` follows a name for the first event, not '{}'", printable(name)));
		made_.first = trimmed(made_.first.substr(0, as.at));
		take_join(name);
	}

	// Takes `FIELD == a.FIELD` off the second condition: the key.
	void take_join(const std::string &name)
	{
		std::string rest;
		bool is_joined = false;
		for (const std::string &part : conjuncts(made_.second)) {
			const Found equals = find(part, "==");
			std::string left = trimmed(part.substr(0, std::min(equals.at, part.size()))),
				    right = equals ? trimmed(part.substr(equals.end)) : "";
			if (left.starts_with(name + "."))
				std::swap(left, right);
			if (!right.starts_with(name + ".") || !is_name(left) ||
			    !is_name(right.substr(name.size() + 1))) {
				rest += (rest.empty() ? "" : " and ") + part;
				continue;
			}
			if (is_joined || !made_.first_key.empty())
				fail("the events can have one number in common, not several");
			is_joined = true;
			made_.first_key = right.substr(name.size() + 1);
			made_.second_key = left;
		}
		if (!is_joined || find(rest, name + "."))
			fail(fmt::format("after `as {0}` the second condition names a number that both events have: "
					 "... and FIELD == {0}.FIELD",
					 name));
		made_.second = rest;
	}

	static std::vector<std::string> conjuncts(const std::string &text)
	{
		std::vector<std::string> parts;
		std::size_t from = 0;
		if (find(text, "or") || find(text, "||"))
			return {text};
		for (;;) {
			Found next = find(text, "and", from);
			if (const Found sign = find(text, "&&", from); sign.at < next.at)
				next = sign;
			parts.push_back(trimmed(text.substr(from, next ? next.at - from : std::string::npos)));
			if (!next)
				return parts;
			from = next.end;
		}
	}

	// "'text'", "\"text\"", or text.
	static std::string unquoted(const std::string &text)
	{
		const bool is_quoted =
		    text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
		return is_quoted ? text.substr(1, text.size() - 2) : text;
	}

	TriggerAct act(const std::string &text) const
	{
		const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
		const std::string word = text.substr(0, space), rest = trimmed(text.substr(space));
		TriggerAct made;
		if (word == "snapshot") {
			made.kind = TriggerAct::Kind::snapshot;
			take_window(rest, made);
		} else if (word == "mark") {
			made.text = unquoted(rest);
		} else if (word == "end" && rest.empty()) {
			made.kind = TriggerAct::Kind::end;
		} else if ((word == "start" || word == "stop") && rest.empty()) {
			made.kind = word == "start" ? TriggerAct::Kind::start : TriggerAct::Kind::stop;
		} else if (word == "stack" && rest.empty()) {
			made.kind = TriggerAct::Kind::stack;
		} else if (word == "sample" && rest.empty()) {
			made.kind = TriggerAct::Kind::sample;
		} else if (word == "read" && rest.empty()) {
			made.kind = TriggerAct::Kind::read;
		} else if (word == "reset" && rest.empty()) {
			made.kind = TriggerAct::Kind::reset;
		} else if (word == "run") {
			made.kind = TriggerAct::Kind::run;
			take_command(rest, made);
		} else if (word == "signal") {
			made.kind = TriggerAct::Kind::signal;
			made.number = signal_number(rest);
		} else {
			fail(fmt::format(
			    "'{}' is not something to do; there is: snapshot [before T] [after T], mark TEXT, "
			    "start, stop, sample, read, reset, stack, end, run 'CMD' [N per minute], signal SIG",
			    printable(text)));
		}
		return made;
	}

	void take_command(const std::string &text, TriggerAct &to) const
	{
		const std::string what = "write run 'CMD', or run 'CMD' N per minute";
		if (text.empty() || (text[0] != '\'' && text[0] != '"'))
			fail(what);
		const std::size_t end = text.find(text[0], 1);
		if (end == std::string::npos || end == 1)
			fail(what);
		to.text = text.substr(1, end - 1);
		to.number = usual_per_minute;
		const std::string rest = trimmed(text.substr(end + 1));
		if (rest.empty())
			return;
		const auto [unit, error] = std::from_chars(rest.data(), rest.data() + rest.size(), to.number);
		if (error != std::errc() || to.number == 0 || to.number > max_per_minute ||
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

	void take_window(std::string rest, TriggerAct &to) const
	{
		while (!rest.empty()) {
			const std::size_t space = std::min(rest.find_first_of(" \t\n"), rest.size());
			const std::string word = rest.substr(0, space);
			rest = trimmed(rest.substr(space));
			const std::size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
			if (word != "before" && word != "after")
				fail(fmt::format("snapshot [before T] [after T]: '{}' is neither", printable(word)));
			const std::uint64_t ns = parse_duration(rest.substr(0, end), option_.c_str());
			if (word == "before")
				to.before_ns = ns;
			else
				to.after_ns = ns;
			rest = trimmed(rest.substr(end));
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
		throw Error(fmt::format("there can be {} triggers, not {}", EDC_TRIGGERS, untrusted_texts.size()));
	std::vector<NamedTrigger> triggers;
	for (const TriggerText &text : untrusted_texts) {
		NamedTrigger made = Parser(text, triggers.size() + 1).parse();
		if (std::ranges::find(triggers, made.name, &NamedTrigger::name) != triggers.end())
			throw Error(fmt::format("{}: another trigger has this name", made.title()));
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
		if (const Found comment = find(line, "#"))
			line.resize(comment.at);
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
