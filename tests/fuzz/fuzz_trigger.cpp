// SPDX-License-Identifier: MIT
// Any bytes as a file of triggers: it is refused in one sentence, or each trigger is complete and means the same when
// it is written as it is shown.
#include <cstdlib>
#include <string>

#include "answers/trigger/trigger_text.h"
#include "base/error.h"
#include "monitor/trigger.h"

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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	std::vector<NamedTrigger> triggers;
	try {
		triggers = trigger::parse_triggers(trigger::texts_in({reinterpret_cast<const char *>(data), size}));
	} catch (const Error &error) {
		require(std::string(error.what()).find('\n') == std::string::npos);
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
