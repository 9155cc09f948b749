// SPDX-License-Identifier: MIT
#include "rule_file.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/nearest.h"
#include "base/share.h"
#include "trace/text.h"

namespace monitor::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_bytes = 1u << 20, max_rules = 200;

const std::vector<std::string> words = {"rule",    "when",    "then",    "only then",  "never",        "for",
					"holds",   "after",   "key",     "within",     "not between",  "until",
					"same",    "follows", "forget",  "begin",      "among",        "leaves",
					"members", "nested",  "at most", "allow open", "before begin", "needs"};

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

	std::vector<RuleText> parse(std::string_view text)
	{
		while (!text.empty()) {
			const std::size_t end = std::min(text.find('\n'), text.size());
			++line_;
			read_line(trimmed(text.substr(0, end)));
			text.remove_prefix(std::min(end + 1, text.size()));
		}
		if (rules_.empty())
			throw Error(fmt::format("{}: there is no rule in it", name_));
		return std::move(rules_);
	}

private:
	std::string where() const { return fmt::format("{}, line {}", name_, line_); }

	void read_line(const std::string &line)
	{
		if (line.empty() || line.front() == '#')
			return;
		const std::size_t colon = line.find(':');
		if (colon == std::string::npos)
			throw Error(where() + ": expected a word and a colon, such as `when: name == \"sys_enter\"`");
		take(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
	}

	void take(const std::string &word, const std::string &value)
	{
		if (std::find(words.begin(), words.end(), word) == words.end())
			throw Error(fmt::format("{}: {} is not a word of rules.{}", where(), trace::readable(word),
						nearest(word, words)));
		if (value.empty())
			throw Error(fmt::format("{}: nothing stands behind `{}:`", where(), word));
		if (word == "rule") {
			if (rules_.size() == max_rules)
				throw Error(fmt::format("{}: more than {} rules are not read", where(), max_rules));
			rules_.push_back({value, where(), {}});
			return;
		}
		if (rules_.empty())
			throw Error(fmt::format("{}: `{}:` belongs below a `rule:`", where(), word));
		if (!rules_.back().words.emplace(word, Word{value, where()}).second)
			throw Error(fmt::format("{}: the rule has `{}:` twice", where(), word));
	}

	const std::string &name_;
	std::size_t line_ = 0;
	std::vector<RuleText> rules_;
};

std::string known_files()
{
	std::vector<std::string> names;
	std::error_code error;
	for (fs::directory_iterator entry(share_path("rules"), error), end; !error && entry != end;
	     entry.increment(error))
		if (entry->path().extension() == ".rules")
			names.push_back(entry->path().stem().string());
	std::sort(names.begin(), names.end());
	return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

std::vector<RuleText> parse_rules(const std::string &untrusted_text, const std::string &name)
{
	if (untrusted_text.size() > max_file_bytes)
		throw Error(name + " is larger than 1 MiB: these are no rules");
	return Parser(name).parse(untrusted_text);
}

std::vector<RuleText> load_rules(const std::string &name_or_file)
{
	std::error_code error;
	if (fs::is_regular_file(name_or_file, error))
		return parse_rules(read_text(name_or_file), name_or_file);
	const std::string shipped = name_or_file.find('/') == std::string::npos
					? share_path("rules/" + name_or_file + ".rules")
					: std::string();
	if (shipped.empty() || !fs::is_regular_file(shipped, error))
		throw Error(fmt::format("there are no rules {}; a file, or one of: {}", trace::readable(name_or_file),
					known_files()));
	return parse_rules(read_text(shipped), name_or_file);
}

} // namespace monitor::rules
