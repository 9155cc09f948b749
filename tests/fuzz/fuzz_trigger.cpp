// SPDX-License-Identifier: MIT
// Any bytes as a file of triggers: it is refused in one sentence, which the place in the text may follow, or each
// trigger is complete and means the same when it is written as it is shown. And as a pair of events, of two of which
// any command makes the same.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "answers/matcher/named_text.h"
#include "answers/trigger/trigger_text.h"
#include "base/error.h"
#include "monitor/trigger.h"
#include "reading/filter/pair_text.h"

using namespace monitor;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

bool same(const TriggerAct &one, const TriggerAct &other)
{
	return one.kind == other.kind && one.text == other.text && one.number == other.number &&
	       one.before_ns == other.before_ns && one.after_ns == other.after_ns;
}

bool same(const NamedTrigger &one, const NamedTrigger &other)
{
	bool is_same = one.name == other.name && one.kind == other.kind && one.first == other.first &&
		       one.second == other.second && one.first_key == other.first_key &&
		       one.second_key == other.second_key && one.within_ns == other.within_ns &&
		       one.times == other.times && one.acts.size() == other.acts.size();
	for (std::size_t i = 0; is_same && i < one.acts.size(); ++i)
		is_same = same(one.acts[i], other.acts[i]);
	return is_same;
}

void expect_sentence(const Error &error)
{
	const std::string_view what = error.what();
	require(!what.empty() && std::ranges::count(what, '\n') <= 2);
}

void as_pair(const std::string &text)
{
	try {
		const filter::PairText pair = filter::parse_pair(text, "pair");
		require(!pair.start.empty() && pair.start_key.size() == pair.end_key.size());
		require(pair.end.empty() ==
			(pair.kind == filter::PairText::Kind::event || pair.kind == filter::PairText::Kind::times));
		const bool is_timed =
		    pair.kind == filter::PairText::Kind::then && !pair.within_ns && pair.start_key.size() < 2;
		const NamedTime time = matcher::parse_times({"x= " + text}).at(0);
		require(is_timed && time.start == pair.start && time.end == pair.end);
		require(time.end_key == (pair.end_key.empty() ? "" : pair.end_key[0]));
	} catch (const Error &error) {
		expect_sentence(error);
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const std::string text(reinterpret_cast<const char *>(data), size);
	as_pair(text);
	std::vector<NamedTrigger> triggers;
	try {
		triggers = trigger::parse_triggers(trigger::texts_in(text));
	} catch (const Error &error) {
		expect_sentence(error);
		return 0;
	}
	require(triggers.size() <= EDC_TRIGGERS);
	for (const NamedTrigger &one : triggers) {
		require(one.kind >= EDC_TRIGGER_EVENT && one.kind <= EDC_TRIGGER_START && !one.acts.empty());
		require(one.first.empty() == (one.kind >= EDC_TRIGGER_EVERY));
		require(one.second.empty() == (one.kind != EDC_TRIGGER_THEN && one.kind != EDC_TRIGGER_MISSING));
		require(one.within_ns > 0 || one.kind == EDC_TRIGGER_EVENT || one.kind == EDC_TRIGGER_THEN ||
			one.kind == EDC_TRIGGER_START);
		require((one.kind == EDC_TRIGGER_TIMES) == (one.times >= 2));
		const auto again = trigger::parse_triggers({one.name + ": " + one.when + " => " + one.what});
		require(again.size() == 1 && same(one, again[0]));
	}
	return 0;
}
