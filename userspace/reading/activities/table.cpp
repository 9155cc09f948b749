// SPDX-License-Identifier: MIT
#include "table.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/data_files.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/keyed_lines.h"
#include "base/ranges.h"
#include "base/suggestions.h"
#include "base/text.h"

namespace monitor::activities {
namespace {

constexpr std::size_t max_activities = 100;

class Parser {
public:
	Parser(std::string_view text, const std::string &name)
	    : name_(name), lines_(text, name, "start: name == \"sys_enter\"")
	{
	}

	Table parse()
	{
		while (lines_.next())
			parse_line(lines_.word(), lines_.value());
		if (table_.activities.empty())
			throw Error("{}: the table has no activity", name_);
		for (const RatioText &ratio : table_.ratios)
			for (const std::string &activity : {ratio.numerator, ratio.denominator})
				expect_activity(ratio, activity);
		return std::move(table_);
	}

private:
	std::string where() const { return lines_.where(); }

	void parse_line(const std::string &word, const std::string &value)
	{
		if (word == "title") {
			table_.title = value;
		} else if (word == "activity") {
			if (table_.activities.size() == max_activities)
				throw Error(where() + ": a table can have at most 100 activities");
			expect_new_name(value);
			DefinitionText &made = table_.activities.emplace_back();
			made.name = value;
			made.where = where();
		} else if (word == "ratio") {
			parse_ratio(value);
		} else {
			parse_property(word, value);
		}
	}

	void parse_property(const std::string &word, const std::string &value)
	{
		static const std::vector<std::string> parts = {"start", "end", "key", "by", "state", "pair", "nested"};
		const auto part = std::ranges::find(parts, word);
		if (part == parts.end())
			throw Error("{}: {} is not a keyword of tables.{}", where(), readable(word),
				    suggestions(word, {"title", "activity", "ratio", "start", "end", "key", "by",
						       "state", "pair", "nested"}));
		if (table_.activities.empty())
			throw Error("{}: {} belongs below an activity", where(), word);
		DefinitionText &activity = table_.activities.back();
		if (word == "nested" && value != "yes" && value != "no")
			throw Error(where() + ": nested must be yes or no");
		if (value.empty())
			throw Error("{}: expected a value after {}:", where(), word);
		if (!seen_.insert(word).second)
			throw Error("{}: {} appears twice in one activity", where(), word);
		if (word == "nested")
			activity.nested = value == "yes";
		else
			*std::array{&activity.start, &activity.end,   &activity.key,
				    &activity.by,    &activity.state, &activity.pair}[static_cast<std::size_t>(
			    part - parts.begin())] = value;
		if (!activity.state.empty() &&
		    (seen_.contains("start") || seen_.contains("end") || seen_.contains("pair") ||
		     seen_.contains("key") || seen_.contains("nested")))
			throw Error(where() + ": an activity is a state, or has a start and an end");
	}

	void expect_new_name(const std::string &name)
	{
		seen_.clear();
		if (name.empty())
			throw Error(where() + ": an activity needs a name");
		for (const DefinitionText &activity : table_.activities)
			if (activity.name == name)
				throw Error("{}: there already is an activity {}", where(), readable(name));
	}

	// NAME = A / B
	void parse_ratio(const std::string &value)
	{
		const std::size_t equal = value.find('='), slash = value.find('/', equal);
		if (equal == std::string::npos || slash == std::string::npos)
			throw Error(where() + ": a ratio is written NAME = ACTIVITY / ACTIVITY");
		table_.ratios.push_back({trimmed(value.substr(0, equal)),
					 trimmed(value.substr(equal + 1, slash - equal - 1)),
					 trimmed(value.substr(slash + 1)), where()});
	}

	void expect_activity(const RatioText &ratio, const std::string &name) const
	{
		const auto known = list_of<std::string>(table_.activities, &DefinitionText::name);
		if (std::ranges::find(known, name) == known.end())
			throw Error("{}: there is no activity {} in this table.{}", ratio.where, readable(name),
				    suggestions(name, known));
	}

	const std::string &name_;
	KeyedLines lines_;
	std::set<std::string> seen_; // keys seen for the current activity
	Table table_;
};

} // namespace

bool Table::has_states() const
{
	return std::ranges::any_of(activities, [](const DefinitionText &text) { return !text.state.empty(); });
}

Table parse_table(const std::string &untrusted_text, const std::string &name)
{
	return Parser(untrusted_text, name).parse();
}

Table load_table(const std::string &name_or_file)
{
	const std::string path = file_or_share(name_or_file, "tables", "table");
	if (path.empty())
		throw Error("unknown table {}; expected a file, or one of: {}", readable(name_or_file),
			    fmt::join(share_names("tables", "table"), ", "));
	return parse_table(read_text(path, KeyedLines::max_text_bytes + 1), name_or_file);
}

Table load_shipped_table(const std::string &name)
{
	const std::string path = share_path("tables/" + name + ".table");
	const std::string text = read_text(path, KeyedLines::max_text_bytes + 1);
	if (text.empty())
		throw Error("the table " + path + " is missing; reinstall monitor or set MONITOR_SHARE");
	return parse_table(text, path);
}

} // namespace monitor::activities
