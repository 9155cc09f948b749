// SPDX-License-Identifier: MIT
#include "matching.h"

#include "answers/matcher/expression_matcher.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "reading/ctf/interpret.h"
#include "recording/recorder/user.h"

namespace monitor {

void expect_utf8(const std::string &option, const std::string &text)
{
	if (!is_utf8(text))
		throw Error("{} has bytes that are not UTF-8, which the recording cannot keep: write such a byte as "
			    "\\xff, with its two hexadecimal digits",
			    option);
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
	const auto make = [request](const std::string &text, std::uint64_t begin_time,
				    bool more_classes) -> std::shared_ptr<const EventMatcher> {
		std::string why;
		const auto description = trace::read_description(text, why);
		if (!description)
			throw Error("the description of the events cannot be read: " + why);
		return matcher::make_matcher(request, *description, begin_time, more_classes);
	};
	return {request, make};
}

std::vector<trigger::TriggerText> trigger_texts(const std::string &untrusted_file_or_text)
{
	constexpr std::size_t max_bytes = 1 << 20;
	if (untrusted_file_or_text.find("=>") != std::string::npos)
		return {trigger::TriggerText(untrusted_file_or_text)};
	const std::string text = [&] {
		// A user who may not read the file must not see its text in an error.
		const record::AsUser as(record::invoking_user());
		try {
			return read_file(untrusted_file_or_text, max_bytes + 1);
		} catch (const Error &error) {
			throw Error("this file of triggers cannot be read: {}", printable(error.what()));
		}
	}();
	if (text.size() > max_bytes)
		throw Error(printable(untrusted_file_or_text) + " is too large for a file of triggers: more than 1 MB");
	return trigger::texts_in(text, printable(untrusted_file_or_text));
}

} // namespace monitor
