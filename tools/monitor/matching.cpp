// SPDX-License-Identifier: MIT
#include "matching.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "answers/matcher/expression_matcher.h"
#include "base/error.h"
#include "base/escape.h"
#include "reading/ctf/interpret.h"

namespace monitor {
namespace {

// What a description can hold, and a terminal show.
bool is_name(const std::string &text)
{
	return !text.empty() && text.size() <= 60 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
		return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == ':';
	});
}

} // namespace

record::Matching matching(const MatcherRequest &request)
{
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
		const std::size_t equals = count.find('=');
		const std::string name = count.substr(0, equals);
		if (equals == std::string::npos || !is_name(name))
			throw Error(fmt::format("--count {}: give it a name of letters, digits and _-.: as in --count "
						"'fsyncs=id == \"fsync\"'",
						printable(count)));
		if (std::ranges::any_of(parsed, [&](const NamedExpression &other) { return other.name == name; }))
			throw Error(fmt::format("--count {}: there are two of this name", name));
		parsed.push_back({name, count.substr(equals + 1)});
	}
	if (parsed.size() > EDC_MATCH_COUNTS)
		throw Error(fmt::format("--count: there can be {} counts, not {}", EDC_MATCH_COUNTS, parsed.size()));
	return parsed;
}

} // namespace monitor
