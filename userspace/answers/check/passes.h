// SPDX-License-Identifier: MIT
// Compares the recorder's account of its passes and writes with the packets in the streams.
#pragma once

#include "check.h"
#include "reading/events/event.h"
#include "reading/events/trace.h"

namespace monitor::check {

class RecorderPasses {
public:
	void event(const trace::Event &event);
	// Only for a completed recording that has tokens of passes.
	void judge(const trace::Trace &trace, const RecordingInfo &info, Statements &statements) const;

private:
	std::uint64_t passes_ = 0, empty_ = 0, copied_ = 0; // blocks
	std::uint64_t writes_ = 0, written_ = 0;            // blocks
};

} // namespace monitor::check
