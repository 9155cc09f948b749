// SPDX-License-Identifier: MIT
#include "rules.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "reading/analyze/recording_info.h"

namespace monitor::check {

std::vector<rules::Outcome> judge_rules(trace::Trace &trace, const std::vector<std::string> &files,
					const rules::Options &options)
{
	if (analyze::recording_of(trace).has_partial())
		throw Error("the recording's --filter left out events (`monitor info` shows it), so rules can neither "
			    "hold nor fail; check a recording of all events");
	std::vector<rules::RuleText> texts;
	for (const std::string &file : files)
		std::ranges::move(rules::load_rules(file), std::back_inserter(texts));
	return rules::run(trace, texts, options);
}

} // namespace monitor::check
