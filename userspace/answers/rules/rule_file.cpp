// SPDX-License-Identifier: MIT
#include "rule_file.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/data_files.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/keyed_lines.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "reading/filter/pair_text.h"

namespace monitor::rules {
namespace {

constexpr std::size_t max_rules = 200;

const std::vector<std::string> words = {"rule",    "when",    "then",    "only then",  "never",        "for",
					"holds",   "after",   "key",     "within",     "not between",  "until",
					"same",    "follows", "forget",  "begin",      "among",        "leaves",
					"members", "nested",  "at most", "allow open", "before begin", "needs"};

class Parser {
public:
	Parser(std::string_view text, const std::string &name)
	    : name_(name), lines_(text, name, "when: name == \"sys_enter\"")
	{
	}

	std::vector<RuleText> parse()
	{
		while (lines_.next())
			read_line(lines_.word(), lines_.value());
		if (rules_.empty())
			throw Error("{}: it has no rule", name_);
		return std::move(rules_);
	}

private:
	std::string where() const { return lines_.where(); }

	void read_line(const std::string &word, const std::string &value)
	{
		if (std::find(words.begin(), words.end(), word) == words.end()) {
			if (word.empty())
				throw Error("{}: a name is missing before the colon", where());
			if (filter::has_pair(value) || filter::misspells_then(value))
				return read_pair(word, value);
			const std::string similar = suggestions(word, words);
			throw Error("{}: {} is not a keyword of rules.{}", where(), readable(word),
				    similar.empty() ? " A rule in one line is NAME: A then B." : similar);
		}
		if (value.empty())
			throw Error("{}: nothing follows `{}:`", where(), word);
		if (word == "rule")
			return start_rule(value);
		if (rules_.empty())
			throw Error("{}: `{}:` belongs below a `rule:`", where(), word);
		add(word, value);
	}

	void start_rule(const std::string &name)
	{
		if (rules_.size() == max_rules)
			throw Error("{}: more than {} rules are not supported", where(), max_rules);
		rules_.push_back({name, where(), {}});
	}

	// NAME: PAIR
	void read_pair(const std::string &name, const std::string &value)
	{
		const filter::PairText pair = filter::parse_pair(value, where() + ", pair of " + printable(name));
		start_rule(name);
		add("when", pair.start);
		add(pair.kind == filter::PairText::Kind::then ? "then" : "never", pair.end);
		if (pair.within_ns)
			add("within", fmt::format("{}ns", pair.within_ns));
		if (!pair.start_key.empty())
			add("key",
			    fmt::format("{} = {}", fmt::join(pair.start_key, ","), fmt::join(pair.end_key, ",")));
	}

	void add(const std::string &word, const std::string &value)
	{
		if (!rules_.back().words.emplace(word, Word{value, where()}).second)
			throw Error("{}: the rule has `{}:` twice", where(), word);
	}

	const std::string &name_;
	KeyedLines lines_;
	std::vector<RuleText> rules_;
};

} // namespace

std::vector<RuleText> parse_rules(const std::string &untrusted_text, const std::string &name)
{
	return Parser(untrusted_text, name).parse();
}

std::vector<RuleText> load_rules(const std::string &name_or_file)
{
	const std::string path = file_or_share(name_or_file, "rules", "rules");
	if (path.empty())
		throw Error("there are no rules {}; name a file, or one of: {}", readable(name_or_file),
			    fmt::join(share_names("rules", "rules"), ", "));
	return parse_rules(read_text(path, KeyedLines::max_text_bytes + 1), name_or_file);
}

} // namespace monitor::rules
