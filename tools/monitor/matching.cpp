// SPDX-License-Identifier: MIT
#include "matching.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "answers/matcher/expression_matcher.h"
#include "answers/trigger/trigger_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/quoting.h"
#include "base/scanner.h"
#include "reading/ctf/interpret.h"
#include "recording/recorder/user.h"

namespace monitor {
namespace {

// What a description can hold, and a terminal show.
bool is_name(const std::string &text)
{
	return !text.empty() && text.size() <= 60 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
		return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == ':';
	});
}

// "NAME=REST": throws Error with the example if it is not.
std::pair<std::string, std::string> named(const std::string &text, const char *option, const char *example)
{
	const std::size_t equals = text.find('=');
	const std::string name = text.substr(0, equals);
	if (equals == std::string::npos || !is_name(name))
		throw Error(fmt::format("{} {}: give it a name of letters, digits and _-.: as in {} '{}'", option,
					printable(text), option, example));
	return {name, text.substr(equals + 1)};
}

void expect_new(const auto &names, const std::string &name, const char *option)
{
	if (std::ranges::any_of(names, [&](const auto &other) { return other.name == name; }))
		throw Error(fmt::format("{} {}: there are two of this name", option, name));
}

// Where these characters are, outside of quotes and brackets; npos: nowhere.
std::size_t find_outside(const std::string &text, std::string_view what)
{
	const Outside outside = outside_of(text);
	for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
		if (outside.is_at[at])
			return at;
	return std::string::npos;
}

// Takes " per KEY" off the end.
void take_keys(const std::string &option, NamedTime &time)
{
	if (time.end.ends_with(" per"))
		throw Error(
		    fmt::format("{}: after `per` follows a key: tid, cpu, or a number that both events have", option));
	const std::size_t per = find_outside(time.end, " per ");
	if (per == std::string::npos)
		return;
	const std::string key = trimmed(time.end.substr(per + 5));
	const std::size_t equals = key.find('=');
	time.start_key = trimmed(key.substr(0, equals));
	time.end_key = equals == std::string::npos ? time.start_key : trimmed(key.substr(equals + 1));
	time.end.resize(per);
	for (const std::string *name : {&time.start_key, &time.end_key})
		if (!is_name(*name))
			throw Error(
			    fmt::format("{}: after `per` follows the name of a number that both events have, or "
					"two as in pid=next_pid, not '{}'",
					option, printable(key)));
}

} // namespace

void expect_utf8(const std::string &option, const std::string &text)
{
	if (!is_utf8(text))
		throw Error(fmt::format(
		    "{} has bytes that are not UTF-8, which the recording cannot keep: write such a byte as "
		    "\\xff, with its two hexadecimal digits",
		    option));
}

record::Matching matching(const MatcherRequest &request)
{
	if (request.filter)
		expect_utf8("--filter", *request.filter);
	for (const NamedExpression &count : request.counts)
		expect_utf8("--count " + printable(count.name), count.expression);
	for (const NamedTrigger &trigger : request.triggers)
		expect_utf8("trigger " + printable(trigger.name), trigger.when + trigger.what);
	for (const NamedTime &time : request.times)
		expect_utf8("--time " + printable(time.name), time.start + time.end);
	record::Matching made;
	made.request = request;
	made.make = [request](const std::string &text, std::uint64_t begin_time,
			      bool more_classes) -> std::shared_ptr<const EventMatcher> {
		std::string why;
		const auto description = trace::read_description(text, why);
		if (!description)
			throw Error("the description of the events cannot be read: " + why);
		return matcher::make_matcher(request, *description, begin_time, more_classes);
	};
	return made;
}

std::vector<NamedExpression> parse_counts(const std::vector<std::string> &counts)
{
	std::vector<NamedExpression> parsed;
	for (const std::string &count : counts) {
		const auto [name, expression] = named(count, "--count", "fsyncs=id == \"fsync\"");
		expect_new(parsed, name, "--count");
		parsed.push_back({name, expression});
	}
	if (parsed.size() > EDC_MATCH_COUNTS)
		throw Error(fmt::format("--count: there can be {} counts, not {}", EDC_MATCH_COUNTS, parsed.size()));
	return parsed;
}

std::vector<NamedTime> parse_times(const std::vector<std::string> &times)
{
	std::vector<NamedTime> parsed;
	for (const std::string &time : times) {
		const auto [name, events] = named(
		    time, "--time", "fsync=name == \"sys_enter\" and id == \"fsync\" .. name == \"sys_exit\" per tid");
		const std::string option = "--time " + name;
		expect_new(parsed, name, "--time");
		const std::size_t between = find_outside(events, "..");
		NamedTime &added = parsed.emplace_back();
		added.name = name;
		added.start = trimmed(events.substr(0, between));
		if (between != std::string::npos)
			added.end = trimmed(events.substr(between + 2));
		take_keys(option, added);
		if (added.start.empty() || added.end.empty())
			throw Error(fmt::format("{}: give what starts it, then .. and what ends it, as in 'name == "
						"\"irq_handler_entry\" .. name == \"irq_handler_exit\" per cpu'",
						option));
	}
	if (parsed.size() > EDC_TIMES)
		throw Error(fmt::format("--time: there can be {} times, not {}", EDC_TIMES, parsed.size()));
	return parsed;
}

std::vector<trigger::TriggerText> trigger_texts(const std::string &untrusted_file_or_text)
{
	constexpr std::size_t max_bytes = 1 << 20;
	if (untrusted_file_or_text.find("=>") != std::string::npos)
		return {trigger::TriggerText(untrusted_file_or_text)};
	const std::string text = [&] {
		// Who may not read the file must not see it in a message.
		const record::AsUser as(record::invoking_user());
		try {
			return read_file(untrusted_file_or_text, max_bytes + 1);
		} catch (const Error &error) {
			throw Error(fmt::format("this file of triggers cannot be read: {}", printable(error.what())));
		}
	}();
	if (text.size() > max_bytes)
		throw Error(printable(untrusted_file_or_text) + " is too large for a file of triggers: more than 1 MB");
	return trigger::texts_in(text, printable(untrusted_file_or_text));
}

} // namespace monitor
