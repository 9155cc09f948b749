// SPDX-License-Identifier: MIT
#include "rule.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/parse_error.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "reading/activities/definition.h"
#include "reading/filter/parser.h"

namespace monitor::rules {
namespace {

using ExpressionKind = filter::Expression::Kind;

// The keywords of each form: those of its roles, then others that it accepts. A rule has the first form whose `marks`
// are all present.
struct FormWords {
	Form form;
	std::vector<std::string> marks;
	std::array<const char *, roles> role;
	std::vector<std::string> others;
};

const std::vector<FormWords> forms = {
    {Form::pairs,
     {"when", "then"},
     {"when", "then", "not between", "forget"},
     {"key", "within", "same", "nested", "at most", "allow open"}},
    {Form::pairs,
     {"when", "only then"},
     {"when", "only then", "not between", "forget"},
     {"key", "within", "same", "nested", "at most", "allow open", "before begin"}},
    {Form::absence, {"when", "never"}, {"when", "never", "until", "forget"}, {"key", "within"}},
    {Form::after, {"for", "after"}, {"after", "for", "until", "forget"}, {"key", "within", "same", "before begin"}},
    {Form::holds, {"for", "holds"}, {"for", "holds", nullptr, nullptr}, {}},
    {Form::sequence,
     {"for", "follows"},
     {"for", nullptr, nullptr, "forget"},
     {"key", "within", "follows", "allow open"}},
    {Form::sequence, {"for", "within"}, {"for", nullptr, nullptr, "forget"}, {"key", "within", "allow open"}},
    {Form::never, {"never"}, {"never", nullptr, nullptr, nullptr}, {}},
};

const FormWords &form_of(const RuleText &text)
{
	for (const FormWords &form : forms)
		if (std::all_of(form.marks.begin(), form.marks.end(),
				[&](const std::string &mark) { return text.find(mark); }))
			return form;
	throw Error("{}: the rule demands nothing; it needs `never:`, `for:` with `holds:`, `follows:`, `within:` or "
		    "`after:`, or `when:` with `then:`, `only then:` or `never:`",
		    text.where);
}

void check_keywords(const RuleText &text, const FormWords &form)
{
	std::set<std::string> known(form.others.begin(), form.others.end());
	known.insert({"needs", "begin", "among", "leaves", "members"});
	for (const char *role : form.role)
		if (role)
			known.insert(role);
	for (const auto &[word, value] : text.words)
		if (!known.contains(word))
			throw Error("{}: `{}:` does not go with `{}:`", value.where, word,
				    fmt::join(form.marks, ":` and `"));
}

// The event names that an expression compares `name` with.
void collect_names(const filter::Expression &expression, std::set<std::string> &names)
{
	const bool compares =
	    expression.kind == ExpressionKind::comparison || expression.kind == ExpressionKind::within;
	if (compares && expression.children[0].kind == ExpressionKind::name && expression.children[0].text == "name" &&
	    !expression.children[0].is_field)
		for (const filter::Expression &side : expression.children)
			if (side.kind == ExpressionKind::text)
				names.insert(side.text);
	for (const filter::Expression &child : expression.children)
		collect_names(child, names);
}

class Compiler {
public:
	Compiler(const RuleText &text, const trace::Description &description, std::uint64_t begin_time)
	    : text_(text), form_(form_of(text)), description_(description), begin_time_(begin_time)
	{
		for (const auto &cls : description.classes())
			events_.push_back(cls->name);
	}

	Rule compile()
	{
		check_keywords(text_, form_);
		rule_.name = text_.name;
		rule_.where = text_.where;
		rule_.form = form_.form;
		read_options();
		read_set();
		for (std::size_t role = 0; role < patterns; ++role)
			find_events(role);
		if (rule_.reason.empty()) {
			find_patterns();
			read_keys();
			read_members();
			rule_.relations = relations(text_.find("same"), description_);
			std::ranges::move(relations(text_.find("follows"), description_),
					  std::back_inserter(rule_.relations));
		}
		return std::move(rule_);
	}

private:
	void find_patterns()
	{
		for (std::size_t role = 0; role < patterns; ++role)
			if (const Word *word = word_of(role))
				rule_.pattern[role] =
				    activities::pattern(word->text, word->where, description_, begin_time_);
	}

	const Word *word_of(std::size_t role) const
	{
		if (role == among || role == leaves) {
			const Word &condition = set_[role - among].condition;
			return condition.text.empty() ? nullptr : &condition;
		}
		const char *const word = word_text(role);
		return word ? text_.find(word) : nullptr;
	}
	const char *word_text(std::size_t role) const
	{
		return role == begin ? "begin" : role == among ? "among" : role == leaves ? "leaves" : form_.role[role];
	}

	void read_set()
	{
		const Word *word = text_.find("among");
		if (!word != !text_.find("members") || (!word && text_.find("leaves")))
			throw Error(text_.where +
				    ": `among:` and `members:` need each other, and `leaves:` needs both");
		for (const std::size_t role : {among, leaves})
			if (const Word *each = text_.find(word_text(role)))
				set_[role - among] = parse_set_part(*each);
	}

	// "NAMES of CONDITION"
	struct SetPart {
		Word condition;
		std::vector<std::string> names;
	};
	static SetPart parse_set_part(const Word &word)
	{
		const std::size_t of = word.text.find(" of ");
		if (of == std::string::npos)
			throw Error(word.where + ": a set is written FIELD of CONDITION");
		return {{word.text.substr(of + 4), word.where},
			activities::split_names(word.text.substr(0, of), word.where.c_str())};
	}

	void read_members()
	{
		const Word *word = text_.find("members");
		if (!word)
			return;
		for (const std::string &name : set_[0].names) {
			std::int64_t number = 0;
			const auto [stopped, error] = std::from_chars(name.data(), name.data() + name.size(), number);
			if (error == std::errc() && stopped == name.data() + name.size())
				rule_.always_in_set.emplace_back(number);
			else
				rule_.added.emplace_back(name, description_, set_[0].condition.where);
		}
		for (const std::string &name : set_[1].names)
			rule_.removed.emplace_back(name, description_, set_[1].condition.where);
		const std::vector<std::string> names = activities::split_names(word->text, word->where.c_str());
		for (const std::string &name : names)
			rule_.members.emplace_back(name, description_, word->where);
		const std::vector<std::string> &key = rule_.key[first].names();
		rule_.key_is_member = key.size() == 1 && std::ranges::find(names, key.front()) != names.end();
	}

	void require_event(const std::string &event)
	{
		if (rule_.reason.empty() && std::find(events_.begin(), events_.end(), event) == events_.end())
			rule_.reason =
			    fmt::format("the trace has no event {}.{}", readable(event), suggestions(event, events_));
	}

	void find_events(std::size_t role)
	{
		const Word *word = word_of(role);
		if (!word)
			return;
		rule_.keywords[role] = word_text(role);
		std::set<std::string> names;
		try {
			collect_names(filter::parse(word->text), names);
		} catch (const ParseError &error) {
			throw Error("{}: {}", word->where, error.what());
		}
		for (const std::string &name : names)
			require_event(name);
	}

	// One part per role of the rule, in order; the last part also applies to the remaining roles.
	void read_keys()
	{
		const Word *word = text_.find("key");
		if (!word)
			return;
		const auto parts = filter::split_key(word->text, word->where, roles);
		std::size_t next = 0;
		for (std::size_t role = 0; role < roles; ++role) {
			if (!rule_.pattern[role])
				continue;
			const auto &part = parts[std::min(next++, parts.size() - 1)];
			rule_.key[role] = activities::Keys(part, description_, begin_time_, word->where.c_str());
		}
		if (parts.size() > next)
			throw Error("{}: the key has {} parts, the rule takes {}", word->where, parts.size(), next);
		check_keys(*word);
		activities::share_machines(rule_.key);
	}

	void check_keys(const Word &word) const
	{
		std::vector<std::string> what(roles);
		std::vector<activities::KeySide> sides;
		for (std::size_t role = 0; role < roles; ++role)
			if (rule_.pattern[role]) {
				what[role] = fmt::format("`{}:` selects", rule_.keywords[role]);
				sides.push_back({&rule_.key[role], rule_.pattern[role].get(), what[role]});
			}
		activities::expect_comparable(sides, description_, word.where);
	}

	void read_options()
	{
		if (const Word *word = text_.find("within"))
			rule_.within_ns = duration(*word);
		if (const Word *word = text_.find("at most"))
			read_at_most(*word);
		if (const Word *word = text_.find("nested"))
			rule_.keeps_each = choice(*word, {"yes", "no"}) == "yes" || rule_.has_at_most;
		if (const Word *word = text_.find("before begin"))
			rule_.knows_begin = choice(*word, {"nothing", "unknown"}) == "nothing";
		rule_.only_then = text_.find("only then");
		if (const Word *word = text_.find("allow open"))
			read_allow_open(*word);
		if (const Word *word = text_.find("needs")) {
			rule_.needs = activities::split_names(word->text, word->where.c_str());
			for (const std::string &event : rule_.needs)
				require_event(event);
		}
	}

	static std::string choice(const Word &word, const std::vector<std::string> &choices)
	{
		if (std::find(choices.begin(), choices.end(), word.text) == choices.end())
			throw Error("{}: {} is not one of: {}", word.where, readable(word.text),
				    fmt::join(choices, ", "));
		return word.text;
	}

	static std::uint64_t duration(const Word &word)
	{
		if (const auto ns = ns_of(word.text); ns && *ns >= 0)
			return static_cast<std::uint64_t>(*ns);
		throw Error("{}: {} is not a duration, such as 100ms", word.where, readable(word.text));
	}

	void read_at_most(const Word &word)
	{
		const char *const end = word.text.data() + word.text.size();
		const auto [stopped, error] = std::from_chars(word.text.data(), end, rule_.at_most);
		if (error != std::errc() || stopped != end || rule_.at_most < 1 || rule_.at_most > Rule::max_nesting)
			throw Error("{}: {} is not a number from 1 to {}", word.where, readable(word.text),
				    Rule::max_nesting);
		rule_.has_at_most = rule_.keeps_each = true;
	}

	void read_allow_open(const Word &word)
	{
		rule_.open_at_end = word.text == "at end" || word.text == "at end, at loss";
		rule_.open_at_loss = word.text == "at loss" || word.text == "at end, at loss";
		choice(word, {"at end", "at loss", "at end, at loss", "no"});
	}

	const RuleText &text_;
	const FormWords &form_;
	const trace::Description &description_;
	std::uint64_t begin_time_;
	std::vector<std::string> events_;
	std::array<SetPart, 2> set_; // among, leaves
	Rule rule_;
};

} // namespace

Rule compile(const RuleText &text, const trace::Description &description, std::uint64_t begin_time)
{
	return Compiler(text, description, begin_time).compile();
}

} // namespace monitor::rules
