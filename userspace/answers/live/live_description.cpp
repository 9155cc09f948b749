// SPDX-License-Identifier: MIT
#include "live_description.h"

#include "base/error.h"
#include "reading/ctf/interpret.h"

namespace monitor::live {

std::shared_ptr<trace::Description> read_tokens(const std::string &text)
{
	auto made = std::make_shared<trace::Description>();
	std::string why;
	const auto read = trace::read_description(text, why);
	if (!read)
		throw Error("the description of the events cannot be read: " + why);
	made->uuid = read->uuid;
	made->has_uuid = read->has_uuid;
	made->clock = read->clock;
	made->clocks = read->clocks;
	made->env = read->env;
	for (const auto &cls : read->classes())
		made->add_token(*cls);
	return made;
}

bool add_classes(trace::Description &description, const std::string &later_text)
{
	const auto later = read_tokens(later_text);
	if (later->clock.steps.size() >
	    description.clock.steps.size()) { // the frequency stays: times are measured in it
		description.clock.offset_s = later->clock.offset_s;
		description.clock.offset = later->clock.offset;
		description.clock.steps = later->clock.steps;
	}
	bool any = false;
	for (const auto &cls : later->classes())
		if (!description.by_id(cls->id))
			any |= description.add_token(*cls);
	return any;
}

} // namespace monitor::live
