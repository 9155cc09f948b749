// SPDX-License-Identifier: MIT
#include "condition.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/scanner.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "figure.h"
#include "reading/filter/condition.h"
#include "reading/filter/text_match.h"

namespace monitor::archive {
namespace {

using filter::Expression;
using filter::Relation;
using ExpressionKind = Expression::Kind;

constexpr std::string_view text_names[] = {"name",  "project", "experiment", "measurement", "note",   "date",
					   "added", "user",    "host",       "kernel",      "command"};
constexpr std::string_view number_names[] = {"elapsed", "tokens", "lost", "bytes", "complete"};

bool contains(const auto &names, const std::string &name)
{
	return std::ranges::find(names, name) != std::end(names);
}

bool is_date(const std::string &name)
{
	return name == "date" || name == "added";
}

// "2026-11", "2026-11-01", "2026-11-01T10:30": 7 to 19 characters; 0: no date.
std::size_t date_length(std::string_view text)
{
	constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
	std::size_t length = 0;
	while (length < std::min(shape.size(), text.size()) &&
	       (shape[length] == 'd' ? is_digit(text[length]) : text[length] == shape[length]))
		++length;
	constexpr std::size_t lengths[] = {19, 16, 13, 10, 7};
	const auto *fits = std::ranges::find_if(lengths, [&](std::size_t each) { return each <= length; });
	return fits == std::end(lengths) ? 0 : *fits;
}

// Whether a text of this shape is a valid date, with the precision as written.
bool is_valid_date(std::string_view date)
{
	const auto part = [date](std::size_t at, int otherwise) {
		return at < date.size() ? (date[at] - '0') * 10 + (date[at + 1] - '0') : otherwise;
	};
	const std::chrono::year year(part(0, 0) * 100 + part(2, 0));
	const std::chrono::month month(static_cast<unsigned>(part(5, 1)));
	return (year / month / static_cast<unsigned>(part(8, 1))).ok() && part(11, 0) < 24 && part(14, 0) < 60 &&
	       part(17, 0) <= 60;
}

// Quotes dates, as FDL would parse them as subtractions.
std::string with_quoted_dates(const std::string &text)
{
	std::string made;
	char quote = 0;
	for (std::size_t at = 0; at < text.size();) {
		const bool begins_word = at == 0 || !(is_letter(text[at - 1]) || is_digit(text[at - 1]));
		if (const std::size_t length =
			begins_word && !quote ? date_length(std::string_view(text).substr(at)) : 0) {
			made += '"' + text.substr(at, length) + '"';
			at += length;
			continue;
		}
		if (quote && text[at] == '\\' && at + 1 < text.size())
			made += text[at++];
		else if (text[at] == quote)
			quote = 0;
		else if (!quote && (text[at] == '"' || text[at] == '`'))
			quote = text[at];
		made += text[at++];
	}
	return made;
}

std::optional<std::string> text_of(const std::string &name, const Entry &entry)
{
	const auto known = [](const std::string &text) { return text.empty() ? std::nullopt : std::optional(text); };
	const std::size_t first = entry.name.find('/'), last = entry.name.rfind('/');
	if (name == "name")
		return entry.name;
	if (name == "project")
		return entry.name.substr(0, first);
	if (name == "measurement")
		return entry.name.substr(last == std::string::npos ? 0 : last + 1);
	if (name == "experiment")
		return first == last ? std::nullopt : std::optional(entry.name.substr(first + 1, last - first - 1));
	return known(name == "note"     ? entry.note
		     : name == "date"   ? entry.date
		     : name == "added"  ? entry.added
		     : name == "user"   ? entry.user
		     : name == "host"   ? entry.host
		     : name == "kernel" ? entry.kernel
					: entry.command);
}

std::optional<double> number_of(const std::string &name, const Entry &entry)
{
	const auto real = [](const std::optional<std::uint64_t> &number) {
		return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
	};
	if (name == "elapsed")
		return entry.elapsed_ns;
	if (name == "tokens")
		return real(entry.tokens);
	if (name == "lost")
		return real(entry.lost);
	if (name == "bytes")
		return real(entry.bytes);
	if (name == "complete")
		return entry.complete ? 1 : 0;
	const auto figure = entry.figures.find(name);
	return figure == entry.figures.end() ? std::nullopt : figure->second;
}

// Compares as many characters of the date as the constant has.
bool date_matches(const Expression &condition, const std::string &date)
{
	if (condition.kind == ExpressionKind::comparison)
		return filter::holds<std::string_view>(
		    condition.relation, date.substr(0, condition.children[1].text.size()), condition.children[1].text);
	const bool is_in =
	    std::any_of(condition.children.begin() + 1, condition.children.end(), [&](const Expression &each) {
		    const auto cut = [&](const Expression &to) { return date.substr(0, to.text.size()); };
		    if (each.kind == ExpressionKind::range)
			    return cut(each.children[0]) >= each.children[0].text &&
				   cut(each.children[1]) <= each.children[1].text;
		    return cut(each) == each.text;
	    });
	return is_in == (condition.relation == Relation::equal);
}

bool is_time(const std::string &name)
{
	return name == "elapsed" ||
	       (name.find(' ') != std::string::npos && parse_figure(name).unit() == report::Unit::nanoseconds);
}

// 5 would mean 5 ns, which is never intended.
void expect_unit(const Expression &constant)
{
	if (constant.kind == ExpressionKind::number && !constant.number.has_unit && constant.number.real() != 0)
		filter::refuse(constant, "a time needs a unit: ns, us, ms or s");
}

void expect_date(const Expression &constant)
{
	if (constant.kind != ExpressionKind::text || date_length(constant.text) != constant.text.size())
		filter::refuse(constant, "a date is written 2026-11-01, 2026-11 or 2026-11-01T10:30");
	if (!is_valid_date(constant.text))
		filter::refuse(constant, "there is no such date");
}

} // namespace

Condition::Condition(const std::string &untrusted_text)
    : condition_(filter::parse_condition("find", with_quoted_dates(untrusted_text),
					 [this](Expression &comparison) { check(comparison); }))
{
}

void Condition::check(Expression &comparison)
{
	check_name(comparison.children[0]);
	const std::string &name = comparison.children[0].text;
	filter::check_constants(comparison, contains(text_names, name), "a string, a number or a date",
				[&](const Expression &constant) {
					if (is_date(name) && comparison.kind != ExpressionKind::glob)
						expect_date(constant);
					if (is_time(name))
						expect_unit(constant);
				});
}

// A name that is not an entry's own is a figure.
void Condition::check_name(Expression &name)
{
	if (contains(text_names, name.text) || contains(number_names, name.text))
		return;
	if (name.text.find(' ') != std::string::npos) {
		name.text = parse_figure(name.text).text();
		figures_.push_back(name.text);
		return;
	}
	std::vector<std::string> all(std::begin(text_names), std::end(text_names));
	all.insert(all.end(), std::begin(number_names), std::end(number_names));
	filter::refuse(
	    name, fmt::format("a measurement has no {}; it has {}, and figures such as `p99 of fsync` in backquotes.{}",
			      readable(name.text), fmt::join(all, ", "), suggestions(name.text, all)));
}

bool Condition::matches(const Entry &entry) const
{
	return filter::holds(condition_, [&](const Expression &comparison) {
		const std::string &name = comparison.children[0].text;
		if (!contains(text_names, name))
			return filter::takes_value(comparison, number_of(name, entry));
		const auto text = text_of(name, entry);
		const bool compares_dates =
		    is_date(name) && comparison.kind != ExpressionKind::glob && comparison.kind != ExpressionKind::has;
		return text && compares_dates ? date_matches(comparison, *text) : filter::takes_value(comparison, text);
	});
}

} // namespace monitor::archive
