// SPDX-License-Identifier: MIT
#include "state_streams.h"

namespace monitor::record {
StateStreams::StateStreams(const Options &options, const Uuid &uuid, Drain &drain, const ControlStream &control,
			   std::vector<std::string> &names)
    : options_(options)
{
	const auto number = static_cast<StreamNumber>(names.size());
	names.emplace_back("states");
	written_ = std::make_unique<ControlStream>(
	    uuid, [&drain, number](const std::byte *block) { drain.push_own(number, block, true, false); }, number);
	drain.set_sink(*options_.states, names, options_.writes_tokens ? Drain::Written::all : Drain::Written::own);
	if (!options_.writes_tokens)
		listed_ = std::make_unique<ControlStream>(
		    uuid, [&drain](const std::byte *block) { drain.push_own(0, block, false, true); });
	drain.set_shown(listed_ ? *listed_ : control);
}

void StateStreams::start(LiveStart start, Contents &file)
{
	file.states = {options_.states->tree_name(), options_.states->tree_text(), start.cpus,
		       file.start.time.value_or(0)};
	start.recording = text_of(file);
	start.written = written_.get();
	options_.states->start(start);
	if (!options_.writes_tokens)
		file.has_tokens = false;
}

std::vector<std::string> StateStreams::end(Contents &file)
{
	const LiveEnd end = options_.states->finish();
	written_->flush();
	file.states->end = end.time;
	file.states->late = end.late;
	return end.doubts;
}

} // namespace monitor::record
