// SPDX-License-Identifier: MIT
#include "table.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/nearest.h"
#include "base/share.h"
#include "trace/text.h"

namespace monitor::statistics {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_bytes = 1u << 20, max_activities = 100;

std::string trimmed(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\r");
	return first == std::string_view::npos
		   ? ""
		   : std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

class Parser {
public:
	explicit Parser(const std::string &name) : name_(name) {}

	Table parse(std::string_view text)
	{
		while (!text.empty()) {
			const std::size_t end = std::min(text.find('\n'), text.size());
			++line_;
			read_line(trimmed(text.substr(0, end)));
			text.remove_prefix(std::min(end + 1, text.size()));
		}
		if (table_.activities.empty())
			throw Error(fmt::format("{}: the table has no activity", name_));
		for (const RatioText &ratio : table_.ratios)
			for (const std::string &activity : {ratio.numerator, ratio.denominator})
				expect_activity(ratio, activity);
		return std::move(table_);
	}

private:
	std::string where() const { return fmt::format("{}, line {}", name_, line_); }

	void read_line(const std::string &line)
	{
		if (line.empty() || line.front() == '#')
			return;
		const std::size_t colon = line.find(':');
		if (colon == std::string::npos)
			throw Error(where() + ": expected a word and a colon, such as `start: name == \"sys_enter\"`");
		take(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
	}

	void take(const std::string &word, const std::string &value)
	{
		if (word == "title") {
			table_.title = value;
		} else if (word == "activity") {
			if (table_.activities.size() == max_activities)
				throw Error(where() + ": a table of more than 100 activities is not read");
			expect_new_name(value);
			ActivityText &made = table_.activities.emplace_back();
			made.name = value;
			made.where = where();
		} else if (word == "ratio") {
			take_ratio(value);
		} else {
			take_part(word, value);
		}
	}

	void take_part(const std::string &word, const std::string &value)
	{
		static const std::vector<std::string> parts = {"start", "end", "key", "by", "nested"};
		const auto part = std::find(parts.begin(), parts.end(), word);
		if (part == parts.end())
			throw Error(fmt::format(
			    "{}: {} is not a word of tables.{}", where(), trace::readable(word),
			    nearest(word, {"title", "activity", "ratio", "start", "end", "key", "by", "nested"})));
		if (table_.activities.empty())
			throw Error(fmt::format("{}: {} belongs below an activity", where(), word));
		ActivityText &activity = table_.activities.back();
		if (word == "nested" && value != "yes" && value != "no")
			throw Error(where() + ": nested is yes or no");
		if (value.empty())
			throw Error(fmt::format("{}: there is nothing behind {}:", where(), word));
		if (!said_.insert(word).second)
			throw Error(fmt::format("{}: {} is said twice of one activity", where(), word));
		if (word == "nested")
			activity.nested = value == "yes";
		else
			*std::array{&activity.start, &activity.end, &activity.key,
				    &activity.by}[static_cast<std::size_t>(part - parts.begin())] = value;
	}

	void expect_new_name(const std::string &name)
	{
		said_.clear();
		if (name.empty())
			throw Error(where() + ": an activity needs a name");
		for (const ActivityText &activity : table_.activities)
			if (activity.name == name)
				throw Error(
				    fmt::format("{}: there is an activity {} already", where(), trace::readable(name)));
	}

	// NAME = A / B
	void take_ratio(const std::string &value)
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
		std::vector<std::string> known;
		for (const ActivityText &activity : table_.activities)
			known.push_back(activity.name);
		if (std::find(known.begin(), known.end(), name) == known.end())
			throw Error(fmt::format("{}: there is no activity {} in this table.{}", ratio.where,
						trace::readable(name), nearest(name, known)));
	}

	const std::string &name_;
	std::size_t line_ = 0;
	std::set<std::string> said_; // of the last activity
	Table table_;
};

std::string known_tables()
{
	std::vector<std::string> names;
	std::error_code error;
	for (fs::directory_iterator entry(share_path("tables"), error), end; !error && entry != end;
	     entry.increment(error))
		if (entry->path().extension() == ".table")
			names.push_back(entry->path().stem().string());
	std::sort(names.begin(), names.end());
	std::string text;
	for (const std::string &name : names)
		text += (text.empty() ? "" : ", ") + name;
	return text;
}

Error too_large(const std::string &name)
{
	return Error(name + " is larger than 1 MiB: it is no table");
}

Table read_table(const std::string &path, const std::string &name)
{
	std::error_code error;
	if (fs::file_size(path, error) > max_file_bytes && !error)
		throw too_large(name);
	return parse_table(read_text(path), name);
}

} // namespace

Table parse_table(const std::string &untrusted_text, const std::string &name)
{
	if (untrusted_text.size() > max_file_bytes)
		throw too_large(name);
	return Parser(name).parse(untrusted_text);
}

Table load_table(const std::string &name_or_file)
{
	std::error_code error;
	if (fs::is_regular_file(name_or_file, error))
		return read_table(name_or_file, name_or_file);
	const std::string shipped = name_or_file.find('/') == std::string::npos
					? share_path("tables/" + name_or_file + ".table")
					: std::string();
	if (shipped.empty() || !fs::is_regular_file(shipped, error))
		throw Error(fmt::format("there is no table {}; a file, or one of: {}", trace::readable(name_or_file),
					known_tables()));
	return read_table(shipped, name_or_file);
}

} // namespace monitor::statistics
