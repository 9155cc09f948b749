// SPDX-License-Identifier: MIT
// record --states in a recording: the stream `states` with the run lengths, and, if events are not written, a list of
// threads for the classification only.
//
// Next in the flow: block_sink.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "recording.h"
#include "recording/rings/control_stream.h"
#include "recording/rings/drain.h"
#include "recording_file.h"

namespace monitor::record {

class StateStreams {
public:
	// `options.states` must be set; `options` must outlive it. Adds its stream to `names`, and its sink to `drain`,
	// which must outlive it. `control`: the recorder's own stream.
	StateStreams(const Options &options, const Uuid &uuid, Drain &drain, const ControlStream &control,
		     std::vector<std::string> &names);

	// The stream for the list of threads; nullptr: the recorder's own.
	ControlStream *list_of_threads() { return listed_.get(); }

	// `start`: `recording` and `written` are set here. Throws Error if the recorded events do not suffice.
	void start(LiveStart start, Contents &file);
	// Called when everything was offered. Returns messages for the user.
	std::vector<std::string> end(Contents &file);

	std::uint64_t tokens() const { return written_->tokens(); }

private:
	const Options &options_;
	std::unique_ptr<ControlStream> written_, listed_;
};

} // namespace monitor::record
