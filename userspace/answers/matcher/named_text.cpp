// SPDX-License-Identifier: MIT
#include "named_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/quoting.h"
#include "base/scanner.h"
#include "reading/filter/pair_text.h"

namespace monitor::matcher {
namespace {

// The name in "NAME=REST", if it is printable and fits into a description; else "".
std::string name_of(const std::string &text)
{
	constexpr std::size_t max_bytes = 60;
	const auto is_of_name = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == ':'; };
	const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_name) - text.begin());
	return end <= max_bytes && text[end] == '=' && text[end + 1] != '=' ? text.substr(0, end) : "";
}

// Calls make(name, rest) for each. A pair with `then` needs no name.
template <class Made>
std::vector<Made> parse_each(const std::vector<std::string> &texts, const std::string &what, std::size_t max,
			     const char *example, auto &&make)
{
	std::vector<Made> all;
	for (const std::string &text : texts) {
		const std::string given = name_of(text);
		if (given.empty() && Outside(text).find("then") == Outside::npos)
			throw Error("--{0} {1}: give it a name of letters, digits and _-.: as in --{0} '{2}'", what,
				    printable(text), example);
		const std::string name = given.empty() ? fmt::format("{}{}", what, all.size() + 1) : given;
		if (std::ranges::find(all, name, &Made::name) != all.end())
			throw Error("--{} {}: there are two of this name", what, name);
		all.push_back(make(name, given.empty() ? text : text.substr(given.size() + 1)));
	}
	if (all.size() > max)
		throw Error("--{0}: there can be {1} {0}s, not {2}", what, max, all.size());
	return all;
}

NamedTime timed(const std::string &name, const std::string &events)
{
	const std::string option = "--time " + name;
	const filter::PairText pair = filter::parse_pair(events, option);
	if (pair.kind != filter::PairText::Kind::then)
		throw Error(option + ": give what starts it, then .. or `then`, and what ends it, as in 'name == "
				     "\"irq_handler_entry\" .. name == \"irq_handler_exit\" per cpu'");
	if (pair.within_ns)
		throw Error(option + ": the kernel measures all times; leave out `within`, or use monitor stat --pair");
	const auto [start_key, end_key] = pair.one_key(option);
	return {name, pair.start, pair.end, start_key, end_key};
}

} // namespace

std::vector<NamedExpression> parse_counts(const std::vector<std::string> &counts)
{
	const auto make = [](const std::string &name, const std::string &rest) { return NamedExpression{name, rest}; };
	return parse_each<NamedExpression>(counts, "count", EDC_MATCH_COUNTS, "fsyncs=id == \"fsync\"", make);
}

std::vector<NamedTime> parse_times(const std::vector<std::string> &times)
{
	for (const std::string &text : times)
		if (name_of(text).empty() && filter::misspells_then(text))
			filter::parse_pair(text, "--time"); // refuses the misspelt word
	return parse_each<NamedTime>(times, "time", EDC_TIMES,
				     "fsync=name == \"sys_enter\" and id == \"fsync\" .. name == \"sys_exit\" per tid",
				     timed);
}

} // namespace monitor::matcher
