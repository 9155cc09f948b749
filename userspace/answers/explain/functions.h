// SPDX-License-Identifier: MIT
// The functions in which threads of the path ran user code, by samples of their stacks.
#pragma once

#include "answers/path/subject.h"
#include "evidence.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/stacks.h"

namespace monitor::explain {

// Of the names whose user code is at least `min_share` of the path, the largest first. Reads the programs' files.
std::vector<Functions> functions_of(const Path &path, double min_share, const path::Subject &subject,
				    const path::Stretches &stretches, const analyze::ThreadFold &fold,
				    const analyze::StackFold &stacks, const trace::Trace &trace,
				    const analyze::RecordingInfo &info);

} // namespace monitor::explain
